"""Files of rows as they are written: whole or not there."""

from __future__ import annotations

import csv
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import msgspec

from chunkwise.base.atomic_files import replacing, says_what_it_writes
from chunkwise.base.errors import MissingExtra

Append = Callable[[Iterable[Mapping[str, object]]], None]
"""Adds rows to an open file."""

_ROWS_A_GROUP = 8192
_CHARACTERS_A_GROUP = 16_000_000
_LINES_AT_ONCE, _CHARACTERS_AT_ONCE = 64, 1 << 17


@contextmanager
def text_file(path: Path) -> Iterator[IO[str]]:
    """An open file that takes its name when it is whole; what has not UTF-8 form is spelled out."""
    with (
        replacing(path) as temporary,
        says_what_it_writes(path),
        temporary.open("w", encoding="utf-8", newline="", errors="backslashreplace") as out,
    ):
        yield out


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def json_line(value: object) -> str:
    """One JSON value as a line."""
    try:
        return msgspec.json.encode(value).decode() + "\n"
    except (TypeError, UnicodeEncodeError):  # a number of numpy's; half a surrogate pair
        return _ENCODER.encode(value) + "\n"


def write_json(path: Path, value: object, indent: int = 1) -> None:
    """One JSON value, to be read by people too."""
    with text_file(path) as out:
        out.write(json.dumps(value, ensure_ascii=False, indent=indent) + "\n")


def write_json_lines(path: Path, values: Iterable[object]) -> None:
    """One JSON value a line."""
    with text_file(path) as out:
        out.writelines(map(json_line, values))


def append_json_lines(path: Path, values: Iterable[object]) -> None:
    """Adds lines to a file, in one piece, since others may add theirs; a last line that broke off is ended first."""
    # In ASCII: who reads it while it grows never sees half a character.
    data = "".join(json.dumps(value) + "\n" for value in values).encode("ascii")
    path.parent.mkdir(parents=True, exist_ok=True)
    rest = memoryview(data if _ends_its_lines(path) else b"\n" + data)
    with path.open("ab", buffering=0) as out:
        while rest:  # a disk that becomes full takes a part, and says so when it is given the rest
            rest = rest[out.write(rest) :]


def _ends_its_lines(path: Path) -> bool:
    """Whether a last line is whole; of a pipe, and of a file that may only be written, that is taken for granted."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return True
        with path.open("rb") as file:
            if not file.seek(0, os.SEEK_END):
                return True
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"
    except OSError:
        return True


_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")


def csv_cell(value: object) -> object:
    """A text as a spreadsheet takes it for one, an apostrophe before what would be a formula; numbers as they are."""
    is_formula = isinstance(value, str) and _FORMULA.match(value)
    return f"'{value}" if is_formula else value


def csv_text(cell: str) -> str:
    """What `csv_cell` was given, of a text."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _cells(rows: Iterable[Mapping[str, object]]) -> Iterator[dict[str, object]]:
    for row in rows:
        yield {name: csv_cell(value) for name, value in row.items()}


def write_csv(path: Path, columns: tuple[str, ...], rows: Iterable[Mapping[str, object]]) -> None:
    """A table for other tools: a header, and every cell in quotes."""
    with text_file(path) as out:
        out.write(",".join(columns) + "\n")
        # Unasked, csv would not quote a lone carriage return, which ends a line for readers.
        table = csv.DictWriter(out, columns, lineterminator="\n", quoting=csv.QUOTE_ALL)
        table.writerows(_cells(rows))


@contextmanager
def json_lines_file(path: Path) -> Iterator[Append]:
    """An open file of JSON lines."""
    with path.open("wb") as out:

        def append(rows: Iterable[Mapping[str, object]]) -> None:
            lines, at_once = map(json_line, rows), 1
            # A million short lines written one by one take a third longer; long ones are not to be held together.
            while some := "".join(islice(lines, at_once)):
                # Half a surrogate pair has not UTF-8 form; JSON can still spell it.
                out.write(some.encode("utf-8", "backslashreplace"))
                at_once = max(1, min(_LINES_AT_ONCE, at_once * _CHARACTERS_AT_ONCE // len(some)))

        yield append


@contextmanager
def csv_file(path: Path, columns: tuple[str, ...]) -> Iterator[Append]:
    """An open table with its header."""
    with path.open("w", encoding="utf-8", newline="", errors="replace") as out:
        table = csv.DictWriter(out, columns)
        table.writeheader()
        yield lambda rows: table.writerows(_cells(rows))


def arrow(what: str = "writing Parquet") -> Any:
    """The library, or the command that installs it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(what, "parquet") from None
    return pyarrow


@contextmanager
def parquet_file(path: Path, schema: Any) -> Iterator[Append]:
    """An open file of Parquet; rows are kept back until they make a row group worth writing."""
    pa = arrow()
    waiting: list[dict[str, object]] = []
    size = 0
    with pa.parquet.ParquetWriter(path, schema, compression="zstd") as writer:

        def flush() -> None:
            nonlocal size
            writer.write_table(pa.Table.from_pylist(waiting, schema=schema))
            waiting.clear()
            size = 0

        def append(rows: Iterable[Mapping[str, object]]) -> None:
            nonlocal size
            for row in rows:
                waiting.append({name: encodable(value) for name, value in row.items()})
                size += sum(len(value) for value in row.values() if isinstance(value, str))
                if len(waiting) >= _ROWS_A_GROUP or size >= _CHARACTERS_A_GROUP:
                    flush()

        yield append
        if waiting:
            flush()


def write_parquet(path: Path, rows: list[dict[str, object]], schema: Any) -> None:
    """A table that is held in memory."""
    pa = arrow()
    with replacing(path) as temporary, says_what_it_writes(path):
        pa.parquet.write_table(pa.Table.from_pylist(rows, schema=schema), temporary)


def encodable(value: object) -> object:
    """Half a surrogate pair has not UTF-8 form; it becomes a question mark, which keeps the length."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
