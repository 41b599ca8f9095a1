"""Writers of chunk files, one a format, chosen by the file's name; a file is whole or not there."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

from chunkwise.base.atomic import replacing, says_what_it_writes
from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Chunk
from chunkwise.output.row import COLUMNS, row_of

Write = Callable[[Iterable[Chunk]], None]
"""Appends chunks to an open file."""


@contextmanager
def chunk_file(path: Path) -> Iterator[Write]:
    """A file to append chunks to; its name's ending says the format."""
    opener = opener_for(path)
    with replacing(path) as temporary, opener(temporary) as write_to_it:

        def write(chunks: Iterable[Chunk]) -> None:
            with says_what_it_writes(path):
                write_to_it(chunks)

        yield write


def opener_for(path: Path) -> Callable[[Path], AbstractContextManager[Write]]:
    """How files of this name's ending are written; another ending is refused with the known ones."""
    openers: dict[str, Callable[[Path], AbstractContextManager[Write]]] = {
        ".jsonl": _jsonl,
        ".parquet": _parquet,
        ".csv": _csv,
    }
    found = openers.get(path.suffix.lower())
    if found is None:
        raise InvalidParameter(
            f"output is {str(path)!r}; its name must end in {', '.join(openers)}"
        )
    return found


def write_json_lines(out: IO[str], chunks: Iterable[Chunk]) -> None:
    """One JSON object a line."""
    for chunk in chunks:
        row = {**row_of(chunk), "spans": chunk.spans, "metadata": dict(chunk.document.metadata)}
        out.write(json.dumps(row, ensure_ascii=False) + "\n")


@contextmanager
def _jsonl(path: Path) -> Iterator[Write]:
    # Half a surrogate pair has no UTF-8 form; JSON can still spell it.
    with path.open("w", encoding="utf-8", newline="\n", errors="backslashreplace") as out:
        yield lambda chunks: write_json_lines(out, chunks)


@contextmanager
def _csv(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", newline="", errors="replace") as out:
        writer = csv.DictWriter(out, COLUMNS)
        writer.writeheader()
        yield lambda chunks: writer.writerows(row_of(chunk) for chunk in chunks)


@contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    from chunkwise.output.parquet import parquet

    with parquet(path) as write:
        yield write
