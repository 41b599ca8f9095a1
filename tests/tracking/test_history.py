"""A history keeps every run whole and in order: on both kinds of database, by several writers, whatever is killed."""

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnknownName
from chunkwise.tracking import HISTORY_VARIABLE, KINDS
from chunkwise.tracking import history as history_module
from chunkwise.tracking.database import HistoryProblem, history_place
from chunkwise.tracking.history import History
from chunkwise.tracking.run import KeptHit, KeptRun
from how_many import examples
from retrieval.postgres_server import new_url
from tracking.made_runs import kept_run
from untimed import HANG

WRITER = """
import sys
from pathlib import Path
from chunkwise.tracking.history import History
from tracking.made_runs import kept_run
history = History(sys.argv[1], wait=600)
for number in range(int(sys.argv[2])):
    scores = {f"q{at}": (at + number) % 7 / 7 for at in range(int(sys.argv[3]))}
    documents = {f"{number}-{at}.md": str(at) for at in range(int(sys.argv[3]))}
    print(history.add(kept_run(scores, documents=documents, label=sys.argv[4])).number, flush=True)
"""


WITH_TESTS = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
"""Processes that import from the tests, too."""


def writer(place: str | Path, runs: int, size: int, label: str = "w") -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(place), str(runs), str(size), label],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=WITH_TESTS,
    )  # fmt: skip


@pytest.fixture(params=["sqlite", "postgres"])
def history(request: pytest.FixtureRequest, tmp_path: Path) -> History:
    return History(new_url() if request.param == "postgres" else tmp_path / "runs.db")


def test_a_run_comes_back_as_it_was_kept(history: History) -> None:
    run = kept_run(
        {"q1": 0.1 + 0.2, "q2": None, "ö\ud800\x00": 1.0}, money=0.25, seconds=3.5, details={"cost": {"chunks": 3}}
    )  # fmt: skip
    added = history.add(run)
    assert added.number == 1
    found = history.run(1)
    assert found.scores == run.scores
    assert found.figures == run.figures
    assert found.documents == run.documents
    assert [each.id for each in found.questions] == ["q1", "q2", "ö\ud800\x00"]
    assert found.questions[0] == run.questions[0]
    plain = {"questions": (), "scores": {}}
    assert replace(found, **plain, key="") == replace(run, **plain, number=1)
    assert history.runs()[0].figures == run.figures
    assert len(history) == 1


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1980, 2199)), max_size=8))
@settings(max_examples=examples(20))
def test_runs_keep_their_order_whatever_the_clock_says(runs: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder) / "runs.db")
        times = [f"{year}-01-01T00:00:00Z" for _, year in runs]
        for (kind, _), when in zip(runs, times, strict=True):
            history.add(kept_run(kind=kind, when=when))
        assert [run.when for run in history.runs()] == times
        assert [run.number for run in history.runs()] == list(range(1, len(runs) + 1))
        assert [run.when for run in history.runs(last=2)] == times[-2:]
        for kind in KINDS:
            own = [when for (each, _), when in zip(runs, times, strict=True) if each == kind]
            assert [run.when for run in history.runs(kind)] == own


def test_a_number_is_never_given_twice(history: History) -> None:
    for _ in range(3):
        history.add(kept_run())
    assert [run.number for run in history.prune(numbers=[3])] == [3]
    assert history.add(kept_run()).number == 4


def test_documents_and_questions_of_many_runs_are_kept_once(tmp_path: Path) -> None:
    history = History(tmp_path / "runs.db")
    documents = {f"{at}.md": str(at) for at in range(50)}
    for changed in range(10):
        history.add(kept_run(documents={**documents, "0.md": f"changed {changed // 2}"}))
    count = "select count(*) from shared"
    with closing(sqlite3.connect(tmp_path / "runs.db")) as file, file:
        assert file.execute(count).fetchone()[0] == 5 + 1
    assert history.run(10).documents == {**documents, "0.md": "changed 4"}
    before = (tmp_path / "runs.db").stat().st_size
    history.add(kept_run(documents={f"large {at}": str(at) for at in range(3000)}))
    history.prune(numbers=[*range(1, 10), 11])
    assert (tmp_path / "runs.db").stat().st_size <= before
    with closing(sqlite3.connect(tmp_path / "runs.db")) as file, file:
        assert file.execute(count).fetchone()[0] == 1 + 1
    assert len(history.run(10).questions) == 2


