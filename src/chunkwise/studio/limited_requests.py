"""Processor time and memory of one request: one that takes more is ended, and the server goes on."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.limits import Limits, limits_of, memory_size
from chunkwise.base.wording import as_set

_LOOK = 0.05
_FREEING = 1.0
"""Seconds in which the memory of one that was interrupted comes free, before another is."""
_AGAIN = 5.0
"""Seconds after which a request that goes on is interrupted once more: an interrupt inside of `__del__` is lost."""
T = TypeVar("T")


class _Interrupt(BaseException):
    """Raised in the thread of a request; no `except Exception` on the way takes it for a fault of one document."""


class _AtWork:
    def __init__(self, limits: Limits) -> None:
        self.thread = threading.get_ident()
        self.why = ""
        self.again = 0.0
        self._limits = limits
        has_clock = hasattr(time, "pthread_getcpuclockid")
        self._clock = time.pthread_getcpuclockid(self.thread) if has_clock else time.CLOCK_MONOTONIC
        self._began, self._held = time.clock_gettime(self._clock), _held()

    def look(self, held: int) -> bool:
        """Whether it has taken too much."""
        seconds, memory = self._limits.seconds, self._limits.memory
        if seconds is not None and time.clock_gettime(self._clock) - self._began > seconds:
            self.why = f"more than {as_set(seconds)} s of CPU time"
        elif memory is not None and held - self._held > memory:
            self.why = f"more than {memory_size(memory)} of memory"
        return bool(self.why)


def _held() -> int:
    """Bytes of memory of this process that are no file's; 0 where the system does not tell."""
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm") as file:
        _, resident, shared = file.read().split()[:3]
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    return 0


_changing = threading.Condition()
_at_work: dict[_AtWork, None] = {}
"""In the order in which they began."""
_watcher: threading.Thread | None = None


def limited(work: Callable[[], T], limits: Limits | None = None) -> T:
    """What `work` returns, called in this thread; taking more than it may is an error that says so.

    A single call of C code that takes long, such as one regular expression, ends before it is interrupted.

    Args:
        work: Called without arguments.
        limits: Seconds of the processor, and bytes by which the process may grow meanwhile; None: those of one file.
    """
    global _watcher
    me = _AtWork(limits or limits_of(None))
    try:
        try:
            with _changing:
                _at_work[me] = None
                if _watcher is None or not _watcher.is_alive():
                    _watcher = threading.Thread(target=_watch, name="chunkwise-limits", daemon=True)
                    _watcher.start()
                _changing.notify()
            return work()
        finally:
            _leave(me)
    except _Interrupt:
        raise InvalidParameter(f"the request needs {me.why} and was stopped; reduce it") from None


def _leave(me: _AtWork) -> None:
    """After it no interrupt comes any more: one that was sent is waited for, since it can't be taken back.

    CPython 3.11 looks for it before every instruction from then on, without end under a tracer.
    """
    while me in _at_work:
        with suppress(_Interrupt), _changing:
            _at_work.pop(me, None)
    with suppress(_Interrupt):
        for _ in range(2):  # it is raised where a loop turns
            time.sleep(0)


def _watch() -> None:
    while True:
        with _changing:
            while not _at_work:
                _changing.wait()
            held, now = _held(), time.monotonic()
            # Of several that saw the memory grow, the last to begin is the likeliest to take it.
            for item in reversed(_at_work):
                if now > item.again and item.look(held):
                    item.again = now + _AGAIN
                    _raise_in(item.thread, _Interrupt)
                    _changing.wait(_FREEING)
                    break
        time.sleep(_LOOK)


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))
