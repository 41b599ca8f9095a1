"""Processes that work for threads, and how many cores are ours."""

import os
import pickle
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import pytest

from chunkwise.base.cores import cores
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.user_code import run_file
from chunkwise.base.workers import WorkerDied, Workers, interrupts_held
from tables import cases
from untimed import HANG


class UnfitToTravel(Exception):
    """Cannot be made from its arguments again."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def work(given: object) -> object:
    """What a test asks for; here, since a process imports it by its name."""
    match given:
        case "pid":
            return os.getpid()
        case "environment":
            return os.environ.get("PYTHONSAFEPATH")
        case "die":
            os._exit(1)
        case "lambda":
            return lambda: None
        case "unfit":
            raise UnfitToTravel("left", "right")
        case "foreseen":
            raise InvalidParameter("max_tokens is 0")
        case "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
        case "large":
            return b"x" * (64 << 20)
        case "sleep":
            time.sleep(3600)
        case _:
            return [given, 1 / 0]
    return given


def work_with(_: object, given: object) -> object:
    return work(given)


@pytest.mark.usefixtures("processes")
def test_results_errors_and_interrupts() -> None:
    workers = Workers(2, work)
    try:
        assert active_children() == []  # none is started before it is needed
        pids = {workers.submit("pid").result() for _ in range(2)}
        assert len(active_children()) == 2
        assert os.getpid() not in pids
        assert workers.submit("interrupt").result() == "interrupt"
        with pytest.raises(InvalidParameter, match="max_tokens is 0"):
            workers.submit("foreseen").result()
        with pytest.raises(ZeroDivisionError) as caught:
            workers.submit("anything").result()
        assert "in work" in caught.value.__notes__[0]
        with pytest.raises(ChunkwiseError, match="UnfitToTravel in a worker process: leftright"):
            workers.submit("unfit").result()
        with pytest.raises((pickle.PicklingError, AttributeError)):
            workers.submit("lambda").result()
        assert workers.submit("pid").result() in pids
    finally:
        workers.stop()
    assert active_children() == []


@pytest.mark.usefixtures("processes")
def test_a_process_that_dies_is_told_and_replaced() -> None:
    workers = Workers(1, work)
    try:
        for _ in range(2):
            with pytest.raises(WorkerDied, match=r"a worker process died \(status 1\)"):
                workers.submit("die").result()
            assert workers.submit("pid").result() != os.getpid()
        assert len(active_children()) == 1
    finally:
        workers.stop()
    assert active_children() == []


@pytest.mark.usefixtures("processes")
def test_what_cannot_be_sent_costs_no_process() -> None:
    workers = Workers(1, work)
    try:
        for _ in range(3):
            with pytest.raises(ChunkwiseError, match=r"cannot be sent.*lock.*metadata.*one job"):
                workers.submit(Lock()).result(HANG)
        assert workers.submit("pid").result(HANG) != os.getpid()
    finally:
        workers.stop()


@pytest.mark.usefixtures("processes")
def test_many_that_ask_at_once_while_processes_die_get_no_more_than_asked_for() -> None:
    workers = Workers(2, work)
    given = ["pid", "die"] * 6
    try:
        with ThreadPoolExecutor(len(given)) as threads:
            asked = list(threads.map(workers.submit, given))
        died = [isinstance(each.exception(HANG), WorkerDied) for each in asked]
        assert died == [False, True] * 6
        assert len(active_children()) <= 2
    finally:
        workers.stop()
    assert active_children() == []


@pytest.mark.usefixtures("processes")
def test_the_environment_is_as_it_was_here_and_there() -> None:
    before = dict(os.environ)
    workers = Workers(1, work)
    try:
        assert workers.submit("environment").result(HANG) == before.get("PYTHONSAFEPATH")
    finally:
        workers.stop()
    assert dict(os.environ) == before


class DiesWhenUnpacked:
    """As a process does that cannot import the script that began it."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (1,)


@pytest.mark.usefixtures("processes")
def test_a_process_that_cannot_start_is_told_with_what_to_do() -> None:
    workers = Workers(1, partial(work_with, DiesWhenUnpacked()))
    try:
        with pytest.raises(ChunkwiseError, match=r"died before it had started.*__main__"):
            workers.submit("pid").result()
    finally:
        workers.stop()


@pytest.mark.usefixtures("processes")
@cases("given", ["sleep", "large"])
def test_what_is_given_up_keeps_nobody_waiting(given: str) -> None:
    workers = Workers(2, work)
    try:
        assert workers.submit("pid").result()
        asked = [workers.submit(given) for _ in range(6)]
        time.sleep(0.1)
    finally:
        workers.stop()  # or it takes an hour
    assert all(future.done() for future in asked)
    assert active_children() == []


