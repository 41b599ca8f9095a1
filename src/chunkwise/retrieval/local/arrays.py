"""The arrays of an index by name: tables of rows that belong to rows of others; texts and terms among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.embed.quantized_token_vectors import code_width
from chunkwise.retrieval.bm25 import TermTable
from chunkwise.retrieval.errors import DamagedIndex
from chunkwise.retrieval.quantized_vectors import packed_width
from chunkwise.retrieval.settings import Settings
from chunkwise.text.names import HASH_BYTES

Array = NDArray[Any]
Arrays = Mapping[str, Array]

PARENT = {
    "id": "document",
    "record": "document",
    "text": "document",
    "relation": "document",
    "page": "document",
    "path": "document",
    "chunk": "document",
    "atom": "document",
    "title": "path",
    "context": "chunk",
    "summary": "chunk",
    "span": "chunk",
    "chunk_term": "chunk",
    "atom_term": "atom",
    "token": "atom",
    "mention": "atom",
}
"""Each table and the one its rows belong to: `NAME.first` says where the rows of each parent begin. The rows of
`id`, `record`, `text`, `relation`, `title`, `context` and `summary` are bytes of UTF-8; only summaries have rows of
`span`: the places they stand for. Rows of `token` are the tokens of the model that `maxsim` names, where one is; rows
of `mention` are the names in an atom, where there is a graph."""


class ColumnSpec(NamedTuple):
    """What the rows of a table hold; 0 columns wide: one value a row."""

    table: str
    dtype: str
    width: int | Callable[[Settings], int] = 0
    """What to make of the settings, where it depends on how many dimensions vectors have."""

    def shape(self, settings: Settings) -> tuple[int, ...]:
        """Of one row."""
        width = self.width if isinstance(self.width, int) else self.width(settings)
        return (width,) if width else ()


def _whole(settings: Settings) -> int:
    return settings.dimensions


def _packed(settings: Settings) -> int:
    return packed_width(settings.dimensions)


def _codes(settings: Settings) -> int:
    return code_width(settings.maxsim_dimensions)


COLUMNS = {
    "document.fingerprint": ColumnSpec("document", "|u1", 16),
    "document.language": ColumnSpec("document", "|S8"),
    "id.bytes": ColumnSpec("id", "|u1"),
    "record.bytes": ColumnSpec("record", "|u1"),
    "text.bytes": ColumnSpec("text", "|u1"),
    "relation.bytes": ColumnSpec("relation", "|u1"),
    "page.start": ColumnSpec("page", "<i8"),
    "title.bytes": ColumnSpec("title", "|u1"),
    "context.bytes": ColumnSpec("context", "|u1"),
    "summary.bytes": ColumnSpec("summary", "|u1"),
    "span.start": ColumnSpec("span", "<i8"),
    "span.end": ColumnSpec("span", "<i8"),
    "span.tokens": ColumnSpec("span", "<i4"),
    "chunk.start": ColumnSpec("chunk", "<i8"),
    "chunk.end": ColumnSpec("chunk", "<i8"),
    "chunk.tokens": ColumnSpec("chunk", "<i4"),
    "chunk.section": ColumnSpec("chunk", "<i4"),
    "chunk.parent": ColumnSpec("chunk", "<i8", 2),
    "chunk.level": ColumnSpec("chunk", "|i1"),
    "chunk.vector": ColumnSpec("chunk", "<f4", _whole),
    "chunk_term.hash": ColumnSpec("chunk_term", "<u8"),
    "chunk_term.times": ColumnSpec("chunk_term", "<i4"),
    "atom.start": ColumnSpec("atom", "<i8"),
    "atom.end": ColumnSpec("atom", "<i8"),
    "atom.tokens": ColumnSpec("atom", "<i4"),
    "atom.section": ColumnSpec("atom", "<i4"),
    "atom.vector": ColumnSpec("atom", "|u1", _packed),
    "atom.scale": ColumnSpec("atom", "<f4"),
    "atom_term.hash": ColumnSpec("atom_term", "<u8"),
    "atom_term.times": ColumnSpec("atom_term", "<i4"),
    "token.codes": ColumnSpec("token", "|u1", _codes),
    "mention.name": ColumnSpec("mention", "<u2", HASH_BYTES // 2),
    "mention.offset": ColumnSpec("mention", "<u2"),
    "mention.packed": ColumnSpec("mention", "<u2"),
}
"""Sections are numbered within their document, so that a document's rows can be copied as they are."""

TERM_COLUMNS = {"hashes": "<u8", "first": "<i8", "row": "<i4", "times": "<i4", "length": "<i4"}
"""Of a table of terms (`chunk_terms`, `atom_terms`), which the finished index has in place of rows of terms."""

COMMUNITIES = "community.bytes"
"""Of an index whose graph has relations: what belongs to no document alone."""

