"""Rows of a file: a JSON list, an object with one, JSON lines, CSV, TSV or Parquet; each with its place, or what is
wrong with it. A bad row never hides the others.

Lines are read one at a time; of a JSON list the text is held, and one entry at a time is made of it.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

import msgspec

from chunkwise.base.errors import ChunkwiseError, MissingExtra, UnreadableDocument
from chunkwise.base.object_store import local_name
from chunkwise.base.wording import counted, thousands
from chunkwise.records.encoding import decode, marked_encoding, wide_encoding
from chunkwise.records.fields import field_of, listed
from chunkwise.records.json import json_problem, parse_json, parse_json_at
from chunkwise.records.write import csv_text

T = TypeVar("T")
STDIN = "-"
_HEAD = 1 << 16
_JSON_LIST = re.compile(rb'\s*\[\s*["{\]]')
_JSON_OBJECT = re.compile(rb'\s*\{\s*["}]')
"""How they begin where plain text may stand, too: "[Draft] what …"."""
_SPACE = re.compile(r"[ \t\r\n]*")
_LONGEST_LINE = 1 << 30
_FIELD_LIMIT = 1 << 30  # the library's own is 131,072 characters, less than a long document
_DELIMITERS = ",;\t|"
_MARK = "\ufeff"
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_QUOTE_IT = "quote fields that contain the separator"
_OPEN_QUOTE = (
    "unclosed quote, so the rest of the file is one field; close it, or double it inside quotes"
)
_NOT_UTF8 = "save the file as UTF-8"


OnBadRow = Callable[[str], None]
"""Gets one line for each record that cannot be used: file, place, reason."""


class Row(NamedTuple):
    """What stands at a place of a file, or why that cannot be read."""

    number: int
    where: str
    """`line 3`, `entry 3`, `row 3`: in the file, which the caller names."""
    value: object
    problem: str = ""
    key: str | None = None
    """What it stood under, where the rows are the values of an object."""


class BrokenList(ChunkwiseError):
    """A JSON list that ends in the middle; the entries before were handed out."""


_EXCEPTION = re.compile(r"\b\w+(?:Exception|Error): ")


def shown_name(name: str) -> str:
    """A file as messages call it."""
    return "standard input" if name == STDIN else name


class Shape(NamedTuple):
    """Where the rows of a JSON file are."""

    lists: tuple[str, ...] = ()
    """Fields of an object that is the whole file: the first of them that is a list holds the rows."""
    by_id: bool = False
    """Whether such a field may hold the rows under their ids, too."""
    alone: tuple[str, ...] = ()
    """Fields of which an object must have one to be a row itself; none: it always is."""
    what: str = "rows"
    """What messages call them."""
    plain: bool = False
    """Whether lines that are no JSON are texts."""


_ROWS = Shape()


def rows(name: str, shape: Shape = _ROWS) -> Iterator[Row]:
    """Every row of a file, `-` for standard input; its name's ending says the format, JSON is told by how it begins."""
    name = local_name(name)
    suffix = Path(name).suffix.lower()
    if suffix == ".parquet":
        yield from parquet_rows(name)
    elif suffix in (".csv", ".tsv", ".tab"):
        yield from csv_rows(read_text(name), name)
    else:
        with opened(name) as handle:
            yield from json_rows(handle, name, shape)


def opened(name: str) -> io.BufferedReader:
    """The bytes of a file or of standard input; an error names it."""
    if name == STDIN:
        if sys.stdin is None:
            raise ChunkwiseError("standard input is closed; give a file")
        return io.BufferedReader(io.BytesIO(sys.stdin.buffer.read()), _HEAD)
    try:
        return io.BufferedReader(io.FileIO(local_name(name)), _HEAD)
    except (OSError, ValueError) as error:  # a NUL character in the path is a ValueError
        raise _cannot_read(name, error) from error