@pytest.mark.skipif(os.name == "nt", reason="signals are held on POSIX alone")
def test_an_interrupt_that_is_held_comes_afterwards() -> None:
    told: list[str] = []
    before = signal.signal(signal.SIGINT, lambda *_: told.append("interrupt"))
    over = Event()
    other = Thread(target=over.wait)  # it takes the signal where the main thread does not
    other.start()
    try:
        with interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            told.append("done")
        told.append("after")
        signal.raise_signal(signal.SIGINT)
    finally:
        over.set()
        other.join()
        signal.signal(signal.SIGINT, before)
    assert told == ["done", "interrupt", "after", "interrupt"]


@pytest.mark.usefixtures("processes")
def test_a_thread_may_hold_interrupts_too() -> None:
    with ThreadPoolExecutor(1) as threads:
        workers = Workers(1, work)
        assert threads.submit(lambda: workers.submit("pid").result()).result() != os.getpid()
        workers.stop()


@pytest.mark.usefixtures("processes")
def test_what_a_file_of_the_user_defines_can_be_sent(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("class Doubled:\n    def __call__(self, given):\n        return 2 * given\n")
    made = run_file(file, 1).Doubled()
    workers: Workers[int, int] = Workers(1, made)
    try:
        assert workers.submit(21).result() == 42
    finally:
        workers.stop()


DOUBLED = "class Doubled:\n    def __call__(self, given):\n        return 2 * given\n"


def _file(tmp_path: Path, text: str, name: str = "mine.py") -> Path:
    file = tmp_path / name
    file.write_text(text)
    return file


@pytest.mark.usefixtures("processes")
def test_a_file_that_changed_meanwhile_is_run_as_it_was(tmp_path: Path) -> None:
    """Results of one run come from one version of a file, whatever its writer saves while it runs."""
    file = _file(tmp_path, DOUBLED)
    made = run_file(file, 1).Doubled()
    file.write_text(DOUBLED.replace("2 *", "3 *"))
    workers: Workers[int, int] = Workers(1, made)
    try:
        assert workers.submit(21).result() == 42
        file.unlink()
        os.kill(next(iter(workers._processes.values())).pid or 0, signal.SIGKILL)
        with pytest.raises(WorkerDied):
            workers.submit(21).result()
        assert workers.submit(21).result() == 42  # one that stands in for it
    finally:
        workers.stop()


@pytest.mark.usefixtures("processes")
def test_a_worker_that_looks_a_file_up_finds_the_version_of_its_parent(tmp_path: Path) -> None:
    text = (
        "from pathlib import Path\nfrom chunkwise.base.user_code import run_file\n"
        "class Looking:\n    def __call__(self, given):\n"
        "        return run_file(Path(given), 99).Doubled()(21)\n"
    )
    file = _file(tmp_path, DOUBLED)
    run_file(file, 1)
    file.write_text(DOUBLED.replace("2 *", "3 *"))
    workers: Workers[str, int] = Workers(1, run_file(_file(tmp_path, text, "look.py"), 1).Looking())
    try:
        assert workers.submit(str(file)).result() == 42
    finally:
        workers.stop()


@pytest.mark.usefixtures("processes")
def test_a_worker_runs_no_file_that_its_work_does_not_name(tmp_path: Path) -> None:
    mark = tmp_path / "run"
    other = _file(
        tmp_path, f"with open({str(mark)!r}, 'a') as file:\n    file.write('x')\n", "other.py"
    )
    run_file(other, 1)
    workers: Workers[int, int] = Workers(1, run_file(_file(tmp_path, DOUBLED), 1).Doubled())
    try:
        assert workers.submit(21).result() == 42
    finally:
        workers.stop()
    assert mark.read_text() == "x"  # by this process alone


@pytest.mark.usefixtures("processes")
def test_a_file_that_does_not_run_in_a_worker_is_told(tmp_path: Path) -> None:
    only_here = (
        f"import os\nif os.getpid() != {os.getpid()}:\n    raise RuntimeError('only there')\n"
    )
    file = _file(tmp_path, only_here + DOUBLED)
    workers: Workers[int, int] = Workers(1, run_file(file, 1).Doubled())
    try:
        for _ in range(2):
            with pytest.raises(
                ChunkwiseError, match=r"mine\.py cannot be run: RuntimeError: only there"
            ):
                workers.submit(21).result()
    finally:
        workers.stop()
    given: Workers[Any, Any] = Workers(1, work)
    try:
        with pytest.raises(ChunkwiseError, match="only there"):
            given.submit(run_file(file, 1).Doubled()).result()
        assert given.submit("pid").result() != os.getpid()
    finally:
        given.stop()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process")
def test_only_the_cores_we_are_allowed_are_counted() -> None:
    allowed = os.sched_getaffinity(0)
    assert cores() == len(allowed)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_without_such_a_call_all_cores_are_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert cores() == 1
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    assert cores() == 6
