"""Interrupts where they hurt: at every line that some work runs, or in a process of its own at a chosen moment."""

import dis
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NoReturn

from chunkwise import open_index
from chunkwise.__main__ import run as run_command
from chunkwise.models.cache import ModelCache
from chunkwise.retrieval.local.folder import verify_folder
from chunkwise.retrieval.local.manifest import MANIFEST_NAME, current_generation
from chunkwise.tuning.run.sweep_folder import SweepFolder
from untimed import HANG


@dataclass(frozen=True)
class Line:
    """A line of code, when it is run for the n-th time."""

    code: CodeType
    number: int
    turn: int


_TOUCH_THE_DISK = frozenset(
    "mkdir open rename replace rmdir rmtree _rmtree_safe_fd touch unlink write_bytes write_text".split()
)


def _counts(code: CodeType) -> bool:
    """Our own code, and of the standard library what an interrupt can tear apart."""
    if "chunkwise" in code.co_filename or code.co_filename.endswith("contextlib.py"):
        return True
    return code.co_name in _TOUCH_THE_DISK and "python" in code.co_filename


@cache
def _deaf_places(code: CodeType) -> frozenset[int]:
    """Where a tracer sees a line and no signal is ever answered: before the `__exit__` of a `with`, and at `try:`."""
    found = list(dis.get_instructions(code))
    deaf = set()
    for at, instruction in enumerate(found):
        rest = found[at:]
        while rest and rest[0].opname in ("NOP", "SWAP", "POP_TOP"):
            rest = rest[1:]
        is_exit = [(each.opname, each.argval) for each in rest[:3]] == [("LOAD_CONST", None)] * 3
        if is_exit or instruction.opname == "NOP":
            deaf.add(instruction.offset)
    return frozenset(deaf)


class _Watch:
    """Sees every line of Python that this thread runs, from the first call of `since` on."""

    def __init__(self, since: Callable[..., object], stop_at: Line | None = None) -> None:
        self.turns: Counter[tuple[CodeType, int]] = Counter()
        self.reached = False
        self._since = since.__code__
        self._began = False
        self._stop_at = stop_at

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        if not self._began:
            if frame.f_code is not self._since:
                return None
            self._began = True
            caller = frame.f_back
            while caller is not None:  # their lines to come count, too
                caller.f_trace = self
                caller = caller.f_back
        if not _counts(frame.f_code):
            return None
        if event == "line" and frame.f_lasti not in _deaf_places(frame.f_code):
            place = (frame.f_code, frame.f_lineno)
            self.turns[place] += 1
            if self._stop_at == Line(*place, self.turns[place]):
                self.reached = True
                raise KeyboardInterrupt
        return self


def _watched(work: Callable[[], object], watch: _Watch) -> None:
    before = sys.gettrace()
    sys.settrace(watch)
    try:
        work()
    finally:
        sys.settrace(before)


def lines_since(since: Callable[..., object], work: Callable[[], object]) -> list[Line]:
    """Every line that `work` runs once `since` has been called, the first time; our own also the last time."""
    watch = _Watch(since)
    _watched(work, watch)
    return [
        Line(*place, turn)
        for place, last in watch.turns.items()
        for turn in sorted({1, last if "chunkwise" in place[0].co_filename else 1})
    ]


def interrupt_at(line: Line, since: Callable[..., object], work: Callable[[], object]) -> bool:
    """Runs `work` with a Ctrl-C just before that line; whether it came there."""
    watch = _Watch(since, line)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # what nobody closed closes itself
        try:
            _watched(work, watch)
        except BaseException:  # of what was torn apart, too: `shutil.rmtree` may close a file twice
            if not watch.reached:
                raise
    return watch.reached


_PYTHON_STARTS = ("Fatal Python error: init_import_site", "Could not import runpy module")
"""What Python says that is interrupted before anything of ours is read."""


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it said."""

    status: int
    """As a shell tells it: 128 and the number of the signal that ended it."""
    out: str
    err: str
    came_too_late: bool
    """It had ended before the signal."""

    @property
    def is_clean(self) -> bool:
        """It ended by itself or as the signal says, without a traceback, but for Python's own before our code runs."""
        if self.status == 1 and any(each in self.err for each in _PYTHON_STARTS):
            return True
        is_ours = "Traceback" in self.err and ("/chunkwise/" in self.err or "ignored" in self.err)
        return not is_ours and self.status in (0, 3, 129, 130, 137, 143)


