"""Files that chunkwise itself wrote: no documents, and nothing is lost when it writes them again."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from chunkwise.documents.fields import is_chunk
from chunkwise.records.json import parse_json

INDEX_FILE = ".index.json"
"""Lies in the folder of an index and says what is in it."""

_HEAD = 1 << 12
_LONGEST_LINE = 1 << 24
_RESULTS = re.compile(rb'\s*\{\s*"format"\s*:\s*"chunkwise (results|sweep)"')
_PAGE = b'<meta name="generator" content="chunkwise">'
_ISSUE_FIELDS = frozenset("kind doc_id source chunk offset line column before after".split())


def is_results(value: object) -> bool:
    """Whether JSON holds what an evaluation or a sweep found."""
    return isinstance(value, Mapping) and value.get("format") in (
        "chunkwise results",
        "chunkwise sweep",
    )


def is_results_file(path: str) -> bool:
    """The same of a file, by how it begins: found in a folder such a one is passed over in silence."""
    if not path.lower().endswith(".json") or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return _RESULTS.match(file.read(_HEAD)) is not None
    except OSError:  # reading will say so
        return False


def may_be_results(name: str, head: bytes) -> bool:
    """The same by name and first bytes."""
    return name.lower().endswith(".json") and _RESULTS.match(head) is not None


def is_index_folder(folder: str) -> bool:
    """Whether an index of ours lies there; all its files are hidden ones."""
    return os.path.isfile(os.path.join(folder, INDEX_FILE))


def is_written_by_us(path: Path) -> bool:
    """Whether a file holds results, a page, chunks or issues; a file of questions is always the user's own."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return is_chunk(_parquet_columns(path))
    with path.open("rb") as file:
        head = file.read(_HEAD)
        if suffix in (".html", ".htm"):
            return _PAGE in head
        if _RESULTS.match(head):
            return True
        file.seek(0)
        line = file.readline(_LONGEST_LINE).decode("utf-8", "replace")
    names = set(_fields(line, suffix))
    return is_chunk(names) or names >= _ISSUE_FIELDS


def _fields(line: str, suffix: str) -> Iterable[str]:
    """Of the first record of a file."""
    if suffix == ".csv":
        return next(csv.reader([line]), [])
    try:
        record = parse_json(line)
    except (ValueError, RecursionError):
        return ()
    return record if isinstance(record, dict) else ()


def _parquet_columns(path: Path) -> list[str]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return []
    try:
        return list(pq.read_schema(path).names)
    except pa.ArrowException:
        return []
