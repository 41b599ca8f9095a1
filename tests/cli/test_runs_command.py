"""`--save`, `chunkwise runs` and `chunkwise runs baseline` as a user runs them."""

import csv
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from chunkwise.base.amounts import parse_time
from chunkwise.tracking import HISTORY_VARIABLE
from chunkwise.tracking import history as history_module
from chunkwise.tracking.history import History
from cli.in_process import Run, here, with_streams
from cli.small_corpus import PLAN, write_corpus, write_questions
from made_results import results
from retrieval.postgres_server import new_url
from tables import cases
from tracking.made_runs import kept_run
from untimed import HANG

__all__ = ["here"]

WORDS = ("--retriever", "bm25", "--metrics", "recall@1000t,completeness")
EVALUATE = ("evaluate", "docs", "--test-queries", "queries.json", *WORDS)


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HISTORY_VARIABLE, raising=False)
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    write_corpus(tmp_path / "docs", passages=5)
    write_questions(tmp_path / "queries.json", count=20, passages=5)


@pytest.fixture
def history(tmp_path: Path) -> History:
    """Four runs, a document changed before the second, ten new questions before the third, k before the last."""
    place = History(tmp_path / ".chunkwise" / "history.db")
    scores = {f"q{n}": n % 2 for n in range(10)}
    changed = {"a.md": "1", "b.md": "new"}
    more = {**scores, **{f"n{n}": 0.0 for n in range(10)}}
    for each in (
        kept_run(scores), kept_run({**scores, "q1": 0.5}, documents=changed, documents_hash="e", hits={"q1": "b.md"}),
        kept_run({**more, "q1": 0.5}, documents=changed, documents_hash="e", hits={"q1": "b.md"}, questions_hash="r"),
        kept_run({**more, "q1": 1.0}, documents=changed, documents_hash="e", questions_hash="r", settings={"k": 9}),
    ):  # fmt: skip
        place.add(each)
    return place


def test_a_run_joins_the_history_of_the_project(here: Run, tmp_path: Path) -> None:
    plain = here(*EVALUATE, "--json")
    done = here(*EVALUATE, "--save", "--json")
    assert done.returncode == 0
    assert done.stderr == f"chunkwise: saved as run 1 in {tmp_path / '.chunkwise' / 'history.db'}\n"
    assert json.loads(done.stdout)["summary"] == json.loads(plain.stdout)["summary"]
    run = History(tmp_path / ".chunkwise" / "history.db").run(1)
    assert run.kind == "evaluate"
    assert run.objective == "recall@1000t"
    assert list(run.documents or {}) == [f"duties-{n}.md" for n in range(4)]
    assert len(run.questions) == 20
    assert all(question.fingerprint and question.hits for question in run.questions)
    assert run.settings["retriever"] == "bm25"
    assert run.versions["chunkwise"]
    assert run.origin.host
    assert run.seconds is not None
    found = json.loads(done.stdout)
    assert run.figures["recall@1000t"].mean == found["summary"]["recall@1000t"]["mean"]
    assert run.scores["recall@1000t"] == tuple(q["scores"]["recall@1000t"] for q in found["questions"])  # fmt: skip


def test_no_text_of_a_document_is_kept_unless_it_is_asked_for(here: Run, tmp_path: Path) -> None:
    sentence = b"Whoever needs more asks at the office"
    assert here(*EVALUATE, "-q", "--save").returncode == 0
    assert here("lint", "docs", "-q", "--save", "-s", "tokens(max_tokens=9)").returncode == 0
    assert here("profile", "docs", "-q", "--save").returncode == 0
    kept = [path.read_bytes() for path in (tmp_path / ".chunkwise").iterdir()]
    assert kept
    assert not [each for each in kept if sentence in each or b"is kept by the" in each]
    assert here(*EVALUATE, "-q", "--save-text").returncode == 0
    run = History(tmp_path / ".chunkwise" / "history.db").run(4)
    assert "is kept by the" in run.questions[0].hits[0].text


