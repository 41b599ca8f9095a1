"""The entries of a file of questions: JSON lines, a JSON list, an object with one, or plain lines.

Lines are read one at a time; of a list the text is held, and one entry at a time is made of it.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO, NamedTuple

from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
from chunkwise.documents.encoding import decode, marked_encoding
from chunkwise.documents.fields import field_of, listed
from chunkwise.documents.json_problem import json_problem
from chunkwise.testsets.reading_json.json_values import (
    foreign_at,
    holds_foreign,
    whole_number,
    wide_encoding,
)

LIST_FIELDS = (
    "queries", "questions", "tests", "test_cases", "test_queries", "examples", "samples", "items",
    "entries", "data", "testset", "test_set", "results",
)  # fmt: skip
"""What the list of questions is called in an object."""

_HEAD = 1 << 16
_JSON_LIST = re.compile(rb'\s*\[\s*["{\]]')
_JSON_OBJECT = re.compile(rb'\s*\{\s*["}]')
"""How they begin; a text may begin with a bracket, too: "[Draft] what …"."""
_SPACE = re.compile(r"[ \t\r\n]*")
# NaN is what some tools write for what is missing.
_DECODER = json.JSONDecoder(parse_constant=lambda _: None, parse_int=whole_number)


class Entry(NamedTuple):
    """What stands at a place of the file, or why that cannot be read."""

    number: int
    where: str
    """`line 3` or `entry 3`."""
    value: object
    problem: str = ""


class BrokenList(ChunkwiseError):
    """A JSON list that ends in the middle; the entries before were handed out."""


def looks_like_json(head: bytes) -> bool:
    """Whether a file that begins so may hold questions as JSON."""
    head = head.removeprefix(codecs.BOM_UTF8)
    return bool(_JSON_LIST.match(head) or _JSON_OBJECT.match(head))


def shown_name(name: str) -> str:
    return "standard input" if name == "-" else name


def can_be_read_once(name: str) -> bool:
    """Whether looking at how it begins would take that away: standard input, a pipe."""
    try:
        mode = 0 if name == "-" else os.stat(name).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def entries(name: str, *, plain: bool = False) -> Iterator[Entry]:
    """Every entry of a file, `-` for standard input; `plain` takes lines of text, too."""
    try:
        with _opened(name) as handle:
            yield from _entries(handle, shown_name(name), plain)
    except (OSError, ValueError) as error:  # a NUL character in the path is a ValueError
        why = getattr(error, "strerror", None) or error
        raise ChunkwiseError(f"cannot read the questions in {name}: {why}") from error


def _opened(name: str) -> io.BufferedReader:
    if name == "-":
        if sys.stdin is None:
            raise ChunkwiseError("standard input is closed; name a file of questions")
        return io.BufferedReader(io.BytesIO(sys.stdin.buffer.read()))
    return io.BufferedReader(io.FileIO(name), _HEAD)


def _entries(handle: io.BufferedReader, name: str, plain: bool) -> Iterator[Entry]:
    head = handle.peek(_HEAD)[:_HEAD]
    stream: BinaryIO = handle
    if marked_encoding(head):
        text = _decoded(handle.read(), name).removeprefix("\ufeff")
        head = text[:_HEAD].encode("utf-8")
        stream = io.BytesIO(text.encode("utf-8"))
    elif encoding := wide_encoding(head):
        raise ChunkwiseError(wide_problem(name, encoding))
    head = head.removeprefix(codecs.BOM_UTF8)
    if _JSON_LIST.match(head):
        yield from _of_list(_decoded(stream.read(), name, halves=True).removeprefix("\ufeff"), name)
    elif _JSON_OBJECT.match(head):
        yield from _of_object_or_lines(stream, name)
    elif plain:
        for number, line, problem in _lines(stream):
            yield Entry(number, f"line {number}", line, problem)
    elif head.strip():
        raise ChunkwiseError(
            f"{name} holds no questions: it is neither a JSON list nor JSON lines; write "
            '[{"query": "…", "relevant_text": "…"}]'
        )


def wide_problem(name: str, encoding: str) -> str:
    return (
        f"no question was read from {name}: it looks like {encoding} without a byte order mark; "
        "save it as UTF-8"
    )


def _decoded(data: bytes, name: str, *, halves: bool = False) -> str:
    """The text; with `halves`, bytes that are no UTF-8 stand in it as half surrogate pairs."""
    try:
        return decode(data, name)
    except UnreadableDocument as error:
        if halves and isinstance(error.__cause__, UnicodeDecodeError) and b"\0" not in data:
            return data.decode("utf-8", "surrogateescape")
        raise ChunkwiseError(f"the questions in {name} cannot be read: {error.reason}") from None


def _lines(stream: BinaryIO) -> Iterator[tuple[int, str, str]]:
    """Number, text and problem of each line that is not empty."""
    for number, data in enumerate(stream, 1):
        data, problem = data.removeprefix(codecs.BOM_UTF8), ""
        try:
            line = data.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            line = data.decode("utf-8", "surrogateescape").strip()
            problem = f"not UTF-8 (byte {error.start:,} of the line); save the file as UTF-8; other lines are kept"
        if line or problem:
            yield number, line, problem


def _of_object_or_lines(stream: BinaryIO, name: str) -> Iterator[Entry]:
    lines = _lines(stream)
    first = next(lines, (1, "", ""))
    second = next(lines, None)
    known, _ = _parsed(first[1])
    if second is None and isinstance(known, dict):
        yield from _of_object(known, first[0], name, first[0] if first[2] else None)
        return
    if known is None and second is not None and _goes_on(first[1], second[1]):
        # Perhaps one object over many lines: it takes them all to tell.
        rest = [first, second, *lines]
        whole, _ = _parsed("\n".join(line for _, line, _ in rest))
        if isinstance(whole, dict):
            bad = next((number for number, _, problem in rest if problem), None)
            yield from _of_object(whole, first[0], name, bad)
            return
        lines = iter(rest[2:])
    for number, line, problem in chain((first,), (second,) if second else (), lines):
        yield _line_entry(number, line, problem)


def _goes_on(first: str, second: str) -> bool:
    """Whether the second line may belong to the value that the first one begins."""
    return not second.startswith("{") or first.endswith(("[", ",", ":"))


def _line_entry(number: int, line: str, problem: str) -> Entry:
    value = None
    if not problem:
        value, problem = _parsed(line)
    return Entry(number, f"line {number}", value, problem)


def _parsed(line: str) -> tuple[object, str]:
    try:
        value, end = _DECODER.raw_decode(line)
        if line[end:].strip():
            return None, f"no JSON: more behind its end at column {end + 1}"
        return value, ""
    except (ValueError, RecursionError) as error:
        return None, f"no JSON: {json_problem(error, line=False)}"


def _not_utf8(line: int) -> str:
    return f"not UTF-8 (line {line:,}); save the file as UTF-8; entries that are UTF-8 are kept"


def _of_object(
    value: dict[str, object], line: int, name: str, bad_line: int | None
) -> Iterator[Entry]:
    """Its entries; `bad_line` is the first that is not UTF-8."""
    for entry in _in_object(value, line, name):
        if bad_line is not None and holds_foreign(entry.value):
            yield Entry(entry.number, entry.where, None, _not_utf8(bad_line))
        else:
            yield entry


def _in_object(value: dict[str, object], line: int, name: str) -> Iterator[Entry]:
    for field in LIST_FIELDS:
        spelled = field_of(value, (field,), None)
        inside = value[spelled] if spelled is not None else None
        if isinstance(inside, list):
            for at, each in enumerate(inside, 1):
                yield Entry(at, f"entry {at}", each)
            return
        if isinstance(inside, dict):
            for at, (key, each) in enumerate(inside.items(), 1):
                record = each if isinstance(each, dict) else {"query": each}
                yield Entry(at, f"entry {at}", {"query_id": key, **record})
            return
    if field_of(value, ("query", "question", "text"), None) is None:
        raise ChunkwiseError(
            f"{name} has no list of questions among {listed(value)}; name it {', '.join(LIST_FIELDS[:3])}"
        )
    yield Entry(line, f"line {line}", value)


def _of_list(text: str, name: str) -> Iterator[Entry]:
    """One entry after the other: a million of them never stand in memory at once."""
    at = _behind_space(text, text.index("[") + 1)
    number, line, counted = 0, 1, 0
    try:
        while text[at : at + 1] != "]":
            line, counted = line + text.count("\n", counted, at), at
            began = at
            value, at = _DECODER.raw_decode(text, at)
            number += 1
            place = f" (line {line})" if line > 1 else ""
            bad = foreign_at(text, began, at)
            problem = "" if bad is None else _not_utf8(line + text.count("\n", began, bad))
            yield Entry(number, f"entry {number}{place}", None if problem else value, problem)
            at = _behind_space(text, at)
            if text[at : at + 1] == ",":
                at = _behind_space(text, at + 1)
            elif text[at : at + 1] != "]":
                raise json.JSONDecodeError("expecting ',' or ']'", text, at)
        at = _behind_space(text, at + 1)
        if at < len(text):
            raise json.JSONDecodeError("more behind its end", text, at)
    except (ValueError, RecursionError) as error:
        raise BrokenList(
            f"{name} begins like a JSON list and is none: {json_problem(error)} (entry {number + 1}); "
            "mend it, or write one question a line"
        ) from None


def _behind_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
