"""Files of records: JSON lines, a JSON list, CSV or Parquet, each record with the place it stands at."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from chunkwise.base.errors import ChunkwiseError, MissingExtra
from chunkwise.documents.encoding import marked_encoding
from chunkwise.documents.json_problem import json_problem

OnBad = Callable[[str], None]
"""Gets one line for each record that cannot be used: file, place, reason."""


class Row(NamedTuple):
    """One record."""

    where: str
    """File and line or entry, as messages name it."""
    fields: Mapping[str, object]


def read_rows(path: str, on_bad: OnBad, lists: tuple[str, ...] = ()) -> Iterator[Row]:
    """The records of a file, `-` for standard input; what is no record is a line to `on_bad`.

    A file that is one JSON object has its records in the first of these fields that is a list, else it is one itself.
    """
    if path.lower().endswith(".parquet"):
        yield from _parquet(path)
        return
    text = read_text(path)
    if path.lower().endswith((".csv", ".tsv")):
        yield from _csv(path, text)
        return
    yield from json_rows(path, text, on_bad, lists)


def json_rows(path: str, text: str, on_bad: OnBad, lists: tuple[str, ...] = ()) -> Iterator[Row]:
    """The same for a JSON text that was read already."""
    shown = "standard input" if path == "-" else path
    for where, value in _values(text, shown, on_bad, lists):
        if isinstance(value, dict):
            yield Row(where, value)
        else:
            on_bad(f"{where}: a record is needed, this is {type(value).__name__}")


def read_text(path: str) -> str:
    """A file as UTF-8, or as its byte order mark says; an error says what to do."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    encoding = marked_encoding(data) or "utf-8"
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ChunkwiseError(
            f"{path} is not {encoding.upper()} (byte {error.start:,}); save it as UTF-8"
        ) from None


def _values(
    text: str, shown: str, on_bad: OnBad, lists: tuple[str, ...]
) -> Iterator[tuple[str, object]]:
    whole = _whole(text, shown, lists)
    if whole is not None:
        yield from ((f"{shown}, entry {at}", value) for at, value in enumerate(whole, 1))
        return
    # Not splitlines: a text in JSON may hold other line breaks as they are.
    for at, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"{shown}, line {at}", json.loads(line)
        except (ValueError, RecursionError) as error:
            on_bad(f"{shown}, line {at}: no JSON: {json_problem(error, line=False)}")


def _whole(text: str, shown: str, lists: tuple[str, ...]) -> list[object] | None:
    """The entries of a file that is one JSON value; None: it is one value a line."""
    head = text.lstrip()[:1]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        if head == "[":
            raise ChunkwiseError(
                f"{shown} begins like a JSON list and is none: {json_problem(error)}"
            ) from None
        return None
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        for name in lists:
            if isinstance(inner := value.get(name), list):
                return inner
    return [value]


def _csv(path: str, text: str) -> Iterator[Row]:
    limit = csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    try:
        lines = io.StringIO(text, newline="")
        reader = csv.DictReader(lines, delimiter="\t" if path.lower().endswith(".tsv") else ",")
        for fields in reader:
            named = {name: value for name, value in fields.items() if isinstance(name, str)}
            yield Row(f"{path}, line {reader.line_num}", named)
    except csv.Error as error:
        raise ChunkwiseError(f"{path} cannot be read as CSV: {error}") from error
    finally:
        csv.field_size_limit(limit)


def _parquet(path: str) -> Iterator[Row]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading Parquet", "parquet") from None
    try:
        number = 0
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for fields in batch.to_pylist():
                    number += 1
                    yield Row(f"{path}, row {number}", fields)
    except (OSError, pa.ArrowException) as error:
        raise ChunkwiseError(f"cannot read {path}: {error}") from error
