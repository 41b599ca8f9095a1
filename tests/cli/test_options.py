"""Options that commands share: `--config`, and files that are written, never over what is read."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from cli.in_process import Run, here
from cli.small_corpus import PLAN, write_corpus, write_questions
from tables import cases
from untimed import HANG

__all__ = ["here"]  # a fixture

WORDS_OF = 'vectors = "none"\nretriever = "bm25"\n'


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write_corpus(tmp_path / "docs")
    return tmp_path / "docs"


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_what_tune_writes_is_taken_as_it_is(here: Run, docs: Path, tmp_path: Path) -> None:
    write_questions(tmp_path / "queries.json")
    (tmp_path / "sweep.toml").write_text(PLAN)
    assert here("tune", "sweep.toml", "-o", "out", "-q").returncode == 0
    config = ("--config", "out/recommendation.toml")
    assert here("chunk", "docs", *config, "--json").returncode == 0
    made = here("index", "docs", "--into", "kb", *config, "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["vectors"] == "none"
    done = here("search", "kb", "who keeps the crane", *config, "--json")
    assert done.returncode == 0, done.stderr
    found = rows(done.stdout)
    assert found
    assert sum(int(str(row["token_count"])) for row in found) <= 1000


def test_several_sizes_fill_the_budget(here: Run, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(
        'strategy = "structure"\nvectors = "none"\nretriever = "multiscale(dense=0)"\nk = 5\nbudget = 60\n'
    )
    assert here("index", "docs", "--into", "kb", "--config", "r.toml", "-q").returncode == 0
    plain = rows(here("search", "kb", "crane", "--config", "r.toml", "--json").stdout)
    assert 0 < sum(int(str(row["token_count"])) for row in plain) <= 60
    more = here("search", "kb", "crane", "--config", "r.toml", "--budget", "400", "--json")
    assert 60 < sum(int(str(row["token_count"])) for row in rows(more.stdout)) <= 400


def test_what_is_said_on_the_command_line_wins(here: Run, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(
        f'strategy = "sentences(max_tokens=30)"\ncontext = "headings"\nk = 2\n{WORDS_OF}'
    )
    config = ("--config", "r.toml")
    chunks = rows(here("chunk", "docs", *config, "--json").stdout)
    assert all(row["strategy"] == "sentences(max_tokens=30, overlap=7)" for row in chunks)
    assert any(row["context"] for row in chunks)
    chunks = rows(
        here("chunk", "docs", *config, "-s", "words", "--context", "none", "--json").stdout
    )
    assert all(str(row["strategy"]).startswith("words") for row in chunks)
    assert not any(row["context"] for row in chunks)
    assert here("index", "docs", "--into", "kb", *config, "-q").returncode == 0
    assert len(rows(here("search", "kb", "crane", *config, "--json").stdout)) == 2
    assert len(rows(here("search", "kb", "crane", *config, "-k", "1", "--json").stdout)) == 1
    told = json.loads(
        here("index", "docs", "--into", "two", "-s", "words", *config, "--json").stdout
    )
    assert told["strategy"].startswith("words")
    assert told["context"] == "headings"


@cases(
    "text, status, said",
    [
        ("strategy =", 1, "r.toml is not TOML"),
        ('strategy = "nobody"', 2, "unknown strategy 'nobody'"),
        ('strategy = "words"\ncontext = "all"', 2, "context is 'all'; allowed: none"),
        ('strategy = "words"\nk = "many"', 2, "k is 'many'; expected an integer"),
        ('strategy = "words"\ncolour = "red"', 2, "unknown option 'colour'"),
        ("[sweep]", 1, "is a plan, not a recommendation; create one: chunkwise tune"),
    ],
)
def test_a_wrong_file_is_an_error_in_a_line(
    here: Run, docs: Path, tmp_path: Path, text: str, status: int, said: str
) -> None:
    (tmp_path / "r.toml").write_text(text)
    done = here("chunk", "docs", "--config", "r.toml", "--json")
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_file_is_an_error(here: Run, docs: Path) -> None:
    for command in (("chunk", "docs"), ("index", "docs", "--into", "kb"), ("search", "kb", "x")):
        done = here(*command, "--config", "missing.toml")
        assert done.returncode == 1
        assert "cannot read missing.toml" in done.stderr


LEAVE = "# Leave\n\nAsk in writing, two weeks before. The harbour master approves it.\n"
HOURS = "The day shift begins at five. The night shift ends at nine."
ASKED = [
    {"id": "who", "query": "Who approves leave?", "relevant_text": "The harbour master approves it."},
    {"id": "when", "query": "When does the day begin?", "relevant_text": "begins at five"},
]  # fmt: skip
EVALUATE = ("--test-queries", "asked.json", "--retriever", "bm25", "--metrics", "recall")
TUNE = ("--test-queries", "asked.json", "--embedder", "none", "-o", "out")
ASK_MINE = ("--test-queries", "asked.json", "--pipeline", "./mine.py:build", "-o", "out")
CUT = ("-s", "words(max_words=2)")
SWEEP = PLAN.replace('"docs"', '"texts"').replace('"queries.json"', '"asked.json"')
PIPELINE = """\
PARAMETERS = {"size": [1, 2]}