@pytest.mark.usefixtures("large_inputs")
def test_every_kind_of_run_is_kept(here: Run, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(PLAN)
    commands = (
        (*EVALUATE, "-o", "a.json"),
        (*EVALUATE, "-o", "b.json", "-s", "tokens(max_tokens=30)"),
        ("compare", "a.json", "b.json"),
        ("tune", "sweep.toml", "-o", "out", "-j", "1"),
        ("lint", "docs", "--show", "0"),
        ("profile", "docs"),
        ("testset", "calibrate", "docs", "--test-queries", "queries.json", "--judge", "labels,./judge.py:Judge"),
    )  # fmt: skip
    (tmp_path / "judge.py").write_text(
        "from chunkwise.core import Score\nclass Judge:\n    name = 'yes'\n    def judge(self, "
        "queries, hits):\n        return [[Score(1.0) for _ in own] for own in hits]\n"
    )
    for words in commands:
        done = here(*words, "--save")
        assert done.returncode == 0, done.stderr
        assert "chunkwise: saved as run " in done.stderr
    runs = History(tmp_path / ".chunkwise" / "history.db").runs()
    assert [run.kind for run in runs] == [
        "evaluate", "evaluate", "compare", "tune", "lint", "profile", "judge calibrate"
    ]  # fmt: skip
    for run in runs:
        assert run.main_metric, run.kind
        assert run.label
    assert "kappa.yes" in runs[-1].figures
    listed = here("runs")
    assert listed.returncode == 0
    for kind in ("evaluate", "compare", "tune", "lint", "profile", "judge"):
        assert kind in listed.stdout
    assert "strategy tok" in listed.stdout
    known = here("runs", "import", "a.json", "out/results.json")
    assert known.returncode == 0
    assert "imported 0 runs" in known.stderr
    assert "2 known files" in known.stderr
    other = here("runs", "import", "a.json", "out/results.json", "--history", "other.db")
    assert "imported 2 runs as 1 to 2" in other.stderr
    both = History(tmp_path / "other.db"), History(tmp_path / ".chunkwise" / "history.db")
    tuned = [next(run for run in each.runs() if run.kind == "tune") for each in both]
    assert tuned[0].figures == tuned[1].figures


def breaks(path: Path, how: str) -> sqlite3.Connection:
    """What holds it, where that is what is wrong."""
    path.parent.mkdir()
    if how == "locked":
        History(path).add(kept_run())
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("begin immediate")
        return holder
    if how == "later":
        with closing(sqlite3.connect(path)) as file, file:
            file.execute(f"pragma application_id = {0x63687764}")
            file.execute("pragma user_version = 99")
    elif how == "damaged":
        path.write_bytes(b"this is no database" * 500)
    elif how == "folder":
        path.mkdir()
    elif how == "another":
        with closing(sqlite3.connect(path)) as file, file:
            file.execute("create table t (a)")
    return sqlite3.connect(":memory:")


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("how", ["later", "damaged", "folder", "another", "locked"])
@pytest.mark.parametrize("asked", [(), ("--fail-over", "recall@1000t=0")])
def test_a_history_that_cannot_be_used_is_one_line_and_changes_nothing_else(
    here: Run, tmp_path: Path, how: str, asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "WAIT", 0.01)
    plain = here(*EVALUATE, *asked, "-o", "plain.json")
    assert plain.returncode == (4 if asked else 0)
    with closing(breaks(tmp_path / ".chunkwise" / "history.db", how)):
        done = here(*EVALUATE, *asked, "-o", "kept.json", "--save")
    same = plain.stdout.replace("plain.json", "kept.json")
    assert (done.returncode, done.stdout) == (plain.returncode, same)
    added = [line for line in done.stderr.splitlines() if line not in plain.stderr.splitlines()]
    assert len(added) == 2, added  # the first names the file of results
    assert added[1].startswith("chunkwise: the run is not saved: ")
    assert (tmp_path / "kept.json").exists()


def test_a_reader_that_leaves_early_loses_no_run(tmp_path: Path, history: History) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        with open(os.devnull, "w") as nowhere:
            status = with_streams(tmp_path, *EVALUATE, "--json", "--save", out=write, err=nowhere.fileno())  # fmt: skip
    finally:
        os.close(write)
    assert status == 0
    assert len(history) == 5


@pytest.mark.usefixtures("processes")
def test_a_killed_command_has_its_results_in_a_file_and_the_next_one_is_kept(
    here: Run, tmp_path: Path
) -> None:
    """While it waits for the history, which another process holds."""
    assert here(*EVALUATE, "-q", "--save").returncode == 0
    place = tmp_path / ".chunkwise" / "history.db"
    with closing(sqlite3.connect(place, isolation_level=None)) as other, other:
        other.execute("begin immediate")
        process = subprocess.Popen(
            [sys.executable, "-m", "chunkwise", *EVALUATE, "-o", "safe.json", "--save", "--json"],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout
        printed = ""
        while not printed.endswith("\n}\n}\n"):
            printed += process.stdout.readline()
        process.kill()
        process.communicate(timeout=HANG)
        other.execute("rollback")
    assert json.loads((tmp_path / "safe.json").read_text()) == json.loads(printed)
    assert len(History(place)) == 1
    assert here(*EVALUATE, "-q", "--save").returncode == 0
    assert len(History(place)) == 2


def test_a_place_can_be_named_and_names_mean_keeping(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here("profile", "docs", "-q", "--history", "mine.db").returncode == 0
    assert len(History(tmp_path / "mine.db")) == 1
    monkeypatch.setenv(HISTORY_VARIABLE, str(tmp_path / "ours.db"))
    assert here("profile", "docs", "-q").returncode == 0
    assert not (tmp_path / "ours.db").exists(), "the variable says where, not whether"
    assert here("profile", "docs", "-q", "--save").returncode == 0
    assert "profile" in here("runs").stdout
    assert not (tmp_path / ".chunkwise").exists()
    assert "Run 1" in here("runs", "show", "1", "--history", "mine.db").stdout
    assert here("runs", "baseline", "set", "1", "--history", "mine.db").returncode == 0
    assert len(History(tmp_path / "mine.db").baselines()) == 1
    assert not History(tmp_path / "ours.db").baselines()


@pytest.mark.usefixtures("processes")
def test_a_history_on_a_server_is_used_as_a_file_is(here: Run, tmp_path: Path) -> None:
    url = new_url()
    done = here(*EVALUATE, "-q", "--save", "--history", url)
    assert done.returncode == 0, done.stderr
    assert here("runs", "baseline", "set", "1", "--history", url).returncode == 0
    assert "recall@1000t" in here("runs", "--history", url).stdout
    shown = json.loads(here("runs", "show", "last", "--json", "--history", url).stdout)
    assert len(shown["questions"]) == 20
    assert not (tmp_path / ".chunkwise").exists()


def test_who_ran_it_is_left_out_where_that_is_wished(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_HISTORY_WHO", "no")
    assert here("profile", "docs", "-q", "--save").returncode == 0
    origin = History(tmp_path / ".chunkwise" / "history.db").run(1).origin
    assert (origin.user, origin.host) == ("", "")


def test_an_empty_history_says_what_to_type(here: Run, tmp_path: Path) -> None:
    for words in (("runs",), ("runs", "chart"), ("runs", "baseline")):
        done = here(*words)
        assert (done.returncode, done.stdout) == (0, "")
        assert "chunkwise evaluate … --save" in done.stderr or "baseline set RUN" in done.stderr
    assert json.loads(here("runs", "--json").stdout)["rows"] == []
    assert here("runs", "show", "1").returncode == 2
    assert not (tmp_path / ".chunkwise").exists()


def test_the_list_says_what_changed_since_the_one_before(here: Run, history: History) -> None:
    shown = here("runs").stdout
    for words in (
        "documents ~1", "questions +10", "structure · bm25", "50% (10–90)",
        "Next  chunkwise runs diff 3 4",
    ):  # fmt: skip
        assert words in shown, words
    assert shown.index("  4  2026") < shown.index("  1  2026"), "the latest first"
    assert "2 of 4 runs" in here("runs", "--last", "2").stdout
    assert "no runs of kind" in here("runs", "--kind", "lint").stderr
    rows = json.loads(here("runs", "--json").stdout)["rows"]
    assert [row["number"] for row in rows] == [4, 3, 2, 1]
    assert rows[2]["changes"] == ["documents ~1"]


def test_a_difference_is_told_with_what_it_comes_from(here: Run, history: History) -> None:
    shown = " ".join(here("runs", "diff", "1", "3").stdout.split())
    assert (
        "recall@5: −27.5 pts: −22.5 pts by 10 new questions, −5.0 pts by changed documents."
        in shown
    )
    assert "documents ~1 changed b.md" in shown
    assert "questions +10 new n0, n1, n2, n3, n4 and 5 more" in shown
    told = json.loads(here("runs", "diff", "baseline", "last", "--json").stdout or "null")
    assert told is None, "no baseline yet"
    assert here("runs", "baseline", "set", "1").returncode == 0
    told = json.loads(here("runs", "diff", "baseline", "last", "--json").stdout)
    parts = told["metrics"]["recall@5"]["parts"]
    assert [part["cause"] for part in parts] == ["questions"]
    assert here("runs", "diff", "2", "2").returncode == 2
    assert "t a run; allowed: a number listed by" in here("runs", "diff", "1", "x").stderr
    assert "no run 9" in here("runs", "diff", "1", "9").stderr


def test_a_baseline_is_that_of_the_other_runs_kind(here: Run, history: History) -> None:
    history.set_baseline(1)
    history.set_baseline(history.add(kept_run(kind="lint")).number)
    history.add(kept_run(kind="lint"))
    asked = {("baseline", "4"): (1, 4), ("3", "baseline"): (3, 1), ("baseline", "last"): (5, 6)}
    for words, numbers in asked.items():
        told = json.loads(here("runs", "diff", *words, "--json").stdout)
        assert (told["before"], told["after"]) == numbers


def test_one_run_is_shown_whole(here: Run, history: History) -> None:
    shown = here("runs", "show", "2", "-v").stdout
    for words in (
        "Run 2: evaluate",
        "recall@5",
        "strategy",
        "since run 1: documents ~1",
        "10 questions",
    ):
        assert words in shown, words
    whole = json.loads(here("runs", "show", "last", "--json").stdout)
    assert whole["number"] == 4
    assert len(whole["scores"]["recall@5"]) == 20
    assert whole["settings_hash"]


def test_a_chart_in_the_terminal_on_a_page_and_as_json(
    here: Run, history: History, tmp_path: Path
) -> None:
    history.set_baseline(1)
    shown = here("runs", "chart").stdout
    assert "recall@5 over 4 runs" in shown
    assert "against the baseline (run 1)." in shown
    done = here("runs", "chart", "recall@5", "--html", "recall.html")
    assert done.returncode == 0
    page = (tmp_path / "recall.html").read_text("utf-8")
    assert "questions +10" in page
    assert "against the baseline" in page
    points = json.loads(here("runs", "chart", "recall@5", "--json").stdout)["points"]
    assert [point["row"]["number"] for point in points] == [1, 2, 3, 4]
    wrong = here("runs", "chart", "recal@5")
    assert wrong.returncode == 2
    assert "did you mean recall@5?" in wrong.stderr


def test_a_table_for_other_tools(here: Run, history: History, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for name in ("r.csv", "r.jsonl", "r.parquet"):
        done = here("runs", "export", "-o", name)
        assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text("utf-8").splitlines()]
    assert [(row["run"], row["metric"]) for row in lines] == [(n, "recall@5") for n in (1, 2, 3, 4)]
    with (tmp_path / "r.csv").open(newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert [*table[0]] == [*lines[0]]
    assert [float(row["mean"]) for row in table] == [row["mean"] for row in lines]
    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "r.parquet").to_pylist() == lines
    scores = here("runs", "export", "--by-question", "--json").stdout.splitlines()
    assert len(scores) == 10 + 10 + 20 + 20
    assert json.loads(scores[1])["question"] == "q1"
    assert here("runs", "export").returncode == 2
    assert here("runs", "export", "-o", "runs.txt").returncode == 2


def test_pruning_asks_and_keeps_baselines(here: Run, history: History) -> None:
    history.set_baseline(2)
    refused = here("runs", "prune", "--older", "1d")
    assert refused.returncode == 2
    assert "3 runs from before " in refused.stderr
    assert "(1 to 4); to confirm, add --yes" in refused.stderr
    assert "Usage" not in refused.stderr
    assert len(history) == 4
    done = here("runs", "prune", "--older", "1d", "--yes", "--json")
    assert json.loads(done.stdout) == {"forgotten": [1, 3, 4], "kept": 1}
    assert [run.number for run in history.runs()] == [2]
    again = here("runs", "prune", "--older", "1d")
    assert again.returncode == 0
    assert "0 runs" in again.stderr
    assert "older is" in here("runs", "prune", "--older", "soon").stderr


def test_ages() -> None:
    seconds = parse_time
    assert seconds("1y") > seconds("11mo") > seconds("8w") > seconds("30 days") > seconds("12h")
    assert seconds("100 years") > seconds("99Y") > seconds("1 month") > seconds("2weeks") > 0
    assert [seconds(text) for text in ("90s", "30 min", "1d")] == [90, 1800, 86_400]


@cases(
    "age", ["1500y", "101y", "99999w", "999999999h", "1decade", "6m", "1days ago", "d", "-1d"]
)  # fmt: skip
def test_an_age_that_is_none_forgets_nothing(here: Run, history: History, age: str) -> None:
    done = here("runs", "prune", f"--older={age}", "--yes")
    assert done.returncode == 2
    assert "older is" in done.stderr
    assert len(history) == 4


def test_importing_takes_what_can_be_read_once(here: Run, tmp_path: Path) -> None:

    folder = tmp_path / "results"
    folder.mkdir()
    for at, name in enumerate(("b", "a")):
        results(at).save(folder / f"{name}.json")
        os.utime(folder / f"{name}.json", (1_700_000_000 + at, 1_700_000_000 + at))
    old = json.loads((folder / "a.json").read_text("utf-8"))
    old["configuration"]["seed"] = 9
    (folder / "old.json").write_text(json.dumps(old), "utf-8")
    (folder / "broken.json").write_text('{"format": "chunkwise results", ', "utf-8")
    (folder / "other.json").write_text("[]", "utf-8")
    done = here("runs", "import", "results/*.json", "results/a.json")
    assert done.returncode == 3
    assert "not imported: results/broken.json" in done.stderr
    assert "other.json is not a chunkwise results file" in done.stderr
    runs = History(tmp_path / ".chunkwise" / "history.db").runs()
    assert [run.source for run in runs] == ["b.json", "a.json", "old.json"], "the oldest first"
    assert runs[0].when == "2023-11-14T22:13:20Z"
    assert runs[2].settings["seed"] == 9
    again = here("runs", "import", "results", "--json")
    told = json.loads(again.stdout)
    assert [each["is_new"] for each in told["imported"]] == [False] * 3
    assert len(told["skipped"]) == 2
    assert here("runs", "import", "nothing.json").returncode == 1


def test_baselines_are_set_listed_and_cleared(here: Run, history: History) -> None:
    assert "run 4 " in here("runs", "baseline", "set", "last").stderr
    assert (
        json.loads(here("runs", "baseline", "set", "2", "--name", "main", "--json").stdout)["run"]
        == 2
    )
    shown = here("runs", "baseline").stdout.splitlines()
    assert [line.split()[:4] for line in shown] == [
        ["default", "evaluate", "run", "4"], ["main", "evaluate", "run", "2"],
    ]  # fmt: skip
    assert "★ main" in here("runs").stdout
    assert len(json.loads(here("runs", "baseline", "--json").stdout)["baselines"]) == 2
    assert here("runs", "baseline", "clear", "--name", "nobody").returncode == 2
    assert "cleared 1 baseline" in here("runs", "baseline", "clear", "--name", "main").stderr
    assert "cleared 1 baseline" in here("runs", "baseline", "clear").stderr
    assert here("runs", "baseline", "set", "77").returncode == 2
    assert here("runs", "baseline", "set", "x").returncode == 2


def test_figures_are_written_for_prometheus_with_and_without_a_history(
    here: Run, tmp_path: Path
) -> None:
    alone = here(*EVALUATE, "--prometheus", "out.prom", "--json")
    assert alone.returncode == 0
    assert alone.stderr == "chunkwise: metrics sent to Prometheus (out.prom)\n"
    mean = json.loads(alone.stdout)["summary"]["recall@1000t"]["mean"]
    text = (tmp_path / "out.prom").read_text()
    assert f'chunkwise_figure{{kind="evaluate",metric="recall@1000t"}} {mean!r}' in text
    assert "chunkwise_run_number" not in text
    assert not (tmp_path / ".chunkwise").exists()
    assert here(*EVALUATE, "--prometheus", "out.prom", "-q", "--save").stderr == ""
    assert 'chunkwise_run_number{kind="evaluate"} 1.0' in (tmp_path / "out.prom").read_text()
    for words in (("lint", "docs"), ("profile", "docs")):
        assert here(*words, "-q", "--prometheus", "other.prom").returncode == 0
        assert f'kind="{words[0]}"' in (tmp_path / "other.prom").read_text()


@pytest.mark.parametrize(
    ("option", "extra"), [(("--mlflow", "http://h:5000"), "mlflow"), (("--otel",), "otel")]
)
def test_what_is_not_installed_is_told_before_any_work(
    here: Run, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...], extra: str
) -> None:
    monkeypatch.setattr(
        "chunkwise.tracking.export_to_mlflow_otel_prometheus.find_spec", lambda name: None
    )
    done = here(*EVALUATE, *option)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"pip install 'chunkwise[{extra}]'" in done.stderr


def test_what_cannot_be_handed_on_changes_nothing_else(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(
        "chunkwise.tracking.export_to_mlflow_otel_prometheus.write_prometheus", fail
    )
    done = here(*EVALUATE, "--save", "--prometheus", "out.prom", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["summary"]
    assert "chunkwise: no metrics sent to Prometheus (out.prom): no room" in done.stderr
    assert len(History(tmp_path / ".chunkwise" / "history.db").runs()) == 1


@pytest.mark.parametrize("error", [ValueError("odd"), OSError("gone")])
def test_no_error_of_the_history_ends_a_good_run(
    here: Run, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(History, "add", fail)
    done = here(*EVALUATE, "--save", "--prometheus", "out.prom", "--json")
    assert done.returncode == 0
    assert f"chunkwise: the run is not saved: {error}" in done.stderr
    assert "metrics sent to Prometheus" in done.stderr


def test_list_need_not_be_named(here: Run, history: History) -> None:
    assert here("runs", "list", "--json").stdout == here("runs", "--json").stdout
    assert here("runs", "shwo").returncode == 2


def test_a_table_goes_where_it_was_meant_to_go(here: Run, tmp_path: Path, history: History) -> None:
    (tmp_path / "runs.csv").write_text("mine")
    words = ("runs", "export", "-o", "runs.csv")
    there = here(*words)
    assert there.returncode == 2
    assert "write to another file, or add --force" in there.stderr
    assert (tmp_path / "runs.csv").read_text() == "mine"
    assert here(*words, "--force").stderr == "written: runs.csv (4 rows)\n"
    history.prune(numbers=[2, 3, 4])
    assert here(*words, "--force").stderr == "written: runs.csv (1 row)\n"


def test_a_file_that_is_not_there_is_told_as_not_imported(here: Run) -> None:
    done = here("runs", "import", "gone.json")
    assert done.returncode == 1
    assert done.stderr.startswith("chunkwise: not imported: cannot read gone.json: ")


def test_the_baseline_can_be_named_wherever_a_run_can(here: Run, history: History) -> None:
    assert here("runs", "baseline", "set", "#2").returncode == 0
    assert here("runs", "baseline", "set", "baseline", "--name", "main").returncode == 0
    assert [(each.name, each.run) for each in history.baselines()] == [("default", 2), ("main", 2)]
    wrong = here("runs", "baseline", "set", "first")
    assert wrong.returncode == 2
    assert "t a run; allowed: a number listed by" in wrong.stderr
