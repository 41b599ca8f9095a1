"""JSON lines on stdout, for as long as somebody reads them."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable
from typing import IO, Generic, TypeVar

from chunkwise.cli.pipes import ReaderLeft

T = TypeVar("T")


class JsonLines(Generic[T]):
    """Writes by `write_lines`; when nobody reads any more and nothing else is written, the run is done."""

    def __init__(self, write_lines: Callable[[IO[str], Iterable[T]], None], *, alone: bool) -> None:
        self._write_lines = write_lines
        self._alone = alone
        if isinstance(sys.stdout, io.TextIOWrapper):  # JSON is UTF-8, whatever the console is
            sys.stdout.reconfigure(encoding="utf-8")

    def write(self, values: Iterable[T]) -> None:
        try:
            self._write_lines(sys.stdout, values)
            sys.stdout.flush()
        except ReaderLeft:
            if self._alone:
                raise
