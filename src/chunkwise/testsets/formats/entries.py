"""Entries of a file with the place they stand at; a bad one is a line, the others go on."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from chunkwise.base.errors import ChunkwiseError
from chunkwise.documents.csv import read_records
from chunkwise.documents.encoding import marked_encoding
from chunkwise.documents.fields import listed
from chunkwise.documents.json_problem import json_problem
from chunkwise.testsets.reading_json.json_values import HUGE, whole_number
from chunkwise.testsets.reading_json.record_values import shown
from chunkwise.testsets.reading_json.unread_fields import Asked
from chunkwise.testsets.testset import Draft, Unreadable

Made = TypeVar("Made")

_HALF_PAIRS = re.compile("[\ud800-\udfff]")


class BadEntry(ValueError):
    """Why one entry is no question; the others are read."""


class FormatEntry(NamedTuple):
    """What stands at a place of a file."""

    where: str
    value: object
    """Unreadable where nothing could be made of it."""


def text_of(path: Path) -> str:
    """The file's text: UTF-8, or as its byte order mark says."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ChunkwiseError(f"cannot read {path}: {why}") from error
    encoding = marked_encoding(data) or "utf-8"
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ChunkwiseError(
            f"{path}, line {line:,}: not {encoding.upper()} (byte {error.start:,} of the file); nothing "
            "was read; save it as UTF-8"
        ) from None


def json_of(path: Path) -> object:
    """A file that is one JSON value."""
    try:
        return json.loads(text_of(path), parse_int=whole_number)
    except json.JSONDecodeError as error:
        place = f"{path}, line {error.lineno}, column {error.colno}"
        raise ChunkwiseError(f"{place}: no JSON: {error.msg}; mend it there") from None
    except (ValueError, RecursionError) as error:
        raise ChunkwiseError(f"{path} is no JSON that can be read: {json_problem(error)}") from None


def json_entries(path: Path, values: object, what: str) -> Iterator[FormatEntry]:
    """The items of a list found in the file; `what` says where it must stand."""
    if not isinstance(values, list):
        raise ChunkwiseError(f"{path} has no list of {what}")
    for number, value in enumerate(values, 1):
        yield FormatEntry(f"{path}, entry {number}", value)


def json_lines(path: Path) -> Iterator[FormatEntry]:
    """One JSON value a line, read as they are asked for: a corpus may be larger than the memory."""
    for number, line in enumerate(_lines(path), 1):
        where = f"{path}, line {number}"
        try:
            if line.strip():
                yield FormatEntry(where, json.loads(line, parse_int=whole_number))
        except UnicodeDecodeError as error:
            yield FormatEntry(
                where, Unreadable(where, f"not UTF-8 (byte {error.start:,} of the line)")
            )
        except (ValueError, RecursionError) as error:
            why = json_problem(error, line=False)
            yield FormatEntry(where, Unreadable(where, f"no JSON: {why}"))


def _lines(path: Path) -> Iterator[bytes | str]:
    try:
        with path.open("rb") as file:
            first = file.readline()
            if marked_encoding(first) is None:
                yield first.removeprefix(b"\xef\xbb\xbf")
                yield from file
                return
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ChunkwiseError(f"cannot read {path}: {why}") from error
    yield from text_of(path).split("\n")


def csv_entries(path: Path, delimiter: str = ",") -> Iterator[FormatEntry]:
    """The rows of a table with a header, as records; a cell may go over several lines."""
    records = read_records(text_of(path), delimiter)
    try:
        names = [name.strip() for name in next(records, (0, 0, 0, []))[3]]
        for _, _, line, cells in records:
            if not any(cell.strip() for cell in cells):
                continue
            where = f"{path}, line {line}"
            if len(cells) != len(names):
                why = f"{len(cells)} cells under {len(names)} columns; is a quote missing?"
                yield FormatEntry(where, Unreadable(where, why))
            else:
                yield FormatEntry(where, dict(zip(names, cells, strict=True)))
    except csv.Error as error:
        raise ChunkwiseError(f"{path} is no CSV that can be read: {error}") from None


def made_of(
    entries: Iterable[FormatEntry], make: Callable[[str, Mapping[str, object], str], Made]
) -> Iterator[Made | Unreadable]:
    """What is made of each record and its number; the reason where nothing can be."""
    for number, (where, value) in enumerate(entries, 1):
        if isinstance(value, Unreadable):
            yield value
        elif not isinstance(value, dict):
            yield Unreadable(where, f"{kind(value)}, where a record is expected")
        else:
            record = Asked(value)
            try:
                made = make(where, record, str(number))
                yield replace(made, unread=record.unread()) if isinstance(made, Draft) else made
            except BadEntry as error:
                yield Unreadable(where, str(error))


def string(record: Mapping[str, object], *names: str) -> str:
    """The text under the first of these names that is there; it must be."""
    for name in names:
        value = record.get(name)
        if value is not None:
            if not isinstance(value, str):
                raise BadEntry(f"its {name!r} is {kind(value)}, not a text")
            return clean(value)
    raise BadEntry(f"no {' or '.join(map(repr, names))} among {listed(record)}")


def optional(record: Mapping[str, object], *names: str) -> str | None:
    """The same where it may be missing."""
    return string(record, *names) if any(record.get(name) is not None for name in names) else None


def identifier(record: Mapping[str, object], *names: str) -> str | None:
    """An id, which may be a number."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            if isinstance(value, int) and abs(value) >= HUGE:
                raise BadEntry(f"its {name!r} is {shown(value)}, not an id")
            return clean(str(value)).strip() or None
        if value is not None:
            raise BadEntry(f"its {name!r} is {kind(value)}, not an id")
    return None


def items(value: object, what: str) -> list[object]:
    """A list; nothing is an empty one."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadEntry(f"its {what} are {kind(value)}, not a list")
    return value


def record_of(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise BadEntry(f"{what} is {kind(value)}, not a record")
    return value


def offset(value: object, what: str) -> int:
    """A position in a text; others write them as 3.0 or "3" too."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = int(value) if len(value) < 20 else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadEntry(f"{what} is {shown(value)}; a whole number from 0 on is expected")
    return value


def clean(text: str) -> str:
    """JSON can spell half of a surrogate pair, which is no character: U+FFFD, as in documents."""
    return text if text.isascii() else _HALF_PAIRS.sub("\ufffd", text)


def header(head: bytes) -> set[str]:
    """The names in the first line of a CSV file."""
    line = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode("utf-8", "replace")
    return {name.strip().strip('"') for name in line.split(",")}


def kind(value: object) -> str:
    """What a value is, in words."""
    names: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "true or false"), ((int, float), "a number"), (str, "a text"), (list, "a list"),
        (dict, "a record"),
    )  # fmt: skip
    return next((name for types, name in names if isinstance(value, types)), "nothing")