def listening() -> None:
    """What starts a process may be deaf to signals, as what a shell or `nohup` runs in the background is."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Forked:
    """A copy of this process that runs a command: a process like any other, without the second it takes to import."""

    def __init__(self, command: "Command") -> None:
        self._output = [tempfile.TemporaryFile("w+", encoding="utf-8") for _ in (1, 2)]  # noqa: SIM115
        self.returncode: int | None = None
        ends = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # until the copy listens
        self.pid = os.fork()
        if not self.pid:
            self._run(command, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _run(self, command: "Command", listened: set[int]) -> NoReturn:
        status, began = 70, False
        try:
            os.setsid()
            os.chdir(command.folder)
            os.environ["CHUNKWISE_HOME"] = str(command.home)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for number, file in zip((1, 2), self._output, strict=True):
                os.dup2(file.fileno(), number)
            sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
            sys.argv = ["chunkwise", *command.words]
            listening()
            signal.pthread_sigmask(signal.SIG_SETMASK, listened)
            began = True
            run_command()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 1
        except BaseException as error:
            # Interrupted while the copy was made it ends as Python does that has read nothing of ours.
            if isinstance(error, KeyboardInterrupt) and not began:
                status = 130
            else:  # shown as Python would
                traceback.print_exc()
        finally:
            with suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
                if command.modules:
                    command.modules.write_text("\n".join(sys.modules))
            os._exit(status)

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def communicate(self, timeout: float) -> tuple[str, str]:
        until = time.monotonic() + timeout
        while self.poll() is None:
            assert time.monotonic() < until, "does not end"
            time.sleep(0.002)
        said = []
        for file in self._output:
            with file:
                file.seek(0)
                said.append(file.read())
        return said[0], said[1]

    def wait(self) -> None:
        while self.poll() is None:
            time.sleep(0.002)


class Command:
    """`chunkwise` with these words, in a process group of its own, its home in the folder it is run in."""

    def __init__(
        self, folder: Path, *words: object, home: Path | None = None, forked: bool = False
    ) -> None:
        self.folder, self.words = folder, [str(word) for word in words]
        self.home = home or folder / "home"
        self.forked = forked
        self.modules: Path | None = None
        """Where a copy of this process writes what it has imported by its end."""

    def preload(self) -> Ended:
        """Run it, and import here what it imported: copies to come need not."""
        with tempfile.TemporaryDirectory() as folder:
            self.modules = Path(folder) / "modules"
            ended = self.run()
            for name in self.modules.read_text().split():
                with suppress(Exception):
                    import_module(name)
            self.modules = None
        return ended

    def start(self) -> "subprocess.Popen[str] | Forked":
        if self.forked:
            return Forked(self)
        return subprocess.Popen(
            [sys.executable, "-m", "chunkwise", *self.words], cwd=self.folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "CHUNKWISE_HOME": str(self.home)}, start_new_session=True,
            preexec_fn=listening,
        )  # fmt: skip

    def run(self) -> Ended:
        """Undisturbed."""
        return self.signalled(0, lambda running: None)

    def signalled(
        self, number: int, moment: float | Callable[[Any], object],
        *, whole_group: bool = False, patience: float = HANG,
    ) -> Ended:  # fmt: skip
        """Sent a signal (0: none) after so many seconds, or when `moment` returns; a terminal tells the whole group."""
        running = self.start()
        try:
            if callable(moment):
                moment(running)
            else:
                _wait(running, moment)
            late = running.poll() is not None
            if number and not late:
                with suppress(ProcessLookupError):  # it has ended since
                    (os.killpg if whole_group else os.kill)(running.pid, number)
            out, err = running.communicate(timeout=patience)
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
        status = running.returncode
        return Ended(128 - status if status < 0 else status, out, err, late)


def _wait(running: Any, seconds: float) -> None:
    """Time itself is what is tried here; nothing is said of how long anything takes."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and running.poll() is None:
        time.sleep(min(0.002, max(0.0, until - time.monotonic())))


def begun(sign: Callable[[], bool]) -> Callable[[Any], None]:
    """The moment when something can be seen, a file for one."""

    def wait(running: Any) -> None:
        until = time.monotonic() + HANG
        while not sign() and running.poll() is None:
            assert time.monotonic() < until
            time.sleep(0.002)

    return wait


def index_size(folder: Path) -> int:
    """Documents of an index that is whole to the last byte, or an error; 0: there is none yet."""
    if not (folder / MANIFEST_NAME).exists():
        return 0
    verify_folder(folder)
    return len(open_index(folder).source.ids())


def check_cache(path: Path) -> None:
    """Every value is as it was written."""
    if not path.exists():
        return
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("pragma integrity_check").fetchone() == ("ok",)
        keys = [key for (key,) in file.execute("select key from vectors")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(ModelCache(path).get(keys)) == len(keys)


def check_sweep(folder: Path) -> int:
    """Every outcome on disk can be gone on with; how many there are."""
    record = SweepFolder(folder).record
    files = [path for path in record.folder.rglob("outcomes/*.json") if path.name[0] != "."]
    assert len(record.known()) == len(files)
    assert not list(record.folder.rglob("*.damaged"))
    return len(files)


def check_json(path: Path) -> bool:
    """A file that is whole or not there; whether it is."""
    return path.exists() and json.loads(path.read_bytes()) is not None


def left_behind(folder: Path) -> list[str]:
    """Temporary files and folders of begun work, relative to the folder: none once a run has ended well."""
    begun_name = re.compile(r"\..*\.[0-9a-f]{16}|\.?[a-z]+-[0-9a-f]{16}")
    found = [path for path in folder.rglob("*") if begun_name.fullmatch(path.name)]
    for home in (path.parent for path in folder.rglob(MANIFEST_NAME)):
        named = current_generation(home)
        found += [path for path in home.glob(".generation-*") if path.name != named]
    return sorted(str(path.relative_to(folder)) for path in found)
