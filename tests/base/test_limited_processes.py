"""Work in processes with limits."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chunkwise.base import limited_processes as limited
from chunkwise.base import limits
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.limited_processes import (
    CannotBeSent,
    NotStarted,
    ProcessDied,
    readers,
)
from chunkwise.base.limits import VARIABLE, LimitExceeded, Limits, limits_of
from interrupting import listening
from tables import cases
from untimed import HANG

pytestmark = pytest.mark.skipif(os.name == "nt", reason="limits hold on POSIX alone")

_GENEROUS = Limits(4_000_000_000, 600.0)
_NARROW = Limits(300_000_000, 1.0)


def done(name: str, *args: object, limits: Limits = _GENEROUS, **answers: Any) -> list[Any]:
    return list(readers.outcomes(f"base.limited_work:{name}", args, limits, answers))


@pytest.fixture(autouse=True)
def none_is_left() -> Any:
    yield
    readers.end_all()
    assert not readers._all


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pid: int) -> None:
    until = time.monotonic() + HANG
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_alive(pid)


@pytest.mark.smoke
@pytest.mark.usefixtures("processes")
def test_outcomes_come_in_order_from_one_process_that_is_kept() -> None:
    assert done("numbers", 1000) == list(range(1000))
    assert done("numbers", 0) == []
    (first,), (second,) = done("pid"), done("pid")
    assert first == second != os.getpid()


@pytest.mark.usefixtures("processes")
@cases(
    "work, limits, told",
    [
        ("grow", _NARROW, "if you trust it: --limits"),
        ("ask_for_too_much", _GENEROUS, "needs more than 4GB of memory"),
        ("spin", _NARROW, "if you trust it: --limits"),
    ],
)  # fmt: skip
def test_what_takes_more_than_it_may_is_ended(work: str, limits: Limits, told: str) -> None:
    with pytest.raises(LimitExceeded, match=told):
        done(work, limits=limits)
    assert not readers._all
    assert done("numbers", 2) == [0, 1]  # by another process


@pytest.mark.usefixtures("processes")
def test_the_kernel_holds_it_to_its_time_should_nobody_look(monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(limited._Process, "_look", lambda _: None)
    with pytest.raises(LimitExceeded, match="more than 1 s of CPU time"):
        done("spin", limits=_NARROW)


@pytest.mark.usefixtures("processes")
def test_a_busy_machine_or_a_slow_disk_costs_nobody_a_file() -> None:
    assert done("wait", 1.5, limits=_NARROW) == ["waited"]


@pytest.mark.usefixtures("processes")
def test_time_is_that_of_one_outcome() -> None:
    assert done("slowly", limits=_NARROW) == list(range(8))


@pytest.mark.usefixtures("processes")
@cases(
    "how, told", [(0, "status 7"), (int(signal.SIGSEGV), "SIGSEGV"), (int(signal.SIGKILL), "SIGKILL")]
)  # fmt: skip
def test_a_process_that_dies_is_told_and_replaced(how: int, told: str) -> None:
    with pytest.raises(ProcessDied, match=told):
        done("die", how)
    assert done("numbers", 1) == [0]


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("is_seen", [True, False])
def test_one_that_was_ended_while_it_waited_costs_no_file(
    is_seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (kept,) = done("pid")
    os.kill(kept, signal.SIGKILL)
    wait_until_gone(kept)
    if not is_seen:  # it may end right after the look
        monkeypatch.setattr(limited._Process, "is_waiting", lambda _: True)
    assert done("numbers", 1) == [0]
    assert len(readers._all) == 1


@pytest.mark.usefixtures("processes")
def test_one_that_was_ended_while_it_started_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"__import__('pathlib').Path({str(tmp_path / 'mark')!r})"
    end_once = f"import os; {mark}.exists() or ({mark}.touch(), os.kill(os.getpid(), 9));"
    monkeypatch.setattr(limited, "_START", end_once + limited._START)
    assert done("numbers", 1) == [0]


@pytest.mark.usefixtures("processes")
def test_what_a_process_leaves_behind_when_it_dies_ends_with_it(tmp_path: Path) -> None:
    with pytest.raises(ProcessDied, match="status 7"):
        done("die_and_leave_one_behind", str(tmp_path / "pid"))
    wait_until_gone(int((tmp_path / "pid").read_text()))


@pytest.mark.usefixtures("processes")
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="it is read there")
def test_time_of_the_processes_it_waits_for_is_counted() -> None:
    with pytest.raises(LimitExceeded, match="more than 1 s of CPU time"):
        done("have_others_work", limits=_NARROW)


@pytest.mark.usefixtures("processes")
def test_what_is_closed_twice_closes_nobody_else_s_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert done("pid")
    (process,) = readers._all
    pipe = process._pipe
    closes: list[int] = []
    monkeypatch.setattr(limited.os, "close", closes.append)

    class ClosedMeanwhile:
        closed = False

        def close(self) -> None:
            if not closes:
                process.close()  # as another thread does

    process._pipe = ClosedMeanwhile()  # type: ignore[assignment]
    process.close()
    assert len(closes) == 1
    monkeypatch.undo()
    process._is_closed, process._pipe = False, pipe


@pytest.mark.usefixtures("processes")
def test_what_cannot_be_sent_is_done_here() -> None:
    for work, args, before in (("numbers", (lambda: 1,), 0), ("unfit", (), 64), ("crash", (), 0)):
        with pytest.raises(CannotBeSent) as caught:
            done(work, *args)
        assert caught.value.done == before


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("executable", ["/nowhere/python", "/bin/false"])
def test_where_no_process_can_be_started_it_is_tried_again_later(
    executable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "_next_start", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", executable)
        with pytest.raises(NotStarted, match=r"No such file|exited at startup"):
            done("pid")
    with pytest.raises(NotStarted, match="the last attempt just failed"):
        done("pid")
    monkeypatch.setattr(readers, "_next_start", 0.0)
    assert done("pid")


@pytest.mark.usefixtures("processes")
def test_functions_of_this_process_can_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert done("pid")  # it was started in another folder
    monkeypatch.chdir(tmp_path)
    seen = []

    def double(given: int) -> int:
        seen.append(given)
        return given * 2

    doubled, error, folder = done("asking", None, double=double)
    assert doubled == 42
    assert seen == [21, None]
    assert error.startswith("TypeError: unsupported operand")
    assert folder == os.getcwd()


@pytest.mark.usefixtures("processes")
def test_two_at_once_and_one_given_up() -> None:
    one = readers.outcomes("base.limited_work:spin", (), _GENEROUS, {})
    busy = next(one)
    assert done("pid") != [busy]
    one.close()
    wait_until_gone(busy)
    assert len(readers._all) == 1


@pytest.mark.usefixtures("processes")
def test_what_it_prints_is_no_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert done("printing") == [1]
    out, err = capfd.readouterr()
    assert (out, err.strip()) == ("", "a parser's chatter")


@pytest.mark.usefixtures("processes")
def test_a_copy_of_this_process_has_processes_of_its_own() -> None:
    (ours,) = done("pid")
    there, here = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(here, b"other" if done("pid") != [ours] else b"same!")
            readers.end_all()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(there, 5) == b"other"
    assert done("pid") == [ours]


@pytest.mark.usefixtures("processes")
@cases("ended", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_behind_however_the_caller_ends(ended: signal.Signals) -> None:
    script = (
        "from chunkwise.base.limited_processes import readers; from chunkwise.base.limits import Limits\n"
        "for found in readers.outcomes('base.limited_work:spin', (), Limits(None, None), {}): print(found, flush=True)"
    )
    path = os.pathsep.join((str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")))
    caller = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path}, preexec_fn=listening,
    )  # fmt: skip
    with caller:
        assert caller.stdout is not None
        busy = int(caller.stdout.readline())
        assert is_alive(busy)
        caller.send_signal(ended)
        caller.wait(HANG)
    wait_until_gone(busy)


def test_limits_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    usual = limits_of(None)
    assert usual.seconds == 300
    assert usual.memory
    assert usual.memory <= 4_000_000_000
    monkeypatch.setenv(VARIABLE, "")
    assert limits_of(None) == usual
    assert limits_of("memory=8GB") == Limits(8_000_000_000, 300)
    assert limits_of(" time = 2min , memory=512 MiB") == Limits(512 << 20, 120)
    assert limits_of("memory=none") == Limits(None, 300)
    assert limits_of("None").is_none
    monkeypatch.setenv(VARIABLE, "time=7")
    assert limits_of(None).seconds == 7
    assert limits_of("memory=1GB").seconds == 300


@cases(
    "text", ["4GB", "memory", "memory=", "memory=4XB", "memory=-1GB", "time=1e3", "speed=1", "memory=1kB", "time=0"]
)  # fmt: skip
def test_wrong_limits_are_told(text: str) -> None:
    with pytest.raises(InvalidParameter, match=r"^limits"):
        limits_of(text)


def test_a_container_has_less_than_its_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_OF_CONTAINER", (str(tmp_path / "max"), str(tmp_path / "none")))
    usual = limits._usual_memory()
    for text, expected in (("max\n", usual), ("600000000\n", 300_000_000), ("1000", 100_000_000)):
        (tmp_path / "max").write_text(text)
        assert limits._usual_memory() == min(expected, usual)


def test_where_there_is_no_limit_none_is_told() -> None:
    assert str(LimitExceeded.memory(Limits(None, 1.0))) == "needs more memory than available"
    assert "than the system allows" in str(LimitExceeded.time(Limits(1, None)))


@cases("given", ["", " ", ",", "memory=1GB,memory=2GB", "time=1m, TIME=2m"])
def test_no_limits_and_limits_twice_are_told(given: str) -> None:
    with pytest.raises(InvalidParameter, match=r"^limits is .*; (allowed: memory=)|which sets"):
        limits_of(given)


@pytest.mark.usefixtures("processes")
def test_a_process_whose_caller_was_killed_while_it_began_says_nothing() -> None:
    here, there = multiprocessing.Pipe()
    closes, closed = os.pipe()
    os.set_inheritable(closes, True)
    here.close()
    os.close(closed)
    words = [str(there.fileno()), str(closes), json.dumps(sys.path)]
    begun = subprocess.run(
        [sys.executable, "-P", "-c", limited._START, *words],
        pass_fds=[there.fileno(), closes], capture_output=True, text=True, timeout=HANG,
        start_new_session=True,
    )  # fmt: skip
    there.close()
    os.close(closes)
    assert begun.stderr == ""
