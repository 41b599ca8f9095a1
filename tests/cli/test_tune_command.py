"""`chunkwise tune` as a user runs it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import chunkwise
from chunkwise.cli import progress
from cli.in_process import Run, here, running_in
from cli.small_corpus import PLAN, write_corpus, write_questions
from models.endpoint_server import Answer, serving
from untimed import HANG

__all__ = ["here"]  # a fixture

ASK = ("--test-queries", "queries.json")
WORDS = ("--embedder", "none")


def write_material(folder: Path) -> Path:
    write_corpus(folder / "docs", passages=5)
    write_questions(folder / "queries.json", count=20, passages=5)
    (folder / "sweep.toml").write_text(PLAN)
    return folder / "docs"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_material(tmp_path)


@pytest.fixture(scope="module")
def swept_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept")
    write_material(folder)
    with pytest.MonkeyPatch.context() as patch:
        done = running_in(folder, patch)("tune", "sweep.toml", "-o", "out", "-q", "-j", "1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture
def swept(swept_once: Path, tmp_path: Path) -> Path:
    """The folder of a sweep that is done: what the plan gives in `out`, beside the plan and what it reads."""
    shutil.copytree(swept_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


def untimed(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    assert text.count('"timing": ') == 1
    return text[: text.index('"timing": ')]


def everything(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_shortest_command_recommends_and_writes(here: Run, docs: Path, tmp_path: Path) -> None:
    done = here("tune", "docs", *ASK, *WORDS)
    assert done.returncode == 0, done.stderr
    said = done.stderr
    assert "4 documents, 20 questions" in said
    assert re.search(r"\d+ configurations of \d+ chunkings", said)
    assert "about " in said
    for words in (
        "recall@1000t",
        "chosen",
        "default",
        "Next  chunkwise index docs --into kb",
    ):
        assert words in done.stdout, words
    assert len(done.stdout.splitlines()) <= 25
    out = tmp_path / "chunkwise-tune"
    assert {path.name for path in out.iterdir() if not path.name.startswith(".")} == {
        "recommendation.toml", "results.json", "report.html", "sweep.toml",
    }  # fmt: skip
    page = (out / "report.html").read_text(encoding="utf-8")
    assert '<figure class="chart' in page
    assert "semantic, cluster" in page  # what the usual sweep leaves out is told
    results = json.loads((out / "results.json").read_text())
    tried = [each["configuration"] for each in results["outcomes"]]
    assert "sections" in {each["levers"].get("boundaries") for each in tried}
    assert {each["context"] for each in tried} == {"none", "headings"}


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_without_headings_neither_sections_nor_their_context_is_tried(
    here: Run, tmp_path: Path
) -> None:
    write_corpus(tmp_path / "plain", passages=4, headings=False)
    write_questions(tmp_path / "plain.json", count=16, passages=4, headings=False)
    done = here("tune", "plain", "--test-queries", "plain.json", *WORDS, "-o", "out")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    tried = [each["configuration"] for each in results["outcomes"]]
    assert not any(each["strategy"].startswith("sections") for each in tried)
    assert {each["context"] for each in tried} == {"none"}
    left = [each["why"] for each in results["plan"]["left_out"]]
    assert "the documents have no headings" in left
    assert "the documents have no headings" in (tmp_path / "out" / "report.html").read_text()
    first = untimed(tmp_path / "out" / "results.json")
    assert here("tune", "--resume", "-o", "out", "-q").returncode == 0
    assert untimed(tmp_path / "out" / "results.json") == first


@pytest.mark.unwatched
def test_a_plan_and_what_is_said_beside_it(here: Run, swept: Path, tmp_path: Path) -> None:
    results = json.loads((swept / "results.json").read_text())
    labels = {each["configuration"]["strategy"] for each in results["outcomes"]}
    assert "sections(max_tokens=40, overlap=0)" in labels
    assert results["objective"] == "recall@1000t"
    done = here("tune", "sweep.toml", "-o", "other", "-q", "--objective", "recall@5", "-k", "3")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "other" / "results.json").read_text())
    assert results["objective"] == "recall@5"
    assert "recall@3" in results["outcomes"][0]["scores"]
    recommended = tomllib.loads((tmp_path / "other" / "recommendation.toml").read_text())
    if not recommended["retriever"].startswith("multiscale"):
        assert "budget" not in recommended
    assert recommended["k"] == 3


def test_a_model_beside_a_plan_leaves_its_searches_alone(
    here: Run, docs: Path, tmp_path: Path
) -> None:
    (tmp_path / "sweep.toml").write_text(
        PLAN.replace('embedder = "none"\n', "").replace('["bm25"]', '["bm25", "hybrid"]')
    )
    done = here("tune", "sweep.toml", *WORDS, "-o", "out", "-q")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert {each["configuration"]["retriever"] for each in results["outcomes"]} == {"bm25"}
    assert any("hybrid" in each["what"] for each in results["plan"]["left_out"])


@pytest.mark.unwatched
def test_a_dry_run_says_the_work_and_writes_nothing(here: Run, swept: Path, tmp_path: Path) -> None:
    before = everything(tmp_path)
    done = here("tune", "docs", *ASK, "--dry-run")  # a model is neither fetched nor loaded
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "configurations of" in done.stderr
    assert "tokens to embed" in done.stderr
    assert "skipped: neighbors (they double the searches" in done.stderr
    assert everything(tmp_path) == before
    done = here("tune", "sweep.toml", "-o", "out", "--dry-run")
    assert "everything is already done" in done.stderr
    assert everything(tmp_path) == before


@pytest.mark.unwatched
def test_what_fails_is_told_and_the_status_says_so(here: Run, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def split(self, document):\n        raise RuntimeError('no such luck')\n"
    )
    more = '[[sweep.chunkers]]\nstrategy = ["./mine.py:Mine"]\n[sweep.retrieval]'
    (tmp_path / "sweep.toml").write_text(PLAN.replace("[sweep.retrieval]", more))
    done = here("tune", "sweep.toml", "-o", "out")
    assert done.returncode == 3, done.stderr
    assert "configurations failed: " in done.stderr
    assert "no such luck" in done.stderr
    assert (tmp_path / "out" / "recommendation.toml").exists()


def test_a_dry_run_asks_no_endpoint(here: Run, docs: Path) -> None:
    done = here("tune", "docs", *ASK, "--embedder", "http://127.0.0.1:9/v1#nobody", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "tokens to embed" in done.stderr


@pytest.mark.unwatched
def test_the_same_command_and_resume_give_the_same(here: Run, swept: Path, tmp_path: Path) -> None:
    results = swept / "results.json"
    first, recommendation = untimed(results), (tmp_path / "out/recommendation.toml").read_bytes()
    record = tmp_path / "out" / ".chunkwise-sweep" / "outcomes"
    kept = sorted(record.glob("*.json"))
    for path in kept[::2]:
        path.unlink()
    (kept[1]).write_text('{"half":')
    for again in (("sweep.toml",), ("--resume",)):
        done = here("tune", *again, "-o", "out")
        assert done.returncode == 0, done.stderr
        assert untimed(results) == first
        assert (tmp_path / "out/recommendation.toml").read_bytes() == recommendation
    assert "everything is already done" in done.stderr
    absolute = str(tmp_path / "sweep.toml")
    assert here("tune", absolute, "-o", tmp_path / "new", "-q").returncode == 0
    assert untimed(tmp_path / "new" / "results.json") == first


@pytest.mark.unwatched
def test_several_processes_change_nothing(here: Run, swept: Path, tmp_path: Path) -> None:
    assert here("tune", "sweep.toml", "-o", "two", "-q", "-j", "2").returncode == 0
    assert untimed(tmp_path / "two/results.json") == untimed(swept / "results.json")


def test_resume_needs_a_sweep_and_nothing_beside_it(here: Run, docs: Path) -> None:
    done = here("tune", "--resume", "-o", "nothing")
    assert done.returncode == 2
    assert "has no sweep to resume" in done.stderr
    done = here("tune", "docs", "--resume")
    assert done.returncode == 2
    assert (
        "documents conflict with resume, which uses those of the sweep; leave them out"
        in done.stderr
    )


def test_the_folder_of_another_sweep_is_refused_and_stays(
    here: Run, swept: Path, tmp_path: Path
) -> None:
    before = everything(swept)
    write_corpus(tmp_path / "others", passages=3)
    for dry in ((), ("--dry-run",)):
        done = here("tune", "others", *WORDS, "-o", "out", *dry)
        assert done.returncode == 1
        assert "belongs to another sweep: its documents differ" in done.stderr
        assert "belongs to another sweep" in done.stderr
        assert everything(tmp_path / "out") == before
    done = here("tune", "sweep.toml", "-o", "out", "--objective", "ndcg@5")
    assert "its objective is 'recall@1000t', now it is 'ndcg@5'" in done.stderr
    assert everything(tmp_path / "out") == before


def test_without_questions_some_are_generated_and_the_prior_decides(
    here: Run, tmp_path: Path
) -> None:
    corpus = Path(chunkwise.__file__).with_name("corpus")
    (tmp_path / "docs").mkdir()
    for name in ("ferry-safety-manual.md", "recipes-of-the-salt-kitchen.md"):
        shutil.copy(corpus / name, tmp_path / "docs")
    done = here("tune", "docs", *WORDS, "-o", "out")
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first.startswith("◔ early estimate")
    assert "all generated" in rest[0]
    assert "public datasets" in " ".join(done.stdout.split())
    recommendation = (tmp_path / "out" / "recommendation.toml").read_text()
    assert recommendation.startswith("# ◔ early estimate")
    asked = json.loads((tmp_path / "out" / "questions.json").read_text())
    again = here("tune", "docs", *WORDS, "-o", "out", "--json")
    assert json.loads(again.stdout)["grade"] == "early"
    assert json.loads((tmp_path / "out" / "questions.json").read_text()) == asked
    for decision in ("edited", "accepted"):
        for question in asked[:25]:
            question["review"] = decision
        (tmp_path / "own.json").write_text(json.dumps(asked[:30]))
        own = here("tune", "docs", *WORDS, "-Q", "own.json", "-o", "out", "--json")
        assert own.returncode == 0, own.stderr
        assert "public datasets" not in json.loads(own.stdout)["sentence"]


@pytest.mark.unwatched
def test_few_questions_show_little_and_it_is_said(here: Run, docs: Path, tmp_path: Path) -> None:
    write_questions(tmp_path / "few.json", count=12, passages=5)
    done = here("tune", "sweep.toml", "--test-queries", "few.json", "-o", "out")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "nested cross-validation" in told
    write_questions(tmp_path / "one.json", count=1, passages=5)
    done = here("tune", "sweep.toml", "--test-queries", "one.json", "-o", "single")
    assert done.returncode == 0, done.stderr
    assert "Only 1 validation question" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), 2, "no documents given"),
        (("docs", "--objective", "quality"), 2, "unknown metric"),
        (("docs", "--objective", "boundary_issues"), 2, "boundary_issues"),
        (("docs", "--time-limit", "10"), 2, "time is '10'"),
        (("docs", "--time-limit", "5 USD"), 2, "time is"),
        (("docs", "--time-limit", "0 s"), 2, "time is 0"),
        (("docs", "--embedder", "nobody"), 2, "unknown embedder 'nobody'"),
        (
            ("docs", "--embedder", "minilm", "--embedders", "nobody"),
            2,
            "unknown embedder 'nobody'",
        ),
        (
            ("docs", "--embedder", "none", "--embedders", "minilm"),
            2,
            "embedders is",
        ),
        (("docs", "--reranker", "nobody"), 2, "unknown reranker 'nobody'"),
        (("docs", "-k", "0"), 2, "k is 0"),
        (("docs", "--seed", "-1"), 2, "seed is -1"),
        (("docs", "--wrong"), 2, "no such option"),
        (("docs", "--test-queries", "missing.json"), 1, "missing.json does not exist"),
        (("missing",), 1, "skipped missing: no such file or folder"),
        (("empty",), 1, "skipped empty"),
        (("missing.toml",), 1, "cannot read missing.toml"),
        (
            ("sweep.toml", "docs"),
            2,
            "is a plan, which names its documents; give only the plan, or only documents",
        ),
        (("-",), 2, "standard input"),
        (("docs", "-o", "queries.json"), 2, "is a file"),
        (("docs", "--test-queries", "bad.json"), 1, "bad.json"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(
    here: Run, docs: Path, tmp_path: Path, words: tuple[str, ...], status: int, said: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.json").write_text("{")
    before = everything(tmp_path)
    done = here("tune", *words)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert everything(tmp_path) == before


def test_an_unknown_objective_is_refused_before_documents_are_read(here: Run) -> None:
    done = here("tune", "missing", "--objective", "quality")
    assert "missing" not in done.stderr
    assert done.returncode == 2


def test_no_question_left_is_an_error(here: Run, docs: Path, tmp_path: Path) -> None:
    rows = [{"id": "a", "question": "?", "references": [{"doc_id": "other.md", "text": "words"}]}]
    (tmp_path / "lost.json").write_text(json.dumps(rows))
    done = here("tune", "docs", "--test-queries", "lost.json", *WORDS)
    assert done.returncode == 1
    assert "questions in lost.json" in done.stderr


@pytest.mark.usefixtures("large_inputs")
def test_time_that_is_over_leaves_the_rest_for_the_same_command(
    here: Run, swept: Path, tmp_path: Path
) -> None:
    done = here("tune", "sweep.toml", "-o", "late", "--time-limit", "0.001 s")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "was reached. Run the same command again" in told
    assert "not run yet" in (tmp_path / "late" / "report.html").read_text()
    assert "is more than" in done.stderr
    done = here("tune", "--resume", "-o", "late", "--time-limit", "999999999 h")
    assert done.returncode == 0, done.stderr
    assert "not run" not in done.stdout
    late, whole = (
        json.loads(untimed(folder / "results.json").rstrip(",\n") + "}")
        for folder in (tmp_path / "late", swept)
    )
    assert late["plan"]["sweep"].pop("time") == 999999999 * 3600
    assert whole["plan"]["sweep"].pop("time") == 300
    assert late == whole


def test_money_is_not_spent_beyond_the_budget(here: Run, docs: Path, tmp_path: Path) -> None:
    head = 'max_cost = "0.000001 USD"\nprice = "5 USD"\n'
    plan = PLAN.replace('embedder = "none"\n', head).replace('["bm25"]', '["bm25", "dense"]')
    (tmp_path / "sweep.toml").write_text(plan)
    before = everything(tmp_path)
    done = here("tune", "sweep.toml", "-o", "out")
    assert done.returncode == 1
    assert "USD needed, but the budget is" in done.stderr
    assert everything(tmp_path) == before


def test_an_endpoint_that_refuses_is_asked_once(here: Run, docs: Path, tmp_path: Path) -> None:
    with serving(lambda *_: Answer({"error": "no"}, 401)) as server:
        model = f'embedder = "{server.url}/v1#x"\nexact = true\n'
        plan = PLAN.replace('embedder = "none"\n', model).replace('["bm25"]', '["bm25", "dense"]')
        (tmp_path / "sweep.toml").write_text(plan)
        done = here("tune", "sweep.toml", "-o", "out", "-q")
    assert done.returncode == 3
    assert len(server.seen) == 1
    assert "4 of 8 configurations failed: " in done.stderr
    assert "answered 401" in done.stderr


@pytest.mark.usefixtures("large_inputs")
def test_a_report_that_was_interrupted_is_written_by_the_next_run(
    here: Run, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chunkwise.report import sweep_files

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as only_now:
        only_now.setattr(sweep_files, "write_report", interrupted)
        done = here("tune", "sweep.toml", "-o", "out folder")
    assert done.returncode == 130
    assert "chunkwise tune --resume -o 'out folder'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out folder" / "report.html").exists()
    done = here("tune", "--resume", "-o", "out folder")
    assert done.returncode == 0, done.stderr
    assert "everything is already done" in done.stderr
    assert (tmp_path / "out folder" / "report.html").exists()


@pytest.mark.unwatched
def test_what_it_writes_and_what_it_reads_is_no_document(
    here: Run, docs: Path, tmp_path: Path
) -> None:
    (docs / "queries.json").write_bytes((tmp_path / "queries.json").read_bytes())
    plan = PLAN.replace('"docs"', '"."')
    (docs / "sweep.toml").write_text(plan)
    for _ in range(2):
        done = here("tune", "docs/sweep.toml", "-o", "docs/out")
        assert done.returncode == 0, done.stderr
        assert "4 documents, 20 questions" in done.stderr
    assert "everything is already done" in done.stderr
    (docs / "sweep.toml").unlink()
    words = ("--test-queries", "docs/queries.json", *WORDS, "--dry-run", "-o", "elsewhere")
    done = here("tune", "docs", *words)  # nor is what another sweep has written
    assert "4 documents, 20 questions" in done.stderr
    assert done.returncode == 0


def test_documents_that_cannot_be_read_are_a_line_and_status_3(
    here: Run, docs: Path, tmp_path: Path
) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    done = here("tune", "sweep.toml", "-o", "out")
    assert done.returncode == 3
    assert "chunkwise: skipped docs/broken.pdf" in done.stderr
    assert (tmp_path / "out" / "report.html").exists()
    strict = here("tune", "sweep.toml", "-o", "strict", "--strict")
    assert strict.returncode == 1
    assert "broken.pdf" in strict.stderr
    assert not (tmp_path / "strict").exists()


def test_json_and_quiet(here: Run, swept: Path) -> None:
    done = here("tune", "sweep.toml", "-o", "out", "--json")
    told = json.loads(done.stdout)
    assert set(told) == {
        "grade", "sentence", "objective", "questions_not_used", "questions_that_chose", "caveats", "recommendation",
    }  # fmt: skip
    assert told["questions_not_used"]["mean"] <= told["questions_that_chose"]["mean"]
    written = tomllib.loads((swept / "recommendation.toml").read_text())
    assert {"format": "chunkwise recommendation", **told["recommendation"]} == written
    done = here("tune", "sweep.toml", "-o", "out", "--test-queries", "queries.json", "-q")
    assert (done.stdout, done.stderr) == ("", "")
    Path("sweep.toml").write_text(re.sub("queries = .*\n", "", PLAN))
    done = here("tune", "sweep.toml", "-o", "unasked", "--json", "-q")
    assert json.loads(done.stdout)["grade"] == "early"


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_with_the_model_late_vectors_and_vectors_of_their_own(
    here: Run, docs: Path, tmp_path: Path
) -> None:
    write_corpus(docs, passages=2)
    write_questions(tmp_path / "queries.json", count=8, passages=2)
    plan = PLAN.replace('embedder = "none"\n', "")
    plan = plan.replace('["bm25"]', '["bm25", "dense", "multiscale(dense=1)"]')
    (tmp_path / "sweep.toml").write_text(plan)
    done = here("tune", "sweep.toml", "-o", "late", "-v")
    assert done.returncode == 0, done.stderr
    kinds = _kinds(tmp_path / "late")
    assert set(kinds) == {"late", "none"}
    assert "late chunking" in " ".join(done.stdout.split())
    done = here("tune", "sweep.toml", "-o", "exact", "--exact")
    assert done.returncode == 0, done.stderr
    kinds = _kinds(tmp_path / "exact")
    assert kinds["own"] > 1
    assert kinds.get("late", 0) == 1  # several sizes at once have no chunks of their own


def _kinds(folder: Path) -> dict[str, int]:
    outcomes = json.loads((folder / "results.json").read_text())["outcomes"]
    assert not any(each["error"] for each in outcomes)
    found: dict[str, int] = {}
    for each in outcomes:
        kind = each["configuration"]["vectors"]
        found[kind] = found.get(kind, 0) + 1
    return found


@pytest.mark.usefixtures("processes")
def test_ctrl_c_keeps_what_is_done(here: Run, docs: Path, tmp_path: Path) -> None:
    write_corpus(docs, passages=120)
    write_questions(tmp_path / "queries.json", passages=120)
    words = ["tune", "docs", *ASK, *WORDS, "-o", "out", "-j", "1"]
    running = subprocess.Popen(
        [sys.executable, "-m", "chunkwise", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A job in the background ignores interrupts, and what it starts does, too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    record = tmp_path / "out" / ".chunkwise-sweep" / "outcomes"
    give_up = time.monotonic() + HANG
    while not any(record.glob("[!.]*.json")) and running.poll() is None:
        assert time.monotonic() < give_up
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=HANG)
    assert running.returncode == 130, err
    assert "progress is saved in out: run the same command to resume" in err
    assert "Traceback" not in err
    assert out == ""
    done = len(list(record.glob("[!.]*.json")))
    assert 0 < done < 38
    assert not (tmp_path / "out" / "results.json").exists()
    assert f"{done} configuration" in here(*words, "--dry-run").stderr


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_leaders_are_shown_while_it_runs(
    here: Run, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(progress.VARIABLE, "0.0")
    done = here("tune", "sweep.toml", "-o", "out")
    lines = [line for line in done.stderr.splitlines() if line.startswith("configurations: ")]
    assert re.fullmatch(r"configurations: \d of \d; best so far: .+ \d+%", lines[-1])
    quiet = here("tune", "sweep.toml", "-o", "quiet", "-q")
    assert quiet.stderr == ""


def test_a_report_without_its_questions_is_better_than_none(
    here: Run, swept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.report import sweep_files

    def refuses(*_: object, **__: object) -> None:
        raise ChunkwiseError("the endpoint is gone")

    monkeypatch.setattr(sweep_files, "evaluate", refuses)
    for written in ("report.html", "recommendation.toml"):
        (swept / written).unlink()
    done = here("tune", "sweep.toml", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "the endpoint is gone" in done.stderr
    assert (swept / "report.html").exists()
    assert (swept / "recommendation.toml").exists()


def test_a_dry_run_says_what_the_end_would_doubt(here: Run, docs: Path, tmp_path: Path) -> None:
    write_corpus(docs)
    write_questions(tmp_path / "queries.json", count=20)
    done = here("tune", "docs", *ASK, *WORDS, "--dry-run", "--objective", "recall@1000t")
    assert re.search(r"1,000 tokens are \d+% of these documents", done.stderr)
    assert "--objective recall@100t" in done.stderr
    assert "20 validation questions" in done.stderr
    done = here("tune", "docs", *ASK, *WORDS, "--dry-run", "--objective", "recall@100t")
    assert "of these documents" not in done.stderr
    done = here("tune", "docs", *WORDS, "--dry-run")
    assert "validation questions" not in done.stderr
    assert "up to 125 questions generated" in done.stderr
    assert not (tmp_path / "chunkwise-tune").exists()


TUNE = ("tune", "sweep.toml", "-q", "-j", "1", "-o")


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_a_sweep_killed_at_several_moments_has_the_same_results(here: Run, tmp_path: Path) -> None:
    write_corpus(tmp_path / "docs", passages=5)
    write_questions(tmp_path / "queries.json", count=20, passages=5)
    (tmp_path / "sweep.toml").write_text(PLAN)
    whole = _finished(here, tmp_path / "whole")
    last = _done(tmp_path / "whole") - 1
    assert last > 1
    killed = tmp_path / "killed"
    ends = [_killed(killed, outcomes) for outcomes in (1, last)]
    # On a busy machine the last one may be through before it is killed.
    assert ends[0] == -signal.SIGKILL
    assert _done(killed) >= last
    assert _finished(here, killed) == whole


def _killed(folder: Path, outcomes: int) -> int:
    """As soon as so many outcomes are on disk; how it ended."""
    running = subprocess.Popen(
        [sys.executable, "-m", "chunkwise", *TUNE, folder.name], cwd=folder.parent
    )
    give_up = time.monotonic() + HANG
    while not (folder / "sweep.toml").exists() or _done(folder) < outcomes:
        assert running.poll() is None, "it ended without its outcomes"
        assert time.monotonic() < give_up
        time.sleep(0.002)
    running.kill()
    return running.wait()


def _finished(here: Run, folder: Path) -> str:
    """`results.json` without the time it took."""
    done = here(*TUNE, folder.name)
    assert done.returncode == 0, done.stderr
    text = (folder / "results.json").read_text(encoding="utf-8")
    return text[: text.index('"timing": ')]


def _done(folder: Path) -> int:
    return len(list((folder / ".chunkwise-sweep" / "outcomes").glob("[!.]*.json")))


@pytest.mark.usefixtures("large_inputs")
def test_what_was_read_is_read_again(here: Run, docs: Path, tmp_path: Path) -> None:
    (docs / "other").mkdir()
    (docs / "other" / "more.md").write_text("# More\n\nNobody asks about this.\n")
    done = here("tune", "sweep.toml", "--exclude", "other", "-o", "out")
    assert "4 documents" in done.stderr, done.stderr
    page = (tmp_path / "out/report.html").read_text()
    assert "chunkwise index docs --exclude other --config" in page
    assert tomllib.loads((tmp_path / "out/sweep.toml").read_text())["sweep"]["reading"] == {
        "exclude": ["other"]
    }
    again = here("tune", "--resume", "-o", "out")
    assert "4 documents" in again.stderr, again.stderr
    page = (tmp_path / "out/report.html").read_text()
    assert "docs --exclude other --config" in page


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.usefixtures("docs")
def test_a_sweep_counts_budgets_by_the_tokenizer_that_is_named(here: Run, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(
        '[sweep]\nsource = "docs"\nqueries = "queries.json"\nembedder = "none"\n'
        'objective = "recall@60t"\ntokenizer = "gpt-4"\n[[sweep.chunkers]]\nstrategy = "sentences"\n'
        "max_tokens = [40]\n"
    )
    done = here("tune", "sweep.toml", "-o", "out", "-q", "-j", "1")
    assert done.returncode == 0, done.stderr
    assert 'tokenizer = "cl100k_base"' in (tmp_path / "out" / "recommendation.toml").read_text()
    assert 'tokenizer = "cl100k_base"' in (tmp_path / "out" / "sweep.toml").read_text()
    other = here("tune", "sweep.toml", "-o", "out", "-q", "-j", "1", "--tokenizer", "characters")
    assert other.returncode == 1
    assert "its tokenizer is 'cl100k_base', now it is 'characters'" in other.stderr
    config = ("--config", "out/recommendation.toml")
    assert here("index", "docs", "--into", "kb", *config, "-q").returncode == 0
    found = here("search", "kb", "who keeps the crane?", *config, "--json").stdout.splitlines()
    assert 0 < sum(json.loads(line)["token_count"] for line in found) <= 60
    wrong = here("tune", "docs", "-o", "other", "--tokenizer", "charcters")
    assert wrong.returncode == 2
    assert "did you mean characters?" in wrong.stderr


def test_resume_runs_no_code_that_the_folder_names(here: Run, docs: Path, tmp_path: Path) -> None:
    code = "open('ran', 'w').close()\nclass Mine:\n    def split(self, document):\n        return [(0, 9)]\n"
    (tmp_path / "mine.py").write_text(code)
    plan = '[sweep]\nsource = "docs"\nqueries = "queries.json"\nembedder = "none"\n'
    mine = (
        '[[sweep.chunkers]]\nstrategy = ["mine.py:Mine"]\n[sweep.retrieval]\nretriever = "bm25"\n'
    )
    (tmp_path / "mine.toml").write_text(plan + mine)
    # The plan is the user's own: it is named.
    assert here("tune", "mine.toml", "-o", "out", "-q", "-j", "1").returncode == 0
    (tmp_path / "ran").unlink()
    done = here("tune", "--resume", "-o", "out", "-q")
    assert done.returncode == 2
    assert "names code that would run" in done.stderr
    assert not (tmp_path / "ran").exists()
    allow = done.stderr.partition("--allow ")[2].split()[0]
    assert here("tune", "--resume", "-o", "out", "-q", "-j", "1", "--allow", allow).returncode == 0


@pytest.mark.parametrize(
    ("line", "what"),
    [('embedder = "http://127.0.0.1:9/v1#m"', "names a server"), ('objective = "mine.py:Mine@5"', "objective is"),
     ('reading = {loader = "mine.py:Mine"}', "names code"), ('embedder = "m.onnx"', "names a model's file"),
     ('chunkers = {strategy = "semantic", model = "https://evil.example/v1#m"}', "names a server"),
     ('retrieval = {retriever = "mine.py:Mine"}', "names code")],
)  # fmt: skip
def test_nothing_in_the_folder_of_a_sweep_is_followed_by_place(
    line: str, what: str, here: Run, docs: Path, tmp_path: Path
) -> None:
    code = "open('ran', 'w').close()\nclass Mine:\n    pass\n"
    (tmp_path / "mine.py").write_text(code)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.py").write_text(code)
    plan = f'[sweep]\nsource = "../docs"\nqueries = "../queries.json"\n{line}\n'
    (tmp_path / "out" / "sweep.toml").write_text(plan)
    done = here("tune", "--resume", "-o", "out", "-q", "-j", "1")
    assert what in done.stderr
    assert done.returncode in (1, 2)
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize(
    "name", ["sweep.toml", "results.json", "report.html", "recommendation.toml", "outcomes", "one"]
)
def test_a_link_in_the_folder_of_a_sweep_is_not_written_through(
    name: str, here: Run, swept: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (path,) = list(swept.rglob("outcomes/*.json"))[:1] if name == "one" else swept.rglob(name)
    path.rename(outside)
    path.symlink_to(outside)
    before = outside.read_bytes() if outside.is_file() else sorted(outside.iterdir())
    done = here("tune", "sweep.toml", "-o", "out", "-q", "-j", "1", "--seed", "3")
    again = here("tune", "sweep.toml", "-o", "out", "-q", "-j", "1")
    assert before == (outside.read_bytes() if outside.is_file() else sorted(outside.iterdir()))
    assert path.is_symlink()
    assert name in ("one", "outcomes") or "is a symbolic link" in done.stderr + again.stderr