def build(documents, size):
    return lambda query, k: []
"""

needs_devices = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    (folder / "deep").mkdir(parents=True)
    (folder / "leave.md").write_text(LEAVE)
    (folder / "deep" / "hours.txt").write_text(HOURS)
    (folder / "page.html").write_text("<h1>Lamps</h1><p>Lit at dusk.</p>")
    (folder / "rows.jsonl").write_text('{"text": "Salt the fish."}\n')
    (tmp_path / "asked.json").write_text(json.dumps(ASKED))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "texts", *EVALUATE, "-o", "texts/leave.md"],
        ["evaluate", "texts", *EVALUATE, "-o", "texts/deep/hours.txt"],
        ["evaluate", "texts", *EVALUATE, "-o", "texts/deep/../leave.md"],
        ["evaluate", "texts/*.md", *EVALUATE, "-o", "texts/leave.md"],
        ["evaluate", "texts/**/*.txt", *EVALUATE, "-o", "texts/deep/hours.txt"],
        ["evaluate", "texts", *EVALUATE, "-o", "link.md"],
        ["evaluate", *EVALUATE, "-o", "texts/leave.md"],
        ["evaluate", "texts", *EVALUATE, "--html", "texts/page.html"],
        ["lint", "texts", "-o", "texts/rows.jsonl"],
        ["lint", "texts", "--html", "texts/page.html"],
        ["chunk", "texts", "-o", "texts/rows.jsonl"],
        ["testset", "check", "asked.json", "texts", "-o", "texts/leave.md"],
        ["testset", "convert", "asked.json", "--to", "chunkwise", "--documents", "texts",
         "-o", "texts/leave.md"],
        ["testset", "convert", "asked.json", "--to", "beir", "--documents", "texts", "-o", "texts/deep"],
        ["testset", "convert", "asked.json", "--to", "chunkwise", "--documents", "texts",
         "-o", "new.json", "--documents-to", "texts/rows.jsonl"],
        ["tune", "texts", *TUNE, "--html", "texts/page.html"],
        ["tune", "texts", *TUNE, "--html", "asked.json"],
        ["tune", "texts", *TUNE, "--html", "out/../asked.json"],
        ["tune", "texts", *TUNE, "--html", "link.json"],
        ["tune", "texts", *ASK_MINE, "--html", "asked.json"],
        ["tune", *ASK_MINE, "--html", "texts/page.html"],
        ["tune", "sweep.toml", "-o", "out", "--html", "asked.json"],
        ["tune", "sweep.toml", "-o", "out", "--html", "texts/page.html"],
        ["tune", "sweep.toml", "-o", "out", "--html", "plan.html"],
        ["tune", "--resume", "-o", "kept", "--html", "asked.json"],
        ["tune", "--resume", "-o", "kept", "--html", "texts/page.html"],
    ],
)  # fmt: skip
def test_a_document_in_a_folder_is_never_overwritten(
    here: Run, texts: Path, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "link.md").symlink_to(texts / "leave.md")
    (tmp_path / "link.json").symlink_to(tmp_path / "asked.json")
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "plan.html").symlink_to(tmp_path / "sweep.toml")
    (tmp_path / "kept").mkdir()
    kept = SWEEP.replace('"texts"', '"../texts"').replace('"asked.json"', '"../asked.json"')
    (tmp_path / "kept" / "sweep.toml").write_text(kept)
    (tmp_path / "mine.py").write_text(PIPELINE)
    before = contents(tmp_path)
    done = here(*words)
    assert done.returncode == 2, done.stderr
    assert "would be overwritten; write" in done.stderr
    assert contents(tmp_path) == before


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize(
    "name",
    ["results.json", "../out/results.json", "sweep.html", ".chunkwise-sweep/about.json"],
)
def test_a_page_is_no_other_file_of_its_sweep(here: Run, docs: Path, tmp_path: Path, name: str) -> None:  # fmt: skip
    """Its results are what `--resume` and `compare` read."""
    write_questions(tmp_path / "queries.json")
    (tmp_path / "sweep.toml").write_text(PLAN)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sweep.html").symlink_to(tmp_path / "out" / "sweep.toml")
    words = ("tune", "sweep.toml", "-o", "out", "--html")
    for is_swept in (False, True):
        if is_swept:
            assert here(*words, "out/report.html", "-q").returncode == 0
        before = contents(tmp_path)
        done = here(*words, f"out/{name}")
        assert done.returncode == 2, done.stderr
        assert "write to another file" in done.stderr
        assert contents(tmp_path) == before


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "texts", *EVALUATE, "-o", "texts/results.json", "--html", "texts/report.html"],
        ["lint", "texts", *CUT, "-o", "texts/issues.jsonl", "--html", "texts/cuts.html"],
        ["chunk", "texts", "-o", "texts/chunks.jsonl"],
        ["chunk", "texts", "-o", "texts/chunks.csv"],
        ["chunk", "texts", "-o", "texts/chunks.parquet"],
        ["chunk", "texts", "--html", "texts/cuts.json"],
        ["lint", "texts", *CUT, "--html", "texts/cuts.json"],
        ["profile", "texts", "--html", "texts/profile.json"],
        ["evaluate", "texts", *EVALUATE, "--html", "texts/report.json"],
        ["monitor", "texts", *EVALUATE, "--html", "texts/watch.json"],
        ["tune", "sweep.toml", "-o", "out", "--html", "texts/tuned.json"],
        ["tune", "sweep.toml", "-o", "out", "--html", "texts/tuned.html"],
    ],
)  # fmt: skip
def test_what_we_wrote_is_written_again(here: Run, texts: Path, words: list[str]) -> None:
    (texts.parent / "sweep.toml").write_text(SWEEP)
    if words[-1].endswith(".parquet"):
        pytest.importorskip("pyarrow")
    assert here(*words, "-q").returncode == 0
    before = contents(texts)
    assert len(before) > 4
    assert here(*words, "-q").returncode == 0
    assert contents(texts).keys() == before.keys()
    assert (texts / "leave.md").read_text() == LEAVE


def test_a_page_as_data_doubles_no_corpus(here: Run, texts: Path, tmp_path: Path) -> None:
    words = ("--vectors", "none", "--json")
    before = json.loads(here("index", "texts", "--into", "one", *words).stdout)
    assert here("chunk", "texts", "--html", "texts/cuts.json", "-q").returncode == 0
    done = here("index", "texts", "--into", "two", *words)
    assert done.returncode == 3
    assert "cuts.json: a chunkwise report, not a document" in done.stderr
    after = json.loads(done.stdout)
    assert (after["documents"], after["chunks"]) == (before["documents"], before["chunks"])


def test_a_test_set_is_the_users_own(here: Run, texts: Path) -> None:
    words = ("testset", "check", "asked.json", "texts", "-o", "texts/mended.json")
    assert here(*words).returncode == 0
    before = contents(texts)
    assert here(*words).returncode == 2
    assert contents(texts) == before


def test_a_loop_of_links_is_one_line(here: Run, texts: Path, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    done = here("evaluate", "texts", *EVALUATE, "-o", "loop")
    assert done.returncode == 1
    assert done.stderr.startswith("error: cannot write loop: ")
    assert len(done.stderr.splitlines()) == 1


def test_one_file_cannot_be_results_and_page(here: Run, texts: Path) -> None:
    done = here("evaluate", "texts", *EVALUATE, "-o", "a.html", "--html", "./a.html")
    assert done.returncode == 2
    assert "two outputs have the same path" in done.stderr


@cases(
    "words",
    [
        ["evaluate", "texts", *EVALUATE, "-o", "file/results.json"],
        ["evaluate", "texts", *EVALUATE, "--html", "file/page.html"],
        ["lint", "texts", "-o", "file/issues.jsonl"],
        ["lint", "texts", "--html", "file/page.html"],
        ["compare", "none.json", "neither.json", "-o", "file/c.json"],
        ["testset", "check", "asked.json", "texts", "-o", "file/asked.json"],
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_the_work(
    here: Run, texts: Path, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "file").write_text("")
    (texts / "broken.md").write_bytes(b"\xff\xfe\x00\xd8\x00")  # reading would say so
    done = here(*words)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [f"error: cannot write {words[-1]}: Not a directory"]


@needs_devices
def test_figures_are_shown_when_they_cannot_be_kept(here: Run, texts: Path, tmp_path: Path) -> None:
    # Through links: should this ever fail, it is not the device that is replaced.
    for name in ("full.html", "full.json"):
        (tmp_path / name).symlink_to("/dev/full")
    for more in (("-o", "full.json", "--html", "page.html"), ("--html", "full.html")):
        done = here("evaluate", "texts", *EVALUATE, *more)
        assert done.returncode == 1
        assert "recall@5" in done.stdout
        assert done.stderr.count("No space left on device") == 1
        assert "Traceback" not in done.stderr
    assert (tmp_path / "page.html").is_file()
    assert not Path("/dev/full").is_file()


@needs_devices
def test_a_full_disk_is_one_line(here: Run, texts: Path, tmp_path: Path) -> None:
    for name in ("full.jsonl", "full.html", "full.csv"):
        (tmp_path / name).symlink_to("/dev/full")
    for words in (
        ("lint", "texts", *CUT, "-o", "full.jsonl"),
        ("lint", "texts", *CUT, "--html", "full.html"),
        ("chunk", "texts", "-o", "full.csv"),
        ("chunk", "texts", "-o", "full.jsonl"),
        ("chunk", "texts", "--html", "full.html"),
        ("profile", "texts", "--html", "full.html"),
        ("testset", "check", "asked.json", "texts", "-o", "full.jsonl"),
    ):
        done = here(*words)
        assert done.returncode == 1, (words, done.stderr)
        told = [line for line in done.stderr.splitlines() if "No space left on device" in line]
        assert told == [f"error: cannot write {words[-1]}: No space left on device"], words
        assert (tmp_path / words[-1]).is_symlink()


@needs_devices
def test_a_comparison_is_shown_when_it_cannot_be_kept(
    here: Run, texts: Path, tmp_path: Path
) -> None:
    (tmp_path / "full.json").symlink_to("/dev/full")
    for name, k in (("a.json", 1), ("b.json", 1)):
        words = ("evaluate", "texts", *EVALUATE, "-k", k, "-q", "-o", name)
        assert here(*words).returncode == 0
    done = here("compare", "a.json", "b.json", "-o", "full.json")
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["error: cannot write full.json: No space left on device"]
    assert "recall@1" in done.stdout


@pytest.mark.usefixtures("processes")
def test_results_through_a_pipe_of_the_shell(here: Run, texts: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE) as reader:
        try:
            done = here("evaluate", "texts", *EVALUATE, "-o", "pipe")
            read, _ = reader.communicate(timeout=HANG)
        finally:
            reader.kill()  # where nothing was written it would wait forever
    assert done.returncode == 0, done.stderr
    assert json.loads(read)["format"] == "chunkwise results"
    assert (tmp_path / "pipe").is_fifo()


def test_results_and_questions_of_before_change_nothing(
    here: Run, texts: Path, tmp_path: Path
) -> None:
    first = here("evaluate", "texts", *EVALUATE, "--json")
    assert first.returncode == 0
    (texts / "earlier.json").write_text(first.stdout)
    (texts / "others.json").write_text(json.dumps([{**each, "id": "x"} for each in ASKED[:1]]))
    again = here("evaluate", "texts", *EVALUATE, "--json")
    assert again.returncode == 3
    [told] = again.stderr.splitlines()  # that results are no documents goes without saying
    assert "others.json: looks like test questions" in told
    before, after = json.loads(first.stdout), json.loads(again.stdout)
    assert before["data"]["documents"] == after["data"]["documents"]
    assert before["summary"] == after["summary"]


@cases(
    "more, told",
    [
        (["--seed", "-1"], "seed is"),
        (["--relevance-threshold", "1.5"], "relevance_threshold is"),
        (["--similarity-threshold", "-2"], "similarity_threshold is"),
        (["--fail-under", "recall=80"], "80 isn't between -1 and 1"),
        (["--fail-over", "mrr=0.5"], "mrr@5 isn't measured here; measured: recall@5"),
    ],
)
def test_wrong_values_are_told_before_anything_is_read(
    here: Run, texts: Path, more: list[str], told: str
) -> None:
    (texts / "broken.md").write_bytes(b"\xff\xfe\x00\xd8\x00")  # reading would say so
    done = here("evaluate", "texts", *EVALUATE, *more)
    assert done.returncode == 2
    assert told in done.stderr
    assert "broken.md" not in done.stderr


def test_a_mended_question_is_said_to_be_mended(here: Run, texts: Path, tmp_path: Path) -> None:
    moved = {"doc_id": "leave.md", "start": 0, "end": 31, "text": "The harbour master approves it."}
    row = {"id": "moved", "query": "Who?", "references": [moved]}
    (tmp_path / "asked.json").write_text(json.dumps([*ASKED, row]))
    done = here("evaluate", "texts", *EVALUATE, "--strict", "-o", "r.json")
    assert done.returncode == 0, done.stderr
    assert "asked.json, entry 3" in done.stderr
    assert "skipped" not in done.stderr
    assert "nearest" not in done.stderr
    data = json.loads((tmp_path / "r.json").read_text())["data"]
    assert len(data["mended_questions"]) == 1
    assert data["left_out_questions"] == []


def test_an_empty_answer_is_unscored(here: Run, texts: Path, tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text('{"query_id": "who", "answer": ""}\n')
    words = ("evaluate", "texts", "--test-queries", "asked.json", "--retriever", "bm25", "--json")
    done = here(*words, "--metrics", "citation_recall", "--answers", "answers.jsonl")
    assert done.returncode == 0, done.stderr
    who = json.loads(done.stdout)["questions"][0]
    assert who["scores"] == {"citation_recall": None}
    assert who["unscored"]["citation_recall"]


def test_one_chunk_is_no_chunks(here: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Nobody sleeps.")
    (tmp_path / "theirs.jsonl").write_text('{"doc_id": "a.txt", "start": 2, "end": 9}\n')
    done = here("lint", "a.txt", "--chunks", "theirs.jsonl", "--fail-over", "0", "--show", "0")
    assert done.returncode == 4
    assert "1 of 1 chunk has a boundary issue" in done.stderr


@pytest.mark.smoke
@pytest.mark.usefixtures("processes")
def test_code_that_a_recommendation_names_is_not_run_unless_the_user_allows_it(
    here: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("A heron.\n\nAn otter.")
    code = "open('ran', 'w').close()\nclass Mine:\n    def split(self, document):\n        return [(0, 3)]\n"
    (tmp_path / "mine.py").write_text(code)
    (tmp_path / "sent.toml").write_text('strategy = "mine.py:Mine"\n')
    done = here("chunk", "a.md", "--config", "sent.toml", "--json")
    assert done.returncode == 2
    assert "sent.toml names code that would run, mine.py:Mine" in done.stderr
    assert not (tmp_path / "ran").exists()
    allow = done.stderr.partition("--allow ")[2].split()[0]
    assert here("chunk", "a.md", "--config", "sent.toml", "--allow", allow).returncode == 0
    assert (tmp_path / "ran").exists()
    # For that command alone.
    assert here("chunk", "a.md", "--config", "sent.toml").returncode == 2
    assert here("chunk", "a.md", "--config", "sent.toml", "-s", "mine.py:Mine").returncode == 0


def test_a_server_that_a_recommendation_names_is_sent_nothing(here: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("A heron.")
    address = "http://127.0.0.1:9/v1#m"
    (tmp_path / "sent.toml").write_text(f'strategy = "sentences"\nembedder = "{address}"\n')
    done = here("index", "a.md", "--into", "kb", "--config", "sent.toml")
    assert done.returncode == 2
    assert "sent.toml names a server" in done.stderr
    assert "--allow http://127.0.0.1:9" in done.stderr


@cases(
    "words", ["lint docs --fail-over nan", "evaluate docs --max-cost nan", "evaluate docs --relevance-threshold inf"]
)  # fmt: skip
def test_what_is_no_number_turns_no_limit_off(here: Run, docs: Path, words: str) -> None:
    done = here(*words.split())
    assert done.returncode == 2
    assert done.stderr


@pytest.mark.parametrize("option", ["--tokenizer", "--retriever", "--embedder"])
def test_a_page_is_never_written_over_another_file_that_was_given(here: Run, option: str) -> None:
    Path("docs").mkdir()
    Path("docs/a.md").write_text("# Lamps\n\nThe lamps are lit at dusk.\n")
    Path("q.json").write_text('[{"query": "When?", "references": [{"quote": "lit at dusk"}]}]')
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    Path("read.json").write_text(made.to_str())
    done = here(
        "evaluate", "docs", "--test-queries", "q.json", option, "read.json", "--html", "read.json"
    )
    assert done.returncode == 2
    assert "read.json is an input and would be overwritten" in done.stderr
    assert Path("read.json").read_text() == made.to_str()
