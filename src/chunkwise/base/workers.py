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
from queue import SimpleQueue
from threading import current_thread, main_thread
from typing import Any, Generic, TypeVar

from chunkwise.base.errors import ChunkwiseError


def cores() -> int:
    """Those it is allowed, which in a container or under taskset are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_NOT_STARTED = (
    "a worker process died before it had started, perhaps for lack of memory: run again with one job; a script that "
    'uses several needs its code under `if __name__ == "__main__":`'
)
_READY = b"ready"


class WorkerDied(ChunkwiseError):
    """A process ended at work, which is lost; another stands in for it."""


Given = TypeVar("Given")
Found = TypeVar("Found")


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
        self._stopped = False

    def submit(self, given: Given) -> Future[Found]:
        """What `work` makes of it, once it is there."""
        with interrupts_held():
            if len(self._processes) < self._count:
                self._start()
            return self._threads.submit(self._ask, given)

    def stop(self) -> None:
        """End all at once, whatever they are at."""
        self._stopped = True
        for process in list(self._processes.values()):
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
        process = context.Process(target=_serve, args=(there, self._work), daemon=True)
        process.start()
        there.close()  # so that the end of the process is the end of what can be read here
        self._processes[here] = process
        self._idle.put(here)

    def _ask(self, given: Given) -> Found:
        pipe = self._idle.get()
        started = False
        try:
            pipe.send(given)
            started = pipe.recv_bytes() == _READY
            answer = pipe.recv_bytes()
        except (EOFError, OSError):
            if not started:
                self._idle.put(pipe)
                raise ChunkwiseError(_NOT_STARTED) from None
            status = self._replace(pipe)
            raise WorkerDied(f"a worker process died ({_how(status)})") from None
        self._idle.put(pipe)
        found: Found
        found, error = pickle.loads(answer)
        if error is not None:
            raise error
        return found

    def _replace(self, pipe: Connection) -> int:
        """Another process for one that has ended; how it did."""
        process = self._processes.pop(pipe)
        process.join()
        pipe.close()
        if not self._stopped:
            with interrupts_held():
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
    resource_tracker.ensure_running()  # begun with the first process, it would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The other end closes when its process goes, however it goes.
    with suppress(EOFError, OSError):
        while True:
            given = pipe.recv()
            pipe.send_bytes(_READY)
            pipe.send_bytes(_answer(work, given))


def _answer(work: Callable[[Any], Any], given: object) -> bytes:
    """What was found and None, or None and the error."""
    try:
        return pickle.dumps((work(given), None))
    except Exception as error:  # a third party's strategy may raise anything
        if not isinstance(error, ChunkwiseError):
            error.add_note("".join(traceback.format_exception(error)))
        try:
            answer = pickle.dumps((None, error))
            pickle.loads(answer)
        except Exception:  # and what it raises may be unfit to travel
            what = f"{type(error).__name__} in a worker process: {error}"
            return pickle.dumps((None, ChunkwiseError(what)))
        return answer
