"""The arrays of an index by name: tables of rows, each row of one belonging to a row of another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval import small_vectors
from chunkwise.retrieval.settings import Vectors

Array = NDArray[Any]
Arrays = Mapping[str, Array]

PARENT = {
    "id": "document",
    "record": "document",
    "text": "document",
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
}
"""Each table and the one its rows belong to: `NAME.first` says where the rows of each parent begin. The rows of
`id`, `record`, `text`, `title`, `context` and `summary` are bytes of UTF-8; only summaries have rows of `span`: the
places they stand for."""


class Column(NamedTuple):
    """What the rows of a table hold; 0 columns wide: one value a row."""

    table: str
    dtype: str
    width: int | Callable[[int], int] = 0
    """What to make of the number of dimensions, where it depends on them."""

    def shape(self, dimensions: int) -> tuple[int, ...]:
        """Of one row."""
        width = self.width if isinstance(self.width, int) else self.width(dimensions)
        return (width,) if width else ()


def _whole(dimensions: int) -> int:
    return dimensions


COLUMNS = {
    "document.fingerprint": Column("document", "|u1", 16),
    "document.language": Column("document", "|S8"),
    "id.bytes": Column("id", "|u1"),
    "record.bytes": Column("record", "|u1"),
    "text.bytes": Column("text", "|u1"),
    "page.start": Column("page", "<i8"),
    "title.bytes": Column("title", "|u1"),
    "context.bytes": Column("context", "|u1"),
    "summary.bytes": Column("summary", "|u1"),
    "span.start": Column("span", "<i8"),
    "span.end": Column("span", "<i8"),
    "span.tokens": Column("span", "<i4"),
    "chunk.start": Column("chunk", "<i8"),
    "chunk.end": Column("chunk", "<i8"),
    "chunk.tokens": Column("chunk", "<i4"),
    "chunk.section": Column("chunk", "<i4"),
    "chunk.parent": Column("chunk", "<i8", 2),
    "chunk.level": Column("chunk", "|i1"),
    "chunk.vector": Column("chunk", "<f4", _whole),
    "chunk_term.hash": Column("chunk_term", "<u8"),
    "chunk_term.times": Column("chunk_term", "<i4"),
    "atom.start": Column("atom", "<i8"),
    "atom.end": Column("atom", "<i8"),
    "atom.tokens": Column("atom", "<i4"),
    "atom.section": Column("atom", "<i4"),
    "atom.vector": Column("atom", "|u1", small_vectors.width),
    "atom.scale": Column("atom", "<f4"),
    "atom_term.hash": Column("atom_term", "<u8"),
    "atom_term.times": Column("atom_term", "<i4"),
}
"""Sections are numbered within their document, so that a document's rows can be copied as they are."""

TERM_COLUMNS = {"hashes": "<u8", "first": "<i8", "row": "<i4", "times": "<i4", "length": "<i4"}
"""Of a table of terms (`chunk_terms`, `atom_terms`), which the finished index has in place of rows of terms."""

_TERM_TABLES = ("chunk", "atom")

OF_CHUNKING = frozenset({"path", "title", "chunk", "context", "summary", "span", "chunk_terms"})
"""The tables of a finished index that depend on how its documents are cut; all others only on the documents."""


def left_out(vectors: Vectors) -> frozenset[str]:
    """The columns that an index with these vectors does not have."""
    late = {"atom.vector", "atom.scale"}
    return {
        "late": frozenset[str](),
        "both": frozenset[str](),
        "own": frozenset(late),
        "none": frozenset({*late, "chunk.vector"}),
    }[vectors]


def expected(vectors: Vectors, dimensions: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Every array of a finished index, with its type and the shape of one row."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    rows_of_terms = tuple(f"{table}_term" for table in _TERM_TABLES)
    for table in PARENT:
        if table not in rows_of_terms:
            found[f"{table}.first"] = "<i8", ()
    for name, column in COLUMNS.items():
        if column.table not in rows_of_terms and name not in left_out(vectors):
            found[name] = column.dtype, column.shape(dimensions)
    for table in _TERM_TABLES:
        found |= {f"{table}_terms.{name}": (dtype, ()) for name, dtype in TERM_COLUMNS.items()}
    return found


class Portion(NamedTuple):
    """Some documents with all their rows; `size` has the number of rows of each parent, a table each."""

    size: dict[str, NDArray[np.int64]]
    column: dict[str, Array]


def portion_of(arrays: Arrays, low: int, high: int) -> Portion:
    """The documents from one number up to another, cut out of an index that still has rows of terms."""
    bounds = {"document": (low, high)}
    sizes: dict[str, NDArray[np.int64]] = {}
    for table, parent in PARENT.items():
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
