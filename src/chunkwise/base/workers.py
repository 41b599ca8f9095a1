"""Processes that work for threads of this one: results are waited for like any others, and can be given up at once."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from queue import SimpleQueue
from threading import RLock, current_thread, main_thread
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.spill_and_full_disk import spill
from chunkwise.base.user_code import UserFile, expect_files, files_run

_NOT_STARTED = (
    "a worker process died before it had started, perhaps for lack of memory: run again with one job; a script that "
    'uses several needs its code under `if __name__ == "__main__":`'
)
_READY = b"ready"
_starting = RLock()
"""Held while the processes of a group change, or the environment that a new one gets."""
_SAFE_PATH = "PYTHONSAFEPATH"


class WorkerDied(ChunkwiseError):
    """A process ended at work, which is lost; another stands in for it."""


Given = TypeVar("Given")
Found = TypeVar("Found")


_Taken = TypeVar("_Taken", contravariant=True)

OneByOne = Callable[[Any, Any], Iterator[object]]
"""Of the work that a process was sent, and of what it is given: a method of that work."""


class WorkerGroup(Protocol[_Taken, Found]):
    """Who does one kind of work: processes of this machine, or of a cluster."""

    @property
    def at_once(self) -> int:
        """How much is worth having under way: what bounds memory."""

    def submit(self, given: _Taken) -> Future[Found]:
        """What becomes of it; where the process ended at it, `WorkerDied`."""

    def spill(self, one_by_one: OneByOne, given: Any, path: Path) -> Future[None]:
        """The same, one piece after the other, in a file for `read_spilled`; nobody holds more than some of them."""

    def stop(self) -> None:
        """End what is under way."""


class Cluster(Protocol):
    """Machines that work for this one."""

    @property
    def cores(self) -> int:
        """How many can work at the same time."""

    def workers(
        self, work: Callable[[Given], Found], stage: str, *, accelerated: bool = False
    ) -> WorkerGroup[Given, Found]:
        """Workers that each get `work` once; `stage` is its name where the cluster shows what it does.

        `accelerated`: each needs a share of an accelerator.
        """


Jobs = int | Cluster
"""Who shares the work: so many processes of this machine, or a cluster."""


def check_jobs(jobs: Jobs) -> None:
    if isinstance(jobs, bool) or not (isinstance(jobs, int) or hasattr(jobs, "workers")):
        raise InvalidParameter(
            f"jobs is {jobs!r}; a number of processes is needed, or a cluster: chunkwise.options.RayCluster()"
        )
    if isinstance(jobs, int) and jobs < 1:
        raise InvalidParameter(f"jobs is {jobs}; the least allowed is 1")


def count_of(jobs: Jobs) -> int:
    """How many work at the same time."""
    return jobs if isinstance(jobs, int) else jobs.cores


def begin_workers(
    jobs: Jobs, work: Callable[[Given], Found], stage: str, *, accelerated: bool = False
) -> WorkerGroup[Given, Found]:
    """Those that `jobs` says; `stop` ends them."""
    if isinstance(jobs, int):
        return Workers(jobs, work)
    return jobs.workers(work, stage, accelerated=accelerated)


_AHEAD = 3
"""Pieces of work a process may be ahead of the reader."""


class Workers(Generic[Given, Found]):
    """Up to `count` processes that each call `work`, which is sent to them once.

    A thread and a pipe of its own for each: a pool of the standard library has one queue for all, and waits forever
    for the rest of what a process was writing there when it was ended.
    """

    def __init__(self, count: int, work: Callable[[Given], Found]) -> None:
        self._count = count
        self._work = work
        self._threads = ThreadPoolExecutor(count)
        self._processes: dict[Connection, BaseProcess] = {}
        self._idle: SimpleQueue[Connection] = SimpleQueue()
        self._started: set[Connection] = set()
        """Those whose processes were heard of."""
        self._stopped = False

    @property
    def at_once(self) -> int:
        """How much is worth having under way."""
        return self._count * _AHEAD

    def submit(self, given: Given) -> Future[Found]:
        """What `work` makes of it, once it is there."""
        with interrupts_held():
            with _starting:
                if len(self._processes) < self._count:
                    self._start()
            return self._threads.submit(self._ask, given)

    def spill(self, one_by_one: OneByOne, given: Any, path: Path) -> Future[None]:
        """What becomes of it, one piece after the other; the process itself writes the file."""
        spilled: Future[Any] = self.submit(_Spilled(one_by_one, given, path))  # type: ignore[arg-type]
        return spilled

    def stop(self) -> None:
        """End all at once, whatever they are at."""
        self._stopped = True
        with _starting:
            running = list(self._processes.values())
        for process in running:
            process.kill()
        self._threads.shutdown(cancel_futures=True)  # what they waited for has ended
        for pipe, process in self._processes.items():
            process.kill()  # one that was started meanwhile
            process.join()
            pipe.close()

    def _start(self) -> None:
        # Not forked: a fork copies locks that another thread of the caller may hold.
        context = get_context("spawn")
        here, there = context.Pipe()
        sent = bytes(ForkingPickler.dumps(self._work))
        arguments = (there, files_run(), sent, os.environ.get(_SAFE_PATH))
        process = context.Process(target=_serve, args=arguments, daemon=True)
        with _safe_path():
            process.start()
        there.close()  # so that the end of the process is the end of what can be read here
        self._processes[here] = process
        self._idle.put(here)

    def _ask(self, given: Given) -> Found:
        try:
            sent = ForkingPickler.dumps(given)  # before a process is taken, which would be lost
        except Exception as error:  # a third party's object may raise anything
            raise ChunkwiseError(
                f"what is to be worked on cannot be sent to another process ({error}), perhaps for what stands in "
                "its metadata: use plain values there, or one job"
            ) from error
        pipe = self._idle.get()
        try:
            pipe.send_bytes(sent)
            if pipe.recv_bytes() == _READY:
                self._started.add(pipe)
            answer = pipe.recv_bytes()
        except (EOFError, OSError):
            if pipe not in self._started:
                self._idle.put(pipe)
                raise ChunkwiseError(_NOT_STARTED) from None
            status = self._replace(pipe)
            raise WorkerDied(f"a worker process died ({_how(status)})") from None
        except BaseException:  # no memory for what was found: its rest is still in the pipe
            self._replace(pipe)
            raise
        self._idle.put(pipe)
        found: Found
        found, raised = pickle.loads(answer)
        if raised is not None:
            raise raised
        return found

    def _replace(self, pipe: Connection) -> int:
        """Another process for one that has ended; how it did."""
        process = self._processes[pipe]
        process.kill()
        process.join()
        with interrupts_held(), _starting:
            del self._processes[pipe]
            self._started.discard(pipe)
            pipe.close()
            if not self._stopped:
                self._start()
        return process.exitcode or 0


def _how(status: int) -> str:
    """In which way a process ended."""
    if status >= 0:
        return f"status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


_ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Signals that end a run are answered afterwards; Ctrl-C never by a process begun in here, even as it imports."""
    came: list[int] = []
    answers = {}
    if current_thread() is main_thread():
        # Held by a function, too: a signal that this thread does not take is taken by another, for this one.
        for number in _ENDING:
            if callable(answer := signal.getsignal(number)):
                answers[number] = answer
                signal.signal(number, lambda number, _: came.append(number))
    try:
        with _blocked():
            yield
    finally:
        for number, answer in answers.items():
            signal.signal(number, answer)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def _blocked() -> Iterator[None]:
    """What blocks a thread blocks the processes it starts."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    with _safe_path():
        resource_tracker.ensure_running()  # begun with the first process, it would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _safe_path() -> Iterator[None]:
    """A file `multiprocessing.py` in the folder one is in is no module of a process that is begun in here."""
    with _starting:
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        try:
            yield
        finally:
            _set(_SAFE_PATH, before)


def _set(variable: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = value


def _serve(pipe: Connection, files: list[UserFile], sent: bytes, safe_path: str | None) -> None:
    _set(_SAFE_PATH, safe_path)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    expect_files(files)
    work, failed = _loaded(sent)
    # The other end closes when its process goes, however it goes.
    with suppress(EOFError, OSError):
        while True:
            given = pipe.recv_bytes()
            pipe.send_bytes(_READY)
            pipe.send_bytes(failed if work is None else _answer(work, given))


def _loaded(sent: bytes) -> tuple[Callable[[Any], Any] | None, bytes]:
    """What a process is to do, or the error that it could not be told."""
    try:
        return pickle.loads(sent), b""
    except Exception as error:  # a third party's module may raise anything
        return None, _sendable(error)


class _Spilled(NamedTuple):
    """Work whose results go into a file."""

    one_by_one: OneByOne
    given: Any
    path: Path


def _answer(work: Callable[[Any], Any], given: bytes) -> bytes:
    """What was found and None, or None and the error."""
    try:
        asked = pickle.loads(given)
        if isinstance(asked, _Spilled):
            spill(map(pickle.dumps, asked.one_by_one(work, asked.given)), asked.path)
            return pickle.dumps((None, None))
        return pickle.dumps((work(asked), None))
    except Exception as error:  # a third party's strategy may raise anything
        return _sendable(error)


def _sendable(error: Exception) -> bytes:
    if not isinstance(error, ChunkwiseError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        answer = pickle.dumps((None, error))
        pickle.loads(answer)
    except Exception:  # what was raised may be unfit to travel
        what = f"{type(error).__name__} in a worker process: {error}"
        return pickle.dumps((None, ChunkwiseError(what)))
    return answer
