"""Questions from a file: JSON lines, a JSON list, or plain text with one a line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from chunkwise.core import Query
from chunkwise.documents.fields import field_of, listed
from chunkwise.errors import ChunkwiseError

_ID_FIELDS = ("query_id", "id", "_id", "qid", "question_id")
_TEXT_FIELDS = ("query", "question", "text")

OnBad = Callable[[str], None]
"""Gets a line for each question that cannot be read."""


def read_questions(name: str, on_bad: OnBad) -> list[Query]:
    """The questions of a file, `-` for standard input; ids are those given, else positions from 1."""
    text = _text(name)
    shown = "standard input" if name == "-" else name
    found: list[Query] = []
    for number, where, value in _values(text, shown):
        if isinstance(value, _Unreadable):
            on_bad(f"{shown}, {where}: {value.reason}")
            continue
        query = _query(value, number)
        if isinstance(query, Query):
            found.append(query)
        else:
            on_bad(f"{shown}, {where}: {query.reason}")
    return found


class _Unreadable:
    def __init__(self, reason: str) -> None:
        self.reason = reason


def _text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise ChunkwiseError(
            f"cannot read the questions in {name}: {error.strerror or error}"
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ChunkwiseError(
            f"the questions in {name} are not UTF-8 (byte {error.start:,}); save them as UTF-8"
        ) from None


def _values(text: str, name: str) -> Iterator[tuple[int, str, object]]:
    """Position, where it stands, and what stands there."""
    head = text.lstrip()[:1]
    if head == "[":
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ChunkwiseError(f"{name} begins like a JSON list and is none: {error}") from None
        yield from ((at, f"entry {at}", value) for at, value in enumerate(values, 1))
        return
    lines = ((at, line.strip()) for at, line in enumerate(text.split("\n"), 1))
    for at, line in lines:
        if line:
            yield at, f"line {at}", _parsed(line) if head == "{" else line


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return _Unreadable(f"no JSON: {error}")


def _query(value: object, number: int) -> Query | _Unreadable:
    if isinstance(value, str):
        return Query(str(number), value)
    if not isinstance(value, dict):
        return _Unreadable("neither a question nor a record with one")
    field = field_of(value, _TEXT_FIELDS, None)
    if field is None or not isinstance(value[field], str):
        return _Unreadable(
            f"no text of a question among {listed(value)}; name it {', '.join(_TEXT_FIELDS)}"
        )
    id = field_of(value, _ID_FIELDS, None)
    return Query(str(number if id is None else value[id]), value[field])
