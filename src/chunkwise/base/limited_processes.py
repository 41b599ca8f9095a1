"""Work on what others wrote, in processes with limits: started when first needed, kept, and ended when they take more.

A process of its own and not one of `multiprocessing`: that would import the caller's script, which need not be fit
for it.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NamedTuple
from weakref import WeakSet

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.garbage_collection import SELDOM, uncollected
from chunkwise.base.limits import LimitExceeded, Limits

_LOOK = 0.05
"""Seconds between two looks at a process that is at work."""
_BATCH_ITEMS = 64
_BATCH_SECONDS = 0.05
_KEPT_SHARE = 4
"""A process that still holds more than this part of its limit is not used again: the next file would pay for it."""
_EXIT_MEMORY, _EXIT_TIME = 91, 92
_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[3]);"
    "from chunkwise.base.limited_processes import serve; serve(int(sys.argv[1]), int(sys.argv[2]))"
)
_STATM = "/proc/self/statm"

Ask = Callable[[str, object], object]
"""Calls a function of the process that gave the work, by its name."""


class CannotBeSent(ChunkwiseError):
    """The work, or what comes of it, cannot be sent to another process: it is to be done in this one."""

    def __init__(self, done: int = 0) -> None:
        super().__init__(done)
        self.done = done
        """How many outcomes came before."""


class NotStarted(ChunkwiseError):
    """No process can be started now; the message says why. Later there may be one."""


class ProcessDied(ChunkwiseError):
    """The process ended by itself; the message says how."""

    @property
    def was_killed(self) -> bool:
        """From outside: nothing that goes wrong within ends like this."""
        return self.args == ("SIGKILL",)


class _Call(NamedTuple):
    target: str
    args: tuple[Any, ...]
    limits: Limits
    folder: str | None
    path: list[str]


def _answered(function: Callable[[Any], object], given: object) -> bytes:
    try:
        return pickle.dumps((function(given), None))
    except Exception as error:  # somebody else's function
        chunkwise_error = ChunkwiseError(f"{type(error).__name__}: {error}")
        return pickle.dumps((None, error if isinstance(error, ChunkwiseError) else chunkwise_error))


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return None


# ---- in the process that gives the work

SUPPORTED = os.name != "nt"
_unavailable = not SUPPORTED or not sys.executable or bool(getattr(sys, "frozen", False))
"""Whether no process can ever be started: a program that was packed up has no interpreter to start."""
_PAUSE = 60.0
"""Seconds after one that did not start: what is started may be no interpreter but a program that has one in it."""


class Processes:
    """Processes that are started as they are needed, and kept for the next call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()
        self._is_stopped = False
        self._next_start = 0.0
        _pools.add(self)

    def outcomes(
        self,
        target: str,
        args: tuple[Any, ...],
        limits: Limits,
        answers: Mapping[str, Callable[[Any], object]],
    ) -> Iterator[Any]:
        """What the generator `module:function`, called as `function(*args, ask)` in another process, gives.

        Raises `LimitExceeded`, `ProcessDied`, or `CannotBeSent` and `NotStarted` where it must be called here.
        `ask(name, given)` in there is `answers[name](given)` here.
        """
        try:
            call = pickle.dumps(_Call(target, args, limits, _folder(), sys.path))
        except Exception as error:  # a third party's object may raise anything
            raise CannotBeSent from error
        process, said = self._begun(call, limits)
        whole = False
        try:
            done = 0
            while not whole:
                match said:
                    case "outcomes", found, whole, resident:
                        done += len(found)
                        if whole and limits.memory and resident > limits.memory / _KEPT_SHARE:
                            self._end(process)
                        elif whole:  # before its documents are used: there may be others to read
                            with self._lock:
                                self._idle.append(process)
                        yield from found
                    case "ask", name, given:
                        process.send(_answered(answers[name], given), limits)
                    case "memory", _:
                        raise LimitExceeded.memory(limits)
                    case _:
                        raise CannotBeSent(done)
                if not whole:
                    said = process.message()
        finally:
            if not whole:
                self._end(process)

    def _begun(self, call: bytes, limits: Limits) -> tuple[_Process, Any]:
        """A process at work, and the first that it says."""
        process = self._kept()
        is_new = process is None
        process = process or self._started()
        while True:
            try:
                process.send(call, limits)
                return process, process.message()
            except BaseException as error:
                self._end(process)
                if is_new or not isinstance(error, ProcessDied):
                    raise
            # It may have been ended while it waited, or by what an earlier call did to it.
            process, is_new = self._started(), True

    def _kept(self) -> _Process | None:
        while True:
            with self._lock:
                process = self._idle.pop() if self._idle else None
            if process is None or process.is_waiting():
                return process
            self._end(process)

    def _started(self, is_again: bool = False) -> _Process:
        if _unavailable:
            raise NotStarted("no Python interpreter found")
        if time.monotonic() < self._next_start:
            raise NotStarted("the last attempt just failed")
        with self._lock:
            if self._is_stopped:
                raise NotStarted("the job was stopped")
            try:
                process = _Process()
            except OSError as error:
                self._next_start = time.monotonic() + _PAUSE
                raise NotStarted(error.strerror or str(error)) from error
            self._all.add(process)
        try:
            why = process.why_not_ready()
        except BaseException:
            self._end(process)
            raise
        if why is None:
            return process
        self._end(process)
        if isinstance(why, ProcessDied) and why.was_killed and not (is_again or self._is_stopped):
            return self._started(is_again=True)
        if not self._is_stopped:
            self._next_start = time.monotonic() + _PAUSE
        raise NotStarted(f"{sys.executable} exited at startup ({why})")

    def _end(self, process: _Process) -> None:
        with self._lock:
            self._all.discard(process)
        process.stop()

    def end_all(self) -> None:
        """End them, whatever they are at; others are started when they are needed."""
        with self._lock:
            idle, busy = list(self._idle), self._all.difference(self._idle)
            self._idle.clear()
        for process in idle:
            self._end(process)
        for process in busy:  # closed by who waits for it
            process.kill()

    def stop(self) -> None:
        """End them for good."""
        with self._lock:
            self._is_stopped = True
        self.end_all()

    def forget(self) -> None:
        """In a copy of this process: they are those of the process that was copied."""
        self._lock = threading.Lock()
        self._idle.clear()
        for process in self._all:
            process.close()
        self._all.clear()