def _cannot_read(name: str, error: Exception) -> ChunkwiseError:
    why = getattr(error, "strerror", None) or error
    return ChunkwiseError(f"cannot read {shown_name(name)}: {why}")


def read_bytes(name: str) -> bytes:
    """All of a file, `-` for standard input."""
    with opened(name) as handle:
        try:
            return handle.read()
        except OSError as error:
            raise _cannot_read(name, error) from error


def read_text(name: str) -> str:
    """A file as UTF-8, or as its byte order mark says; an error says where it is not and what to do."""
    return text_of(read_bytes(name), name)


def text_of(data: bytes, name: str) -> str:
    """The same of bytes that were read already; `name` is for the error."""
    encoding = marked_encoding(data) or "utf-8"
    try:
        return data.decode(encoding).removeprefix(_MARK)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ChunkwiseError(
            f"{shown_name(name)}, line {thousands(line)}: not {encoding.upper()} "
            f"(byte {thousands(error.start)} of the file); nothing was read; {_NOT_UTF8}"
        ) from None


def read_json(name: str) -> object:
    """A file that is one JSON value; an error names the line and the column."""
    try:
        return parse_json(read_text(name))
    except json.JSONDecodeError as error:
        place = f"{shown_name(name)}, line {error.lineno}, column {error.colno}"
        raise ChunkwiseError(f"{place}: not valid JSON: {error.msg}; fix it there") from None
    except (ValueError, RecursionError) as error:
        raise ChunkwiseError(
            f"{shown_name(name)} isn't valid JSON: {json_problem(error)}"
        ) from None


def read_saved(path: str | Path, kind: type[T], format: str, version: int, made_by: str) -> T:
    """Read a JSON object that this version of chunkwise wrote.

    Args:
        path: The file.
        kind: The dataclass it holds.
        format: Its `format`, such as "chunkwise results".
        version: Its `version`.
        made_by: What writes such files, for messages.

    Raises:
        ChunkwiseError: It is no such file, another version's or damaged; the message names the file and the place.
    """
    value = read_json(str(path))
    if not isinstance(value, dict) or value.get("format") != format:
        raise ChunkwiseError(f"{path} is not a {format} file; create one with {made_by}")
    if value.get("version") != version:
        raise ChunkwiseError(
            f"{path} has version {value.get('version')!r}, but this chunkwise reads version "
            f"{version}; create it again"
        )
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ChunkwiseError(f"{path} is damaged: {error}") from None


def looks_like_json(head: bytes) -> bool:
    """Whether a file that begins so may hold rows as JSON."""
    head = head.removeprefix(codecs.BOM_UTF8)
    return bool(_JSON_LIST.match(head) or _JSON_OBJECT.match(head))


def json_rows(handle: io.BufferedReader, name: str, shape: Shape = _ROWS) -> Iterator[Row]:
    """The rows of a JSON list, of an object with one, or of JSON lines."""
    try:
        yield from _json_rows(handle, shown_name(name), shape)
    except OSError as error:
        raise _cannot_read(name, error) from error


def _json_rows(handle: io.BufferedReader, name: str, shape: Shape) -> Iterator[Row]:
    head = handle.peek(_HEAD)[:_HEAD]
    stream: BinaryIO = handle
    if marked_encoding(head):
        text = _decoded(stream.read(), name).removeprefix(_MARK)
        head = text[:_HEAD].encode("utf-8", "surrogatepass")
        stream = io.BytesIO(text.encode("utf-8", "surrogatepass"))
    elif encoding := wide_encoding(head):
        raise ChunkwiseError(wide_problem(name, encoding))
    head = head.removeprefix(codecs.BOM_UTF8).lstrip()
    is_list, is_object = head[:1] == b"[", head[:1] == b"{"
    if shape.plain:
        is_list, is_object = bool(_JSON_LIST.match(head)), bool(_JSON_OBJECT.match(head))
        # A log that says so by its name holds JSON, though its first line may be none.
        is_log = Path(name).suffix.lower() in (".jsonl", ".ndjson")
        is_object = is_object or bool(head and not is_list and is_log)
    if is_list:
        yield from _of_list(_decoded(stream.read(), name).removeprefix(_MARK), name)
    elif is_object:
        yield from _of_object_or_lines(stream, name, shape)
    elif shape.plain:
        for number, line, problem in _lines(stream):
            yield Row(number, f"line {number}", line, problem)
    elif head:
        raise ChunkwiseError(
            f"{name} has no {shape.what}: it is neither a JSON list nor JSON lines"
        )


