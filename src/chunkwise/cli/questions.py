"""Questions from a file: JSON lines, a JSON list, or plain text with one a line."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from chunkwise.core import Query
from chunkwise.documents.fields import field_of, listed
from chunkwise.errors import ChunkwiseError

_ID_FIELDS = ("query_id", "id", "_id", "qid", "question_id")
_TEXT_FIELDS = ("query", "question", "text")

_JSON_LIST = re.compile(r'\s*\[\s*["{\]]')
_JSON_LINES = re.compile(r'\s*\{\s*["}]')
"""How they begin; a text may begin with a bracket, too: "[Draft] what …"."""

OnBad = Callable[[str], None]
"""Gets a line for each question that cannot be read."""


def read_questions(name: str, on_bad: OnBad) -> list[Query]:
    """The questions of a file, `-` for standard input; ids are those given, else positions from 1."""
    text = _text(name)
    shown = "standard input" if name == "-" else name
    found: list[Query] = []
    places: dict[str, str] = {}
    for number, where, value in _values(text, shown):
        if isinstance(value, _Unreadable):
            on_bad(f"{shown}, {where}: {value.reason}")
            continue
        query = _query(value, number)
        if isinstance(query, _Unreadable):
            on_bad(f"{shown}, {where}: {query.reason}")
        elif not query.text.strip():
            on_bad(f"{shown}, {where}: the question is empty")
        elif query.id in places:
            # Rows are joined with their questions by it.
            on_bad(f"{shown}, {where}: its id {query.id!r} is that of {places[query.id]}")
        else:
            places[query.id] = where
            found.append(query)
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
    if _JSON_LIST.match(text):
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ChunkwiseError(
                f"{name} begins like a JSON list and is none: {error}; mend it, or write one question a line"
            ) from None
        yield from ((at, f"entry {at}", value) for at, value in enumerate(values, 1))
        return
    as_json = _JSON_LINES.match(text) is not None
    lines = ((at, line.strip()) for at, line in enumerate(text.split("\n"), 1))
    for at, line in lines:
        if line:
            yield at, f"line {at}", _parsed(line) if as_json else line


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
    filled = {name: each for name, each in value.items() if each is not None}
    field = field_of(filled, _TEXT_FIELDS, None)
    if field is None or not isinstance(filled[field], str):
        return _Unreadable(
            f"no text of a question among {listed(value)}; name it {', '.join(_TEXT_FIELDS)}"
        )
    id = field_of(filled, _ID_FIELDS, None)
    return Query(str(number if id is None else filled[id]), filled[field])