_pools: WeakSet[Processes] = WeakSet()
readers = Processes()
"""Those that read documents."""


@atexit.register
def _end_everything() -> None:
    for pool in list(_pools):
        pool.stop()


def _forget_everything() -> None:
    for pool in list(_pools):
        pool.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_everything)


class _Process:
    def __init__(self) -> None:
        self._is_closed = self._is_killed = False
        self._closing = threading.Lock()
        self._pipe, there = Pipe()
        closes, self._closed_at_the_end = os.pipe()
        try:
            self._process = subprocess.Popen(
                # -P: a file `json.py` in the folder one is in is no module of ours.
                [sys.executable, "-P", "-c", _START, str(there.fileno()), str(closes), json.dumps(sys.path)],
                stdin=subprocess.DEVNULL, stdout=_stderr(), pass_fds=[there.fileno(), closes],
                process_group=0,  # Ctrl-C is for the one who waits, and what it starts itself ends with it
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
        except OSError:
            self.close()
            raise
        finally:
            there.close()
            os.close(closes)
        self._limits = Limits(None, None)
        self._began: float | None = None
        """Its processor time when it was first looked at since it last said something."""
        self._events = select.poll()
        self._events.register(self._pipe.fileno(), select.POLLIN)

    def why_not_ready(self) -> ChunkwiseError | None:
        """None: it has started."""
        try:
            if self._pipe.recv_bytes() == b"ready":
                return None
        except (EOFError, OSError):
            pass
        return self._end()

    def is_waiting(self) -> bool:
        """Whether it is there, and has nothing to say that nobody asked for."""
        return not self._events.poll(0) and not self._has_ended()

    def _has_ended(self) -> bool:
        """Where the system can tell, it is not waited for yet: so long nobody else gets its number, its group's."""
        if self._process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self._process.poll() is not None
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self._process.pid, how) is not None
        except ChildProcessError:  # somebody else has waited for it
            return True

    def send(self, data: bytes, limits: Limits) -> None:
        self._limits, self._began = limits, None
        with suppress(OSError):  # that it has ended is seen where its answer is waited for
            self._pipe.send_bytes(data)

    def message(self) -> Any:
        """The next that it says; while it says nothing, it is looked at."""
        try:
            while not self._events.poll(1000 * _LOOK):  # `Connection.poll` takes ten times as long
                self._look()
                # What it started may hold its end of the pipe.
                if self._has_ended() and not self._events.poll(0):
                    raise EOFError
            with uncollected():
                said = pickle.loads(self._pipe.recv_bytes())
        except (EOFError, OSError):
            raise self._end() from None
        self._began = None
        return said

    def _look(self) -> None:
        limits = self._limits
        if limits.memory is not None and self._resident() > limits.memory:
            raise LimitExceeded.memory(limits)
        spent = self._processor_time()
        self._began = spent if self._began is None else self._began
        if limits.seconds is not None and spent - self._began > limits.seconds:
            raise LimitExceeded.time(limits)

    def _resident(self) -> int:
        with suppress(OSError, ValueError, IndexError), open(f"/proc/{self._process.pid}/statm") as file:  # fmt: skip
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return 0  # no such file system: it looks at itself

    def _processor_time(self) -> float:
        with suppress(OSError, ValueError, IndexError), open(f"/proc/{self._process.pid}/stat") as file:  # fmt: skip
            fields = file.read().rpartition(")")[2].split()
            # Its own, and that of processes it started and waited for.
            return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def _end(self) -> ChunkwiseError:
        """Why it has ended."""
        while not self._has_ended():  # it closed the pipe, and goes on
            self._look()
            time.sleep(_LOOK)
        self.kill()
        status = self._process.wait()
        if status == _EXIT_MEMORY:
            return LimitExceeded.memory(self._limits)
        if status in (_EXIT_TIME, -getattr(signal, "SIGXCPU", 0)):
            return LimitExceeded.time(self._limits)
        if status < 0:
            names = {item.value: item.name for item in signal.Signals}
            return ProcessDied(names.get(-status, f"signal {-status}"))
        return ProcessDied(f"status {status}")

    def stop(self) -> None:
        self.kill()
        self._process.wait()
        self.close()

    def kill(self) -> None:
        """What it started, too, whether it has ended itself or not."""
        if not self._is_killed:  # afterwards its number may be somebody else's
            self._is_killed = True
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()

    def close(self) -> None:
        """The ends of its pipes; where they were the last, it ends."""
        with self._closing:
            if self._is_closed:  # its number may be that of somebody else's file by now
                return
            self._is_closed = True
        self._pipe.close()
        os.close(self._closed_at_the_end)