def test_the_same_file_is_one_run_and_a_run_that_is_kept_again_is_another(history: History) -> None:
    run = kept_run(key="of a file")
    assert history.add(run).is_new
    assert history.add(run, again=False) == history_module.AddedRun(1, False)
    assert history.add(run).number == 2
    assert len(history) == 2


@pytest.mark.usefixtures("processes")
def test_two_writers_at_once_lose_nothing(history: History) -> None:
    place = history._path
    both = [writer(place, 8, 20, label) for label in ("one", "other")]
    said = [each.communicate(timeout=HANG) for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    numbers = [int(line) for out, _ in said for line in out.split()]
    assert sorted(numbers) == list(range(1, 17))
    assert [run.number for run in history.runs()] == list(range(1, 17))
    for number in numbers:
        assert len(history.run(number).questions) == len(history.run(number).documents or {}) == 20


def at_once(*works: Callable[[], object]) -> list[object]:
    """What each gives, or raises, all of them started together."""
    start = threading.Barrier(len(works))

    def one(work: Callable[[], object]) -> object:
        start.wait(HANG)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [each.result(HANG) for each in [pool.submit(one, work) for work in works]]


def test_the_same_run_added_at_once_is_one_run(history: History) -> None:
    history.add(kept_run())
    for key in ("a", "b", "c"):
        documents = {f"{key}{at}.md": key for at in range(30)}
        run = kept_run(key=key, documents=documents, label=key)
        adds = [partial(History(history._path).add, run, again=False) for _ in range(4)]
        found = at_once(*adds)
        assert len({each.number for each in found}) == 1  # type: ignore[attr-defined]
        assert sum(each.is_new for each in found) == 1  # type: ignore[attr-defined]
    twice = at_once(*[partial(History(history._path).add, kept_run(key="d")) for _ in range(4)])
    assert sorted(each.number for each in twice) == [5, 6, 7, 8]  # type: ignore[attr-defined]


def test_pruning_beside_a_writer_leaves_every_run_whole(history: History) -> None:
    """Both have the same documents and questions: what the one deletes, the other counts on."""
    last = history.add(kept_run()).number
    for _ in range(6):
        prune = partial(History(history._path).prune, numbers=[last])
        _, added = at_once(prune, partial(History(history._path).add, kept_run()))
        last = added.number  # type: ignore[attr-defined]
        run = History(history._path).run(last)
        assert len(run.questions) == 2
        assert run.documents == {"a.md": "1", "b.md": "2"}


def test_one_writer_at_a_time(history: History) -> None:
    """What was looked up stays true until the commit, on a server as in a file."""
    history.add(kept_run())
    other = History(history._path, wait=0.05)
    with history._database.writing() as statements:
        statements.rows("select number from runs")
        with pytest.raises(ChunkwiseError, match="try again"):
            other.add(kept_run())
        assert len(other) == 1, "readers need not wait"
    assert other.add(kept_run()).number == 2


@pytest.mark.usefixtures("processes")
def test_a_killed_process_loses_no_finished_run_and_leaves_no_half_one(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    finished: list[int] = []
    for lines in (1, 2, 3):
        process = writer(path, 10_000, 300)
        assert process.stdout
        for _ in range(lines):
            finished.append(int(process.stdout.readline()))
        # At once: the next run is being written now.
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate(timeout=HANG)
        finished += [int(line) for line in rest.split()]
    history = History(path)
    kept = [run.number for run in history.runs()]
    assert {*finished} <= {*kept}
    assert kept == list(range(1, len(kept) + 1))
    for number in kept:
        run = history.run(number)
        assert len(run.questions) == len(run.documents or {}) == len(run.scores["recall@5"]) == 300
    assert history.add(kept_run()).number == len(kept) + 1


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "runs.db"
    History(path).add(kept_run())
    yield path
    for each in (tmp_path, *tmp_path.iterdir()):
        each.chmod(each.stat().st_mode | stat.S_IWUSR | stat.S_IXUSR)


def test_a_locked_file_is_one_line(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as other, other:
        other.execute("begin immediate")
        with pytest.raises(HistoryProblem, match=r"is locked by another process.*try again"):
            History(file, wait=0.01).add(kept_run())
        assert len(History(file, wait=0.01)) == 1, "readers need not wait"


def test_a_file_of_another_version_is_left_alone(file: Path) -> None:
    with closing(sqlite3.connect(file)) as other, other:
        other.execute("pragma user_version = 99")
    before = file.read_bytes()
    for work in (lambda: History(file).add(kept_run()), lambda: History(file).runs()):
        with pytest.raises(HistoryProblem, match=r"has version 99"):
            work()
    assert file.read_bytes() == before


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("create table runs (number integer)")
    before = path.read_bytes()
    with pytest.raises(HistoryProblem, match="another program"):
        History(path).add(kept_run())
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", [b"no database at all" * 100, None])
def test_a_damaged_file_is_one_line(file: Path, damage: bytes | None) -> None:
    for each in file.parent.glob("runs.db-*"):
        each.unlink()
    whole = file.read_bytes()
    file.write_bytes(damage or whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(HistoryProblem, match=r"is damaged .*move it away"):
        History(file).add(kept_run())


def test_a_text_that_is_none_is_told_with_what_to_do(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("update runs set summary = cast(x'ff41' as text)")
    with pytest.raises(HistoryProblem, match=r"invalid UTF-8\); move it away"):
        History(file).runs()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("update runs set summary = '{' where number = 2", "run 2 .* damaged: summary is not JSON"),
        ("update runs set summary = replace(summary, '\"mean\": ', '\"mean\": \"x\", \"_\": ') where number = 2",
         "run 2 .* damaged: .*\\$.figures\\[...\\].mean"),
        ("update runs set rest = replace(rest, '[0.', '[7, 0.') where number = 2", "run 2 .* damaged: recall@5 has 3"),
        (
            "update runs set rest = replace(rest, '\"hits\": [', '\"hits\": [[[1]], ') where number = 2",
            "run 2 .* damaged",
        ),
    ],
)  # fmt: skip
def test_a_changed_row_is_told_with_its_run(file: Path, change: str, told: str) -> None:
    History(file).add(kept_run())
    with closing(sqlite3.connect(file)) as other, other:
        other.execute(change)
    with pytest.raises(HistoryProblem, match=told):
        History(file).run(2)
    assert History(file).run(1).number == 1


READER = """
import os, sys
from pathlib import Path
from chunkwise.base.errors import ChunkwiseError
from chunkwise.tracking.history import History
from tracking.made_runs import kept_run
if os.getuid() == 0:  # who may write everything
    os.setuid(65534)
history = History(Path(sys.argv[1]))
print(len(history.runs()))
try:
    history.add(kept_run())
except ChunkwiseError as error:
    print(error)
"""


@pytest.mark.usefixtures("processes")
def test_a_file_that_may_only_be_read_is_read(file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "runs.db"
        copy.write_bytes(file.read_bytes())
        copy.chmod(0o444)
        Path(folder).chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READER, str(copy)],
            capture_output=True,
            text=True,
            timeout=HANG,
            env=WITH_TESTS,
        )
        Path(folder).chmod(0o755)
    count, told = done.stdout.splitlines() or ["", done.stderr]
    assert count == "1"
    assert "cannot be written" in told
    assert "check the permissions of the file and its folder" in told


@pytest.mark.usefixtures("processes")
def test_a_full_disk_is_one_line_and_what_was_there_stays(file: Path) -> None:
    """A limit on the size of files is what a full disk is to a process."""
    code = (
        "import resource, sys; from pathlib import Path; from chunkwise.tracking.history import History;"
        "from tracking.made_runs import kept_run; from chunkwise.base.errors import ChunkwiseError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "big = kept_run({f'q{at}': 0.5 for at in range(5000)})\n"
        "try: History(Path(sys.argv[1])).add(big)\n"
        "except ChunkwiseError as error: print(error); sys.exit(7)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)],
        capture_output=True,
        text=True,
        timeout=HANG,
        env=WITH_TESTS,
    )
    assert done.returncode == 7, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert "cannot be" in done.stdout
    assert [run.number for run in History(file).runs()] == [1]


def test_a_full_disk_is_told_as_one(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def small(*words: Any, **more: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*words, **more)
        connection.execute("pragma max_page_count = 40")
        return connection

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(HistoryProblem, match="cannot be written: the disk is full"):
        History(file).add(kept_run({f"q{at}": 0.5 for at in range(5000)}))
    assert [run.number for run in History(file).runs()] == [1]


@pytest.mark.parametrize("name", ["folder", "file/inside"])
def test_a_place_that_cannot_be_one_is_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(HistoryProblem, match=r"the history .* cannot be"):
        History(tmp_path / name).add(kept_run())


def test_no_key_of_the_environment_is_ever_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_API_KEY", "sk-veryverysecret")
    monkeypatch.setenv("DB_PASSWORD", "hunter2hunter2")
    monkeypatch.setenv("OTHER_TOKEN", 'quo"ted\\secret')
    monkeypatch.setenv("PLAIN", "structure")
    told = "llm(key=sk-veryverysecret) at https://u:hunter2hunter2@host, structure"
    more = ['quo"ted\\secret', "postgresql://me:unknown-password@host/db"]
    run = kept_run(settings={"llm": told, "more": more}, label=told, details={"why": told})
    history = History(tmp_path / "runs.db")
    history.add(run)
    for each in tmp_path.iterdir():
        content = each.read_bytes()
        assert b"veryverysecret" not in content
        assert b"hunter2" not in content
        assert b"ted\\" not in content
        assert b"unknown-password" not in content
    kept = history.run(1).settings
    assert kept["llm"] == "llm(key=***) at https://u:***@host, structure"
    assert kept["more"] == ["***", "postgresql://me:***@host/db"]


def test_no_password_of_an_address_is_ever_kept(tmp_path: Path) -> None:
    addresses = (
        "https://host/v1?api_key=hidden-1", "postgresql://h/db?user=ann&password=hidden-2", "postgres:ann:hidden-3@h",
        "postgresql://ann:hid/den-4@h/db",
    )  # fmt: skip
    told = " and ".join(addresses)
    run = kept_run(
        {"q1": 1.0}, hits={"q1": addresses[0]}, documents=dict.fromkeys(addresses, "1"), label=told, source=told,
        settings={told: {"of": [told]}}, details={"why": [{told: told}]},
    )  # fmt: skip
    history = History(tmp_path / "runs.db")
    history.add(run)
    for each in tmp_path.iterdir():
        assert b"hid" not in each.read_bytes()
    kept = history.run(1)
    assert kept.label.startswith("https://host/v1?api_key=*** and postgresql://h/db?user=ann&")
    assert kept.documents
    assert kept.questions[0].hits[0].doc_id in kept.documents


def test_texts_of_questions_stay_as_they_are(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DB_PASSWORD", "postgres")
    monkeypatch.setenv("SORT_KEY", "administrator")
    monkeypatch.setenv("EMPTY_KEY", "")
    run = kept_run({"q1": 1.0}, label="of postgres", settings={"store": "postgres"})
    text = "Who is administrator of postgres, and what is ?key=value or a://b:c@d?"
    question = replace(run.questions[0], text=text, id="administrator")
    history.add(replace(run, questions=(question,)))
    kept = history.run(1)
    assert kept.questions == (question,)
    assert (kept.label, kept.settings) == ("of postgres", {"store": "postgres"})


def test_baselines_by_name_branch_and_kind(history: History) -> None:
    for kind in ("evaluate", "evaluate", "lint"):
        history.add(kept_run(kind=kind))
    assert history.baseline("evaluate") is None
    history.set_baseline(1)
    history.set_baseline(2, "main")
    history.set_baseline(3)
    assert [(each.name, each.kind, each.run) for each in history.baselines()] == [
        ("default", "evaluate", 1), ("default", "lint", 3), ("main", "evaluate", 2),
    ]  # fmt: skip
    for asked, number in (
        ({}, 1),
        ({"branch": "main"}, 2),
        ({"branch": "other"}, 1),
        ({"name": "main"}, 2),
    ):
        found = history.baseline("evaluate", **asked)
        assert found
        assert found.run == number
    assert history.baseline("evaluate", name="nobody") is None
    history.set_baseline(2)
    assert [each.run for each in history.baselines()] == [2, 3, 2]
    assert history.prunable("2999-01-01") == [history.runs()[0]]
    assert [run.number for run in history.prune("2999-01-01T00:00:00Z")] == [1]
    assert [each.run for each in history.clear_baselines("main")] == [2]
    with pytest.raises(UnknownName, match="no baseline 'main'; known: default"):
        history.clear_baselines("main")
    assert len(history.clear_baselines()) == 2
    assert history.baselines() == []


def test_nothing_is_forgotten_that_was_not_named(history: History) -> None:
    with pytest.raises(InvalidParameter, match=r"pass older=… .* or numbers=…"):
        history.prune()
    for when in ("2026-01-05T08:00:00Z", "2026-01-06T08:00:00Z"):
        history.add(kept_run(when=when))
    for wrong in ("90d", "526-01-01", "9", "", "last year"):
        with pytest.raises(InvalidParameter, match=r"older is .*as 2026-01-31"):
            history.prune(wrong)
    with pytest.raises(InvalidParameter, match=r"pass older=… .* or numbers=…"):
        history.prune()
    assert history.prune(numbers=[]) == []
    assert history.prune("0526-01-01") == []
    assert history.prune("2026-01-05T10:00:00+02:00") == []
    assert len(history) == 2
    assert [run.number for run in history.prune("2026-01-05T10:00:01+02:00")] == [1]


def test_what_is_not_there_is_told_with_what_is(tmp_path: Path) -> None:
    history = History(tmp_path / "runs.db")
    with pytest.raises(
        UnknownName, match=r"no run 41 .* empty; save a run: chunkwise evaluate … --save"
    ):
        history.run(41)
    assert not (tmp_path / "runs.db").exists(), "looking makes nothing"
    history.add(kept_run())
    with pytest.raises(UnknownName, match="it has 1 run, 1 to 1"):
        history.set_baseline(2)
    with pytest.raises(
        InvalidParameter, match="the baseline name is empty; expected a word such as main"
    ):
        history.set_baseline(1, " ")
    with pytest.raises(InvalidParameter, match="kind is 'x'; allowed: evaluate"):
        history.runs("x")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="mysql://"):
        History("mysql://host/db").runs()


def test_a_server_shows_no_password() -> None:
    history = History("postgresql://me:pass-word@127.0.0.1:1/db?connect_timeout=2")
    assert "pass-word" not in repr(history.place)
    with pytest.raises(ChunkwiseError) as told:
        history.add(kept_run())
    assert "pass-word" not in str(told.value)


def test_where_a_history_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.delenv(HISTORY_VARIABLE, raising=False)
    monkeypatch.chdir(inner)
    assert history_place() == inner / ".chunkwise" / "history.db"
    History(tmp_path / ".chunkwise" / "history.db").add(kept_run())
    assert history_place() == tmp_path / ".chunkwise" / "history.db"
    monkeypatch.setenv(HISTORY_VARIABLE, "postgresql://host/db")
    assert history_place() == "postgresql://host/db"
    assert history_place("mine.db") == "mine.db"


@pytest.mark.parametrize("end", ["repository", "home", "owner"])
def test_a_history_is_looked_for_no_further_than_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.delenv(HISTORY_VARIABLE, raising=False)
    History(tmp_path / ".chunkwise" / "history.db").add(kept_run())
    assert history_place(folder=inner) == tmp_path / ".chunkwise" / "history.db"
    if end == "repository":
        (tmp_path / "a" / ".git").mkdir()
    elif end == "home":
        monkeypatch.setenv("HOME", str(tmp_path / "a"))
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert history_place(folder=inner) == inner / ".chunkwise" / "history.db"
    if end != "owner":
        History(tmp_path / "a" / ".chunkwise" / "history.db").add(kept_run())
        assert history_place(folder=inner) == tmp_path / "a" / ".chunkwise" / "history.db"


def test_a_working_folder_that_is_gone_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(HISTORY_VARIABLE, raising=False)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(HistoryProblem, match=r"working folder no longer exists.*--history PLACE"):
        history_place()


def test_hits_have_text_only_where_it_was_kept(history: History) -> None:
    run = kept_run({"q1": 1.0})
    hits = (KeptHit("a.md", 0, 4, "lamp"), KeptHit("b.md", 2, 3))
    question = replace(run.questions[0], hits=hits)
    history.add(replace(run, questions=(question,)))
    assert history.run(1).questions[0].hits == hits


def test_a_run_is_plain_values_for_json(history: History) -> None:
    history.add(kept_run())
    told = json.loads(json.dumps(history.to_dict()))
    assert told["runs"][0]["figures"]["recall@5"]["mean"] == 0.75
    assert isinstance(history.run(1), KeptRun)
    assert json.loads(json.dumps(history.run(1).to_dict()))["scores"] == {"recall@5": [0.5, 1.0]}
