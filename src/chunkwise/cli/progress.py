"""How far the work is, on stderr: a bar on a terminal, a line now and then elsewhere, nothing when quiet."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chunkwise.core import OnProgress

VARIABLE = "CHUNKWISE_PROGRESS_SECONDS"
"""In the environment: seconds between two lines where there is no terminal; `inf`: no line."""
_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BEFORE_BAR = 0.5


def bytes_of(inputs: Iterable[str]) -> int:
    """About how many bytes there are to read; what cannot be known counts nothing."""
    from chunkwise.documents.walk import is_left_out

    total = 0
    for name in inputs:
        path = Path(name)
        try:
            if path.is_dir():
                for folder, below, files in os.walk(path):
                    below[:] = [each for each in below if not is_left_out(each)]
                    total += sum(_size(os.path.join(folder, file)) for file in files)
            elif path.is_file():
                total += _size(name)
        except (OSError, ValueError):
            continue
    return total


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


@contextmanager
def progress(what: str, total: int, quiet: bool) -> Iterator[OnProgress]:
    """A callback that takes the bytes done and a note."""
    if quiet:
        yield lambda amount, note: None
    elif sys.stderr.isatty():
        with _bar(what, total) as advance:
            yield advance
    else:
        yield _lines(what)


@contextmanager
def _bar(what: str, total: int) -> Iterator[OnProgress]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        console=Console(stderr=True), transient=True,
        redirect_stdout=False,  # JSON lines go to a file while the bar is on the terminal
    )  # fmt: skip
    task = bar.add_task(what, total=total or None, note="")
    began = time.monotonic()
    shown = done = 0
    try:

        def advance(amount: int, note: str) -> None:
            nonlocal shown, done
            done += amount
            if not shown and time.monotonic() - began > _SECONDS_BEFORE_BAR:
                bar.start()  # short work needs no bar
                shown = 1
            bar.update(task, completed=min(done, total) if total else done, note=note)

        yield advance
    finally:
        bar.stop()


def _lines(what: str) -> OnProgress:
    last, between, said = time.monotonic(), _seconds_between_lines(), ""

    def advance(amount: int, note: str) -> None:
        nonlocal last, said
        # The same again says nothing: work may go on for long without another note.
        if note != said and time.monotonic() - last > between:
            last, said = time.monotonic(), note
            print(f"{what}: {note}", file=sys.stderr, flush=True)

    return advance


def _seconds_between_lines() -> float:
    try:
        return float(os.environ[VARIABLE])
    except (KeyError, ValueError):
        return _SECONDS_BETWEEN_LINES