def _stderr() -> int:
    """Where it prints to: what a parser prints is no output of ours."""
    try:
        os.fstat(2)
        return 2
    except OSError:
        return subprocess.DEVNULL


# ---- in the process that does it


def serve(handle: int, closes: int) -> None:
    """Do what comes, one after the other, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*SELDOM)
    _end_with(closes)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # where memory runs out, this process is the one to end
    pipe = Connection(handle)
    server = _Server(pipe)
    if not os.path.exists(_STATM):
        threading.Thread(target=server.watch_itself, daemon=True).start()
    with suppress(EOFError, OSError):  # nobody is there any more, perhaps before it began
        pipe.send_bytes(b"ready")
        while True:
            server.do(pipe.recv_bytes())


def _end_with(closes: int) -> None:
    """Whoever waits for the work may go at any time, however it goes, and whatever this process is at then."""
    import fcntl

    # By the system itself: a regular expression lets no other thread run.
    with suppress(OSError, AttributeError):
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(closes, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(closes, fcntl.F_SETFL, fcntl.fcntl(closes, fcntl.F_GETFL) | os.O_ASYNC)


class _Server:
    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._limits = Limits(None, None)
        self._began = self._set_again = 0.0

    def do(self, data: bytes) -> None:
        sent = 0
        batch: list[Any] = []
        try:
            call: _Call = pickle.loads(data)
            self._prepare(call)
            self._set_limits(call.limits)
            module, _, name = call.target.partition(":")
            function = getattr(importlib.import_module(module), name)
            began = last = time.monotonic()
            for outcome in function(*call.args, self._ask):
                batch.append(outcome)
                if len(batch) >= _BATCH_ITEMS or time.monotonic() - last > _BATCH_SECONDS:
                    self._say("outcomes", batch, False, 0)
                    sent += len(batch)
                    batch, last = [], time.monotonic()
                    self._set_limits(call.limits)
            quick = time.monotonic() - began < _BATCH_SECONDS
            self._say("outcomes", batch, True, 0 if quick else _resident())
        except MemoryError:
            batch = []
            self._say("memory", sent)
        except Exception:  # it is done again where it can be told
            self._say("cannot be sent", sent)

    def _say(self, *message: Any) -> None:
        self._pipe.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))

    def _ask(self, name: str, given: object) -> object:
        self._say("ask", name, given)
        answer, error = pickle.loads(self._pipe.recv_bytes())
        if error is not None:
            raise error
        self._set_limits(self._limits)
        return answer

    def _prepare(self, call: _Call) -> None:
        """Names of files and modules mean the same as where the work comes from."""
        if sys.path != call.path:
            sys.path[:] = call.path
        if call.folder is not None and call.folder != _folder():
            os.chdir(call.folder)

    def _set_limits(self, limits: Limits) -> None:
        """What the system itself will hold it to, should nobody look; and what this one starts."""
        import resource

        self._began = time.process_time()
        if limits == self._limits and self._began < self._set_again:
            return
        self._limits = limits
        self._set_again = self._began + (limits.seconds or 0) / 10
        # Memory that is asked for, of which less is used.
        memory = None if limits.memory is None else 2 * limits.memory + 1_000_000_000
        seconds = None if limits.seconds is None else int(self._began + 1.2 * limits.seconds) + 2
        for kind, allowed in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, seconds)):
            _, most = resource.getrlimit(kind)
            if most != resource.RLIM_INFINITY:
                allowed = most if allowed is None else min(allowed, most)
            with suppress(ValueError, OSError):
                soft = resource.RLIM_INFINITY if allowed is None else allowed
                resource.setrlimit(kind, (soft, most))

    def watch_itself(self) -> None:
        """Where nobody else can."""
        while True:
            time.sleep(_LOOK)
            memory, seconds = self._limits.memory, self._limits.seconds
            if memory is not None and _resident() > memory:
                os._exit(_EXIT_MEMORY)
            if seconds is not None and time.process_time() - self._began > seconds:
                os._exit(_EXIT_TIME)


def _resident() -> int:
    """Bytes of memory that this process holds, or where it cannot be told the most it has held."""
    import resource

    try:
        with open(_STATM) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