def wide_problem(name: str, encoding: str) -> str:
    return f"{name} looks like {encoding} without a byte order mark; save it as UTF-8"


def _decoded(data: bytes, name: str) -> str:
    try:
        return decode(data, name)
    except UnreadableDocument as error:
        raise ChunkwiseError(f"{name} cannot be read: {error.reason}") from None


def _lines(stream: BinaryIO) -> Iterator[tuple[int, str, str]]:
    """Number, text and problem of each line that is not empty."""
    for number, data in enumerate(stream, 1):
        data, problem = data.removeprefix(codecs.BOM_UTF8), ""
        try:
            line = _utf8_line(data).strip()
        except UnreadableDocument as error:
            line = data.decode("utf-8", "surrogateescape").strip()
            problem = error.reason
        if line or problem:
            yield number, line, problem


def _of_object_or_lines(stream: BinaryIO, name: str, shape: Shape) -> Iterator[Row]:
    lines = _lines(stream)
    first = next(lines, (1, "", ""))
    second = next(lines, None)
    known = _parsed(*first)
    if second is None and isinstance(known.value, dict) and not first[2]:
        yield from _of_object(known.value, first[0], name, shape)
        return
    if known.problem and second is not None and _goes_on(first[1], second[1]):
        # Perhaps one object over many lines: it takes them all to tell.
        rest = [first, second, *lines]
        whole = _parsed(first[0], "\n".join(line for _, line, _ in rest))
        if isinstance(whole.value, dict) and not any(problem for _, _, problem in rest):
            yield from _of_object(whole.value, first[0], name, shape)
            return
        lines = iter(rest[2:])
    for number, line, problem in chain((first,), (second,) if second else (), lines):
        yield Row(number, f"line {number}", None, problem) if problem else _parsed(number, line)


def _goes_on(first: str, second: str) -> bool:
    """Whether the second line may belong to the value that the first one begins."""
    return not second.startswith("{") or first.endswith(("[", ",", ":"))


def _parsed(number: int, line: str, _: str = "") -> Row:
    where = f"line {number}"
    try:
        return Row(number, where, parse_json(line))
    except (ValueError, RecursionError) as error:
        return Row(number, where, None, f"not valid JSON: {json_problem(error, line=False)}")


def _of_object(value: dict[str, object], line: int, name: str, shape: Shape) -> Iterator[Row]:
    for field in shape.lists:
        spelled = field_of(value, (field,), None)
        inside = value[spelled] if spelled is not None else None
        if isinstance(inside, list):
            for at, each in enumerate(inside, 1):
                yield Row(at, f"entry {at}", each)
            return
        if isinstance(inside, dict) and shape.by_id:
            for at, (key, each) in enumerate(inside.items(), 1):
                yield Row(at, f"entry {at}", each, key=key)
            return
    if shape.alone and field_of(value, shape.alone, None) is None:
        raise ChunkwiseError(
            f"{name} has no list of {shape.what} among {listed(value)}; expected "
            f"{', '.join(shape.lists[:3])}"
        )
    yield Row(line, f"line {line}", value)


