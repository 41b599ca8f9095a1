"""`chunkwise monitor` as a user runs it: kept, compared, alerted; again and again; whatever is wrong with a history."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest

from chunkwise.tracking import HISTORY_VARIABLE, notify
from chunkwise.tracking import history as history_module
from chunkwise.tracking import watch as tracking_watch
from chunkwise.tracking.database import HistoryProblem
from chunkwise.tracking.history import History
from chunkwise.tracking.watch import repeat_every
from cli.in_process import Run, here, run_without_reader
from cli.small_corpus import write_corpus, write_questions
from interrupting import listening
from tracking.receivers import mail_receiver, web_receiver
from untimed import HANG

__all__ = ["here"]

WORDS = ("--retriever", "bm25", "--metrics", "recall@1000t,recall@5")
WATCH = ("monitor", "docs", "--test-queries", "queries.json", *WORDS)
WORSE = ("-s", "tokens(max_tokens=9)")


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HISTORY_VARIABLE, raising=False)
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(notify, "PAUSE", 0.0)
    write_corpus(tmp_path / "docs")
    write_questions(tmp_path / "queries.json")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / ".chunkwise" / "history.db"


def test_the_first_run_is_what_later_ones_are_held_against(here: Run, place: Path) -> None:
    first = here(*WATCH)
    assert first.returncode == 0
    assert f"saved as run 1 in {place}" in first.stderr
    assert "run 1 is the first" in first.stdout
    assert "chunkwise runs baseline set 1" in " ".join(first.stdout.split())
    second = here(*WATCH)
    assert second.returncode == 0
    assert "Run 2 against run 1" in second.stdout
    assert "no significant change" in second.stdout
    assert "learning: 1 of 8 stable runs" in second.stdout
    assert [run.kind for run in History(place).runs()] == ["evaluate", "evaluate"]
    assert not list(place.parent.glob("watch-*"))


def test_a_fall_alerts_until_it_is_acknowledged(here: Run, tmp_path: Path, place: Path) -> None:
    here(*WATCH, "-q")
    bad = here(*WATCH, *WORSE, "--alert", "exit,file:alerts.jsonl")
    assert bad.returncode == 4
    told = " ".join(bad.stdout.split())
    assert re.search(r"Alert 1 ▼ recall@\S+ fell: 100% → \d+%, −\d", told)
    assert "Since run 2, against run 1" in told
    assert (
        "Likeliest cause: strategy structure(max_tokens=400, overlap=0) → tokens(max_tokens=9, overlap=0) in run 2"
        in told
    )
    assert "-s 'structure(max_tokens=400, overlap=0)'" in told
    rows = [json.loads(line) for line in (tmp_path / "alerts.jsonl").read_text().splitlines()]
    assert [row["alert"]["number"] for row in rows] == [1, 2]
    assert "no longer found" in rows[0]["text"]
    assert here(*WATCH, *WORSE, "-q").returncode == 4
    listed = here("monitor", "alerts")
    assert listed.stdout.count("  open   recall@") == 2
    for number in (1, 2):
        acked = here("monitor", "ack", number)
        assert acked.returncode == 0
        assert "acknowledged: no new alert until" in acked.stderr
    quiet = here(*WATCH, *WORSE)
    assert quiet.returncode == 0
    assert "Alert 1 is acknowledged" in quiet.stdout
    assert here(*WATCH, "-q").returncode == 0
    assert "no open alerts in" in here("monitor", "alerts").stderr
    every = json.loads(here("monitor", "alerts", "--all", "--json").stdout)
    assert [each["state"] for each in every["alerts"]] == ["closed", "closed"]
    assert here("monitor", "ack", 9).returncode == 2
    assert b"is kept by the" not in place.read_bytes()


def test_alerts_change_the_status_only_where_exit_is_named(here: Run, tmp_path: Path) -> None:
    here(*WATCH, "-q")
    done = here(*WATCH, *WORSE, "-q", "--alert", "file:a.jsonl")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "a.jsonl").exists()


def test_alerts_reach_a_webhook_and_a_mailbox(here: Run) -> None:
    here(*WATCH, "-q")
    with web_receiver() as web, mail_receiver() as mail:
        mailbox = f"mailto://127.0.0.1:{mail.port}?from=watch@example.org&to=team@example.org"
        done = here(*WATCH, *WORSE, "--alert", f"webhook:{web.url},{mailbox}")
    assert done.returncode == 0, done.stderr
    assert [sorted(json.loads(body))[0] for body in web.bodies] == ["alerts"]
    message = message_from_bytes(mail.mails[0], policy=policy.default)
    assert message["Subject"].startswith("recall@")
    assert "secret-path" not in done.stderr + done.stdout


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("answers", [(500,), (None,)])
def test_a_webhook_that_fails_or_hangs_is_told_and_changes_no_status(
    here: Run, monkeypatch: pytest.MonkeyPatch, answers: tuple[int | None, ...]
) -> None:
    monkeypatch.setattr(notify, "TIME_LIMIT", 0.3)
    here(*WATCH, "-q")
    with web_receiver(*answers) as web:
        ways = f"webhook:{web.url}"
        done = here(*WATCH, *WORSE, "-q", "--alert", ways)
        assert done.returncode == 0
        assert "chunkwise: cannot send an alert: webhook:http://127.0.0.1:" in done.stderr
        assert "secret-path" not in done.stderr
        assert here(*WATCH, *WORSE, "-q", "--alert", f"exit,{ways}").returncode == 4
        assert here(*WATCH, *WORSE, "-q", "--alert", ways, "--strict-alerts").returncode == 3
        good = here(*WATCH, "-q", "--alert", ways, "--strict-alerts")
    assert (good.returncode, good.stderr) == (0, "")


def test_what_is_wrong_with_the_options_is_told_before_any_work(here: Run, place: Path) -> None:
    for words, told in (
        (("--alert", "pager:me"), "unknown channel 'pager'"),
        (("--alert", "env:TEAM_CHAT"), "TEAM_CHAT is not set"),
        (("--tolerance", "2 points"), "expected a share such as 0.02 or 2%"),
        (("--every", "soon"), "every is"),
        (("--every", "0d"), "every is"),
        (("--every", "1d", "--dry-run"), "exclude each other"),
        (("--watched", "recal@5"), "'recal@5'"),
        (("--alert-template", "pager=x"), "'pager=x' is not FORM=FILE"),
    ):
        done = here(*WATCH, *words)
        assert done.returncode == 2, words
        assert told in done.stderr, done.stderr
    missing = here(*WATCH, "--live", "none.jsonl")
    assert missing.returncode == 1
    assert "cannot read none.jsonl" in missing.stderr
    assert not place.exists()


@pytest.mark.usefixtures("large_inputs")
def test_the_baseline_of_a_name(here: Run, place: Path) -> None:
    here(*WATCH, "-q")
    here(*WATCH, *WORSE, "-q", "--baseline", "small")
    assert here(*WATCH, *WORSE, "-q", "--baseline", "small").returncode == 0
    here("runs", "baseline", "set", 1, "--name", "small")
    assert here(*WATCH, *WORSE, "-q", "--baseline", "small").returncode == 4
    done = here(*WATCH, *WORSE, "--baseline", "small", "--tolerance", "99%", "--json")
    found = json.loads(done.stdout)
    assert (found["reference"], found["name"], found["notes"][0][:14]) == (
        1,
        "small",
        "control charts",
    )


def test_what_is_private_in_live_questions_is_shown_nowhere(here: Run, tmp_path: Path) -> None:
    asked = [
        "my password is hunter2secret and mail bob@example.org what now",
        "x y " * 300,
        "???",
        "Which lamp?",
    ]
    (tmp_path / "live.jsonl").write_text("\n".join(json.dumps({"query": each}) for each in asked))
    done = here(*WATCH, "--live", "live.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["live"]["questions"] == 2
    assert "skipped 2 live questions" in done.stderr
    assert "bob@example.org" not in done.stdout + done.stderr
    assert "[email]" in done.stdout


def test_live_questions_are_held_against_the_test_set(here: Run, tmp_path: Path) -> None:
    asked = [{"query": f"Who keeps the lamp numbered {n}?"} for n in range(5)]
    asked += [{"query": "Quantum chromodynamics lattice"}, {"query": " "}]
    (tmp_path / "live.jsonl").write_text("\n".join(map(json.dumps, asked)))
    done = here(*WATCH, "--live", "live.jsonl", "--json")
    assert done.returncode == 3, done.stderr
    live = json.loads(done.stdout)["live"]
    assert live["questions"] == 6
    assert live["unlike"] == pytest.approx(1 / 6)
    assert live["found_nothing"] == pytest.approx(1 / 6)
    assert live["examples"][0]["text"] == asked[5]["query"]
    shown = here(*WATCH, "--live", "live.jsonl").stdout
    assert "17% of 6 live questions are unlike any test question" in shown


def test_changed_documents_are_drift(here: Run, tmp_path: Path) -> None:
    here(*WATCH, "-q")
    (tmp_path / "docs" / "more.md").write_text("# More\n\nOf the same kind, and of no use.\n" * 30)
    done = here(*WATCH)
    assert "documents 4 → 5 (+25%)" in done.stdout
    assert "documents added, changed or removed: 20%" in " ".join(done.stdout.split())


def _locked(place: Path) -> Callable[[], None]:
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("begin immediate")
    return connection.close


def _damaged(place: Path) -> Callable[[], None]:
    place.write_bytes(b"no database" * 500)
    return lambda: None


def _newer(place: Path) -> Callable[[], None]:
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("pragma user_version = 99")
    return lambda: None


def _a_folder(place: Path) -> Callable[[], None]:
    for each in place.parent.iterdir():
        each.unlink()
    place.mkdir()
    return lambda: None


def _opened_with(pragma: str) -> Callable[[], None]:
    """Whoever opens the file from here on has it so; root may write wherever rights say no."""
    connect = sqlite3.connect

    def limited(*words: Any, **more: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*words, **more)
        connection.execute(pragma)
        return connection

    sqlite3.connect = limited  # type: ignore[assignment]

    def mended() -> None:
        sqlite3.connect = connect  # type: ignore[assignment]

    return mended


def _full(place: Path) -> Callable[[], None]:
    return _opened_with("pragma max_page_count = 1")


def _read_only(place: Path) -> Callable[[], None]:
    return _opened_with("pragma query_only = 1")


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (_locked, "is locked"), (_damaged, "is damaged"), (_newer, "another version"), (_a_folder, "cannot be"),
        (_full, "the disk is full"), (_read_only, "check the permissions of the file and its folder"),
    ],
)  # fmt: skip
def test_a_history_that_cannot_be_opened_is_one_line_before_any_work(
    here: Run, place: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], Callable[[], None]], told: str
) -> None:  # fmt: skip
    monkeypatch.setattr(history_module, "WAIT", 0.1)
    here(*WATCH, "-q")
    mended = harm(place)
    try:
        done = here(*WATCH)
    finally:
        mended()
    assert done.returncode == 1
    assert not done.stdout
    assert told in done.stderr


@pytest.mark.usefixtures("large_inputs")
def test_the_page_has_the_chart(here: Run, tmp_path: Path) -> None:
    for _ in range(3):
        here(*WATCH, "-q")
    done = here(*WATCH, *WORSE, "-q", "--html", "watch.html")
    assert done.returncode == 4
    text = (tmp_path / "watch.html").read_text()
    assert "alert 1" in text
    assert "Alert 1, open: since run 4, against run 1." in text


def test_results_are_written_where_they_are_asked_for(here: Run, tmp_path: Path) -> None:
    assert here(*WATCH, "-q", "-o", "out.json").returncode == 0
    assert json.loads((tmp_path / "out.json").read_text())["summary"]


def test_help_is_that_of_the_command_itself(here: Run) -> None:
    text = here("monitor", "--help").stdout
    assert "--tolerance" in text
    assert "monitor [OPTIONS] [SOURCE]" in text
    assert "ALERT" in here("monitor", "ack", "--help").stdout


class Clock:
    """Time that passes while somebody sleeps, and can be set."""

    def __init__(self) -> None:
        self.steady = 0.0
        self.wall = datetime(2026, 1, 5, 8, tzinfo=UTC)
        self.then: list[Callable[[], None]] = []

    def sleep(self, seconds: float) -> None:
        self.steady += seconds
        self.wall += timedelta(seconds=seconds)
        if self.then:
            self.then.pop(0)()

    def repeat(self, every: float, last: datetime | None, rounds: int) -> list[float]:
        """The seconds after which each run began."""
        runs: list[float] = []
        repeat_every(
            lambda: runs.append(self.steady), every, last, now=lambda: self.wall, sleep=self.sleep,
            rounds=rounds,
        )  # fmt: skip
        return runs


WEEK = 7 * 86_400.0


def test_a_watch_that_stays_runs_at_once_and_then_in_its_time() -> None:
    assert Clock().repeat(WEEK, None, 3) == [0, WEEK, 2 * WEEK]


def test_missed_runs_are_made_up_for_once() -> None:
    clock = Clock()
    assert clock.repeat(WEEK, clock.wall - timedelta(weeks=5), 2) == [0, WEEK]


def test_a_run_that_is_not_due_yet_waits() -> None:
    clock = Clock()
    assert clock.repeat(WEEK, clock.wall - timedelta(days=6), 2) == [86_400, 86_400 + WEEK]


def test_a_clock_that_is_set_back_makes_nobody_wait_longer() -> None:
    clock = Clock()
    assert clock.repeat(WEEK, clock.wall + timedelta(days=900), 2) == [WEEK, 2 * WEEK]
    clock = Clock()
    clock.then = [lambda: setattr(clock, "wall", clock.wall - timedelta(days=365))]
    late = WEEK + tracking_watch._LOOK
    assert clock.repeat(WEEK, clock.wall, 2) == [late, late + WEEK]


def test_a_machine_that_slept_runs_what_is_due_once() -> None:
    clock = Clock()
    clock.then = [lambda: setattr(clock, "wall", clock.wall + timedelta(weeks=3))]
    assert clock.repeat(WEEK, clock.wall, 2) == [tracking_watch._LOOK, tracking_watch._LOOK + WEEK]


@pytest.mark.usefixtures("processes")
def test_a_watch_that_stays_ends_cleanly(tmp_path: Path, place: Path) -> None:
    """The first one runs and waits for the next week; the second finds that nothing is due yet."""
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(
            [sys.executable, "-m", "chunkwise", *WATCH, "--every", "1w"], cwd=tmp_path, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=listening,
        )  # fmt: skip
        try:
            assert process.stderr is not None
            while "next run at" not in (line := process.stderr.readline()):
                assert line
            process.send_signal(number)
            _, said = process.communicate(timeout=HANG)
        finally:
            process.kill()
        assert process.returncode == 128 + number
        # A signal amid the writing of the line that was read has it written again.
        lines = [each for each in said.split("\n") if each and "next run at" not in each]
        assert lines == ["chunkwise: stopped"]
    assert len(History(place)) == 1


def test_a_form_of_a_teams_own_is_sent_and_the_usual_one_where_it_fails(
    here: Run, tmp_path: Path
) -> None:
    (tmp_path / "own.j2").write_text('{"msg": {{ subject|tojson }}}', "utf-8")
    (tmp_path / "bad.j2").write_text("{{ nobody }}", "utf-8")
    here(*WATCH, "-q")
    with web_receiver() as web:
        for form in ("own", "bad"):
            ways = ("--alert", f"webhook:{web.url}", "--alert-template", f"webhook={form}.j2")
            done = here(*WATCH, *WORSE, "-q", *ways)
            assert done.returncode == 0
    assert [sorted(json.loads(body))[0] for body in web.bodies] == ["msg", "alerts"]
    assert "alerts are sent without the template: the template for webhook" in done.stderr


def test_figures_are_handed_on(here: Run, tmp_path: Path) -> None:
    done = here(*WATCH, "--prometheus", "figures.prom")
    assert done.returncode == 0, done.stderr
    assert "metrics sent to Prometheus" in done.stderr
    assert 'metric="recall@1000t"' in (tmp_path / "figures.prom").read_text("utf-8")


def test_documents_that_changed_since_a_baseline_that_was_only_evaluated(
    here: Run, tmp_path: Path
) -> None:
    here("evaluate", *WATCH[1:], "-q", "--save")
    here("runs", "baseline", "set", 1)
    (tmp_path / "docs" / "more.md").write_text("# More\n\nA new document about boats.\n", "utf-8")
    view = json.loads(here(*WATCH, "--json", "-q").stdout)
    assert {"documents", "tokens", "documents added, changed or removed"} <= {
        each["name"] for each in view["corpus"]
    }


def test_a_question_whose_passage_is_gone_is_named_in_what_a_program_reads(
    here: Run, tmp_path: Path
) -> None:
    here(*WATCH, "-q")
    file = min((tmp_path / "docs").iterdir())
    file.write_text("# Empty\n\nNothing is left of it.\n", "utf-8")
    done = here(*WATCH, "--json", "-q", "--alert", "file:a.jsonl")
    view = json.loads(done.stdout)
    assert done.returncode == 3
    assert view["left_out"]
    assert any("30 now and 40 before" in note for note in view["notes"])


def test_a_reference_that_cannot_be_read_any_more_silences_no_alert(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(*WATCH, "-q")
    real = History.run
    add_watched = History.add_watched

    def gone(history: History, *given: Any) -> Any:
        found = add_watched(history, *given)
        monkeypatch.setattr(
            History, "run", lambda own, number: raising() if number == 1 else real(own, number)
        )
        return found

    def raising() -> Any:
        raise HistoryProblem("the disk is gone")

    monkeypatch.setattr(History, "add_watched", gone)
    done = here(*WATCH, *WORSE, "-q", "--alert", "exit,file:alerts.jsonl")
    assert done.returncode == 4
    assert "cannot compare with run 1: the disk is gone" in done.stderr
    assert (tmp_path / "alerts.jsonl").exists()


def test_a_name_that_nobody_gave_is_told(here: Run) -> None:
    here(*WATCH, "-q")
    done = here(*WATCH, "-q", "--baseline", "relase")
    assert "becomes it; existing" in done.stderr
    assert "existing: default" in done.stderr


def test_runs_that_have_nothing_in_common_are_no_success(here: Run) -> None:
    here(*WATCH, "-q")
    words = ("monitor", "docs", "--test-queries", "queries.json", "--retriever", "bm25", "-k", "3")
    done = here(*words, "--metrics", "recall@3")
    assert done.returncode == 3
    assert "no scored metric in common" in done.stdout


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("what", ["monitor", "evaluate"])
def test_a_reader_who_leaves_changes_no_status(here: Run, tmp_path: Path, what: str) -> None:
    here(*WATCH, "-q")
    gate = ("--fail-under", "recall@5=0.99") if what == "evaluate" else ()
    done = run_without_reader(tmp_path, what, *WATCH[1:], *WORSE, *gate)
    assert done.returncode == 4, done.stderr


@pytest.mark.usefixtures("processes")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a disk that is full")
@pytest.mark.parametrize("what", ["monitor", "evaluate"])
def test_a_full_disk_behind_the_output_loses_neither_run_nor_alert(
    here: Run, tmp_path: Path, place: Path, what: str
) -> None:
    here(*WATCH, "-q")
    own = ("--alert", "file:alerts.jsonl") if what == "monitor" else ("--save",)
    command = [sys.executable, "-m", "chunkwise", what, *WATCH[1:], *WORSE, *own]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, timeout=HANG
        )
    assert done.returncode == 1
    assert b"cannot write to standard output" in done.stderr
    assert len(History(place).runs()) == 2
    assert (tmp_path / "alerts.jsonl").exists() == (what == "monitor")


def test_no_figure_is_cut_short_on_a_narrow_terminal(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    here(*WATCH, "-q")
    shown = here(*WATCH, *WORSE, "--alert", "file:a.jsonl").stdout
    (row,) = re.findall(r"^recall@5.*$", shown, re.MULTILINE)
    assert re.search(r" 100% +\d+% +−\d+\.\d pts \(−\d+\.\d to −\d+\.\d\)", row), row
