"""JSON lines on stdout, for as long as somebody reads them."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable

from chunkwise.cli.pipes import ReaderLeft
from chunkwise.core import Chunk
from chunkwise.output.writers import write_json_lines


class JsonLines:
    """Writes chunks; when nobody reads any more and nothing else is written, the run is done."""

    def __init__(self, *, alone: bool) -> None:
        self._alone = alone
        if isinstance(sys.stdout, io.TextIOWrapper):  # JSON is UTF-8, whatever the console is
            sys.stdout.reconfigure(encoding="utf-8")

    def write(self, chunks: Iterable[Chunk]) -> None:
        try:
            write_json_lines(sys.stdout, chunks)
            sys.stdout.flush()
        except ReaderLeft:
            if self._alone:
                raise
