"""What runs beside the server and can be stopped: commands in processes of their own, drafting in a thread."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from chunkwise.testsets.generate.candidate import GeneratedQuestions

_CONFIGURATIONS = re.compile(r"([\d,]+) configurations?\b")
_LINES = 12
"""Last lines of a process that are kept."""


@dataclass(slots=True)
class Job:
    """A command that runs beside the server; it is ended as Ctrl-C would end it."""

    process: subprocess.Popen[str]
    began: float = field(default_factory=time.monotonic)
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LINES))
    total: int = 0
    was_stopped: bool = False
    reader: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as message:
            for line in message:
                self.lines.append(one_line(line.strip(), 400))
                if not self.total and (found := _CONFIGURATIONS.search(line)):
                    self.total = int(found[1].replace(",", ""))
        self.process.wait()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        self.was_stopped = True
        if self.is_running:
            self.process.terminate()  # taken as Ctrl-C is, which a server in the background does not hand on


def started(command: Sequence[str]) -> Job:
    """A session of its own: Ctrl-C in the terminal is the server's, which ends it in its turn."""
    return Job(
        subprocess.Popen(
            [sys.executable, "-m", "chunkwise", *command], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace",
            start_new_session=True,
        )
    )  # fmt: skip


DraftState = Literal["", "running", "stopping", "stopped", "done", "failed"]


@dataclass(slots=True)
class DraftJob:
    """Drafting beside the server; what is kept is on disk at once."""

    by: str
    wanted: int
    made: Callable[[], int]
    """How many questions it has added so far."""
    note: str = ""
    problem: str = ""
    result: GeneratedQuestions | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        return self.thread is not None and self.thread.is_alive()

    @property
    def state(self) -> DraftState:
        if self.is_running:
            return "stopping" if self.stopping.is_set() else "running"
        if self.problem:
            return "failed"
        return "done" if self.result is not None else "stopped"

    def advance(self, amount: int, note: str) -> None:
        self.note = note
        if self.stopping.is_set():
            raise DraftingStopped


class DraftingStopped(Exception):
    """Somebody pressed stop."""