def _of_list(text: str, name: str) -> Iterator[Row]:
    """One entry after the other: a million of them never stand in memory at once."""
    at = _behind_space(text, text.index("[") + 1)
    number, line, counted = 0, 1, 0
    try:
        while text[at : at + 1] != "]":
            line, counted = line + text.count("\n", counted, at), at
            value, at = parse_json_at(text, at)
            number += 1
            place = f" (line {line})" if line > 1 else ""
            yield Row(number, f"entry {number}{place}", value)
            at = _behind_space(text, at)
            if text[at : at + 1] == ",":
                at = _behind_space(text, at + 1)
            elif text[at : at + 1] != "]":
                raise json.JSONDecodeError("expecting ',' or ']'", text, at)
        at = _behind_space(text, at + 1)
        if at < len(text):
            raise json.JSONDecodeError("extra data after the end", text, at)
    except (ValueError, RecursionError) as error:
        raise BrokenList(
            f"{name}: invalid JSON list: {json_problem(error)} (entry {number + 1}); fix it, or "
            f"write one record per line"
        ) from None


def _behind_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def read_json_lines(name: str) -> Iterator[Row]:
    """One JSON value a line of a file, which may be larger than the memory."""
    with opened(name) as handle:
        lines: BinaryIO = handle
        try:
            if marked_encoding(handle.peek(4)):
                lines = io.BytesIO(text_of(handle.read(), name).encode())
            yield from json_lines(lines)
        except OSError as error:
            raise _cannot_read(name, error) from error


def is_read_once(name: str) -> bool:
    """Whether looking at how it begins would take that away: standard input, a pipe."""
    try:
        mode = 0 if name == STDIN else os.stat(name).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


Decode = Callable[[bytes], str]
"""The text of a line, or `UnreadableDocument`."""


def _utf8_line(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        why = f"not UTF-8 (byte {thousands(error.start)} of the line); {_NOT_UTF8}; other lines are kept"
        raise UnreadableDocument("", why) from None


def json_lines(
    handle: BinaryIO, decoded: Decode | None = None, limit: int = _LONGEST_LINE
) -> Iterator[Row]:
    """One JSON value a line, read as they are asked for; lines that are empty are passed over.

    Memory is bounded by the longest line; one of more than `limit` bytes is a problem. What the file system refuses is
    raised as it is.
    """
    decoded = decoded or _utf8_line
    number = 0
    while data := handle.readline(limit + 1):
        number += 1
        if len(data) <= limit and data.isspace():
            continue  # before anything is made of it: a file may have millions of them
        row = _json_line(handle, data, number, decoded, limit)
        if row is not None:
            yield row


def _json_line(
    handle: BinaryIO, data: bytes, number: int, decoded: Decode, limit: int
) -> Row | None:
    where = f"line {number}"
    if len(data) > limit:
        while data and not data.endswith(b"\n"):
            data = handle.readline(limit)
        return Row(number, where, None, f"longer than {counted(limit, 'byte')}")
    try:
        # Joined files have a mark in the middle.
        line = decoded(data.removeprefix(codecs.BOM_UTF8))
    except UnreadableDocument as error:
        return Row(number, where, None, error.reason)
    return _parsed(number, line) if line and not line.isspace() else None


Record = tuple[int, int, int, list[str]]
"""Start and end in the text (its line break left out), number of its first line, cells."""


def csv_records(
    text: str, delimiter: str, open_quotes: list[int] | None = None
) -> Iterator[Record]:
    """Records by the rules of CSV: a line break in quotes is part of its record.

    The line of a quote that is never closed is put into `open_quotes` before its record, the last one, is yielded.
    """
    csv.field_size_limit(max(csv.field_size_limit(), _FIELD_LIMIT))
    start = 1 if text.startswith(_MARK) else 0
    if '"' not in text:  # a line a record, in half of the time
        for number, line in enumerate(io.StringIO(text[start:], newline=""), 1):
            if bare := line.rstrip("\r\n"):
                yield start, start + len(bare), number, bare.split(delimiter)
            start += len(line)
        return
    ends: list[int] = []
    read_out = False

    def lines() -> Iterator[str]:
        nonlocal read_out
        end = start
        for line in io.StringIO(text[start:], newline=""):
            end += len(line)
            ends.append(end)
            yield line
        read_out = True

    reader = csv.reader(lines(), delimiter=delimiter)
    first = 0
    for cells in reader:
        end = ends[reader.line_num - 1]
        if read_out and open_quotes is not None:  # the reader asked for more, in vain
            above = sum(len(_LINE_BREAK.findall(cell)) for cell in cells[:-1])
            open_quotes.append(first + 1 + above)
        if cells:
            yield start, start + len(text[start:end].rstrip("\r\n")), first + 1, cells
        start, first = end, reader.line_num


def delimiter_of(text: str, name: str = "") -> str:
    """The tab of a file named so, else the sign that is most frequent in the first line, outside quotes."""
    if Path(name).suffix.lower() in (".tsv", ".tab"):
        return "\t"
    line = text[: text.find("\n") + 1] or text
    bare = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=bare.count)  # the comma when there is none