CODES = ("chunk.code", "chunk.code_scale", "chunk.code_error")
"""Of an index with many vectors: see `nearest_vectors.VectorCodes`. Made of `chunk.vector` when that is whole."""

_TERM_TABLES = ("chunk", "atom")

OF_CHUNKING = frozenset({"path", "title", "chunk", "context", "summary", "span", "chunk_terms"})
"""The tables of a finished index that depend on how its documents are cut; all others only on the documents."""


def left_out(settings: Settings) -> frozenset[str]:
    """The arrays that an index with these settings does not have."""
    late = {"atom.vector", "atom.scale"}
    vectors = {"late": set[str](), "both": set[str](), "own": late, "none": {*late, "chunk.vector"}}
    tokens = set[str]() if settings.maxsim else {"token.first", "token.codes"}
    mentions = {name for name, column in COLUMNS.items() if column.table == "mention"}
    names = set[str]() if settings.graph else {"mention.first", *mentions}
    stated = set[str]() if settings.graph == "relations" else {"relation.first", "relation.bytes"}
    return frozenset(vectors[settings.vectors] | tokens | names | stated)


def expected(settings: Settings) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Every array of a finished index, with its type and the shape of one row."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    rows_of_terms = tuple(f"{table}_term" for table in _TERM_TABLES)
    without = left_out(settings)
    for table in PARENT:
        if table not in rows_of_terms and f"{table}.first" not in without:
            found[f"{table}.first"] = "<i8", ()
    for name, column in COLUMNS.items():
        if column.table not in rows_of_terms and name not in without:
            found[name] = column.dtype, column.shape(settings)
    for table in _TERM_TABLES:
        found |= {f"{table}_terms.{name}": (dtype, ()) for name, dtype in TERM_COLUMNS.items()}
    if settings.graph == "relations":
        found[COMMUNITIES] = "|u1", ()
    return found


def expected_codes(settings: Settings) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The arrays that an index with many vectors has besides."""
    if settings.vectors == "none":
        return {}
    return dict(
        zip(CODES, (("|i1", (settings.dimensions,)), ("<f4", ()), ("<f4", ())), strict=True)
    )


class Portion(NamedTuple):
    """Some documents with all their rows; `size` has the number of rows of each parent, a table each."""

    size: dict[str, NDArray[np.int64]]
    column: dict[str, Array]


def portion_of(arrays: Arrays, low: int, high: int) -> Portion:
    """The documents from one number up to another, cut out of an index that still has rows of terms."""
    bounds = {"document": (low, high)}
    sizes: dict[str, NDArray[np.int64]] = {}
    for table, parent in PARENT.items():
        if f"{table}.first" not in arrays:
            continue
        first = arrays[f"{table}.first"]
        lo, hi = bounds[parent]
        bounds[table] = (int(first[lo]), int(first[hi]))
        sizes[table] = np.diff(first[lo : hi + 1])
    columns = {
        name: arrays[name][slice(*bounds[column.table])]
        for name, column in COLUMNS.items()
        if name in arrays
    }
    return Portion(sizes, columns)


# Text from outside may hold half a surrogate pair, which strict UTF-8 refuses.
_ERRORS = "surrogatepass"


class Strings:
    """Texts that are decoded when asked for; the arrays may lie in a file."""

    def __init__(self, first: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        self._first = first
        self._data = data

    def __len__(self) -> int:
        return len(self._first) - 1

    def __getitem__(self, number: int) -> str:
        lo, hi = self._first[number : number + 2].tolist()
        return _decoded(self._data[lo:hi].tobytes())

    def all(self) -> list[str]:
        """Every text, at one go."""
        data, bounds = self._data.tobytes(), self._first.tolist()
        return [_decoded(data[lo:hi]) for lo, hi in pairwise(bounds)]


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8", _ERRORS)
    except UnicodeDecodeError as error:
        raise DamagedIndex("a text", error) from error


def encoded(texts: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The size of each text in bytes, and all bytes."""
    parts = [text.encode("utf-8", _ERRORS) for text in texts]
    sizes = np.fromiter(map(len, parts), np.int64, len(parts))
    return sizes, np.frombuffer(b"".join(parts), np.uint8)


def term_table(arrays: Arrays, table: str) -> TermTable:
    """The terms of the rows of a table, where they lie."""
    return TermTable(**{name: arrays[f"{table}_terms.{name}"] for name in TERM_COLUMNS})


def with_rows_of_terms(arrays: Arrays) -> Arrays:
    """A finished index as documents can be cut out of: its tables of terms turned back into rows."""
    found = dict(arrays)
    for table in ("chunk", "atom"):
        counts = term_table(arrays, table).counts()
        found |= {
            f"{table}_term.first": counts.first,
            f"{table}_term.hash": counts.term,
            f"{table}_term.times": counts.times,
        }
    return found