def column_names(cells: list[str]) -> list[str]:
    """The names in a header; of two columns with one name, neither may vanish."""
    names: dict[str, None] = {}
    last: dict[str, int] = {}
    for cell in cells:
        name = stem = cell.strip()
        while name in names:
            last[stem] = last.get(stem, 1) + 1
            name = f"{stem}~{last[stem]}"
        names[name] = None
    return list(names)


def csv_rows(text: str, name: str) -> Iterator[Row]:
    """The rows of a table with a header, as records; rows of nothing are passed over, texts as `csv_cell` had them."""
    open_quotes: list[int] = []
    records = csv_records(text, delimiter_of(text, name), open_quotes)
    try:
        names = column_names(next(records, (0, 0, 0, []))[3])
        for row in named_rows(names, records, open_quotes):
            value = row.value
            if not isinstance(value, dict):
                yield row
            elif any(cell.strip() for cell in value.values()):
                yield row._replace(value={name: csv_text(cell) for name, cell in value.items()})
    except csv.Error as error:
        raise ChunkwiseError(f"{shown_name(name)} is not readable as CSV: {error}") from None


def named_rows(
    names: list[str], records: Iterator[Record], open_quotes: list[int]
) -> Iterator[Row]:
    """Records under the names of their columns; one with more cells than the header has is none, since some would be
    lost."""
    number = 0
    for _, _, line, cells in records:
        if open_quotes:
            break
        number += 1
        where = f"line {line}"
        if any(cell.strip() for cell in cells[len(names) :]):
            why = f"{counted(len(cells), 'field')}, but the header has {thousands(len(names))}; {_QUOTE_IT}"
            yield Row(number, where, None, why)
        else:
            yield Row(number, where, dict(zip(names, cells, strict=False)))
    if open_quotes:
        yield Row(number + 1, f"line {open_quotes[0]}", None, _OPEN_QUOTE)


def parquet_rows(
    name: str,
    columns: tuple[str, ...] | None = None,
    needed: str = "",
    file: BinaryIO | None = None,
) -> Iterator[Row]:
    """The rows of a Parquet file, with those of the columns that are there; without a `needed` one it is an error.

    `file` has its bytes where it is open already; `name` is then for messages alone.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading Parquet", "parquet") from None
    number = 0
    try:
        with pq.ParquetFile(name if file is None else file) as table:
            there = table.schema_arrow.names
            if needed and needed not in there:
                raise ChunkwiseError(f"{name} has no column {needed!r} among {listed(there)}")
            wanted = None if columns is None else [column for column in columns if column in there]
            for batch in table.iter_batches(batch_size=1024, columns=wanted):
                for row in batch.to_pylist():
                    number += 1
                    yield Row(number, f"row {number}", row)
    except (OSError, ValueError, pa.ArrowException) as error:
        # The library's own words may go on over lines, and name classes of its own.
        why = " ".join(_EXCEPTION.sub("", str(error)).split())
        raise ChunkwiseError(f"{name} is not a readable Parquet file: {why}") from None
