"""The columns of an index: arrays by name, rows that belong to rows of other tables, and documents on their way in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.embed.quantized_vectors import QuantizedVectors, code_width, packed_width
from chunkwise.retrieval.bm25 import TermTable
from chunkwise.retrieval.errors import DamagedIndex
from chunkwise.retrieval.filters import Filter, RowKind, page_mask
from chunkwise.retrieval.indexed_document import (
    IndexedDocument,
    SpanRows,
    Summaries,
    record_of,
    touched_atoms,
)
from chunkwise.retrieval.searchable import MentionTable
from chunkwise.retrieval.settings import Settings
from chunkwise.retrieval.tables_lists_code import ROW_WIDTH
from chunkwise.text.names import HASH_BYTES, Mentions
from chunkwise.text.terms import TermCounts

Array = NDArray[Any]
Arrays = Mapping[str, Array]

PARENT = {
    "id": "document",
    "record": "document",
    "text": "document",
    "relation": "document",
    "page": "document",
    "block": "document",
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
    "block.row": ColumnSpec("block", "<i8", ROW_WIDTH),
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
    "atom.flags": ColumnSpec("atom", "|u1"),
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
    result: dict[str, tuple[str, tuple[int, ...]]] = {}
    rows_of_terms = tuple(f"{table}_term" for table in _TERM_TABLES)
    without = left_out(settings)
    for table in PARENT:
        if table not in rows_of_terms and f"{table}.first" not in without:
            result[f"{table}.first"] = "<i8", ()
    for name, column in COLUMNS.items():
        if column.table not in rows_of_terms and name not in without:
            result[name] = column.dtype, column.shape(settings)
    for table in _TERM_TABLES:
        result |= {f"{table}_terms.{name}": (dtype, ()) for name, dtype in TERM_COLUMNS.items()}
    if settings.graph == "relations":
        result[COMMUNITIES] = "|u1", ()
    return result


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
        return _decoded(np.ascontiguousarray(self._data[lo:hi]).data)  # no copy: a text may be huge

    def all(self) -> list[str]:
        """Every text, at one go."""
        data, bounds = self._data.tobytes(), self._first.tolist()
        return [_decoded(data[lo:hi]) for lo, hi in pairwise(bounds)]


def _decoded(data: bytes | memoryview) -> str:
    try:
        return str(data, "utf-8", _ERRORS)
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
    rows = dict(arrays)
    for table in ("chunk", "atom"):
        counts = term_table(arrays, table).counts()
        rows |= {
            f"{table}_term.first": counts.first,
            f"{table}_term.hash": counts.term,
            f"{table}_term.times": counts.times,
        }
    return rows


def document_mask(ids: Strings, only: Filter) -> NDArray[np.bool_]:
    """The documents a filter names."""
    if not only.documents:
        return np.ones(len(ids), np.bool_)
    return np.fromiter(map(only.takes_document, ids.all()), np.bool_, len(ids))


def section_mask(titles: Strings, only: Filter) -> NDArray[np.bool_]:
    """The section paths a filter names."""
    paths = (json.loads(path) for path in titles.all())
    return np.fromiter(map(only.takes_section, paths), np.bool_, len(titles))


def touching(arrays: Arrays, atoms: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The chunks in which one at least of these atoms lies, in part at least; of a summary, in one of its places."""
    before = np.concatenate(([0], np.cumsum(atoms)))
    first, last = _atoms_of(arrays, "chunk", np.diff(arrays["chunk.first"]))
    result: NDArray[np.bool_] = before[last] > before[first]
    if len(arrays["span.start"]):
        first, last = _atoms_of(arrays, "span", np.diff(_first_spans(arrays)))
        return _by_places(arrays, result, before[last] > before[first])
    return result


def on_pages(
    arrays: Arrays, table: RowKind, pages: Sequence[NDArray[np.int64]], only: Filter
) -> NDArray[np.bool_]:
    """The chunks or atoms that touch the pages asked for; a summary does where one of its places does."""
    start, end, first = (arrays[f"{table}.{name}"] for name in ("start", "end", "first"))
    result = page_mask(pages, first, start, end, only)
    if table == "chunk" and len(arrays["span.start"]):
        start, end = arrays["span.start"], arrays["span.end"]
        places = page_mask(pages, _first_spans(arrays), start, end, only)
        return _by_places(arrays, result, places)
    return result


def _first_spans(arrays: Arrays) -> NDArray[np.int64]:
    """Of each document, where the places of its summaries begin."""
    result: NDArray[np.int64] = arrays["span.first"][arrays["chunk.first"]]
    return result


def _by_places(
    arrays: Arrays, chunks: NDArray[np.bool_], places: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Chunks by themselves, summaries by whether one of their places is taken."""
    sizes = np.diff(arrays["span.first"])
    result = chunks & (sizes == 0)
    result[np.repeat(np.arange(len(sizes)), sizes)[places]] = True
    return result


def _atoms_of(
    arrays: Arrays, table: str, counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each row of a table its first atom, and the one behind its last; a document has so many rows."""
    rows = arrays["atom.first"]
    # All texts in a row, so that one search serves all documents.
    ends = np.concatenate(([0], arrays["atom.end"]))
    length = np.where(np.diff(rows) > 0, ends[rows[1:]], 0)
    base = np.cumsum(length) - length
    starts = arrays["atom.start"] + np.repeat(base, np.diff(rows))
    shift = np.repeat(base, counts)
    return touched_atoms(starts, arrays[f"{table}.start"] + shift, arrays[f"{table}.end"] + shift)


def encode(part: IndexedDocument, language: str) -> Portion:
    """One document; `language` is what its terms were found by."""
    sizes, columns = encode_chunks(part, language)
    columns |= {
        "document.fingerprint": np.frombuffer(bytes.fromhex(part.fingerprint), np.uint8)[None],
        "page.start": np.array(part.document.pages, np.int64),
        "block.row": part.blocks,
        "atom.flags": part.atom_flags,
    }
    texts = {
        "id": [part.document.id],
        "record": [record_of(part.document)],
        "text": [part.document.text],
    }
    for name, values in texts.items():
        sizes[name], columns[f"{name}.bytes"] = encoded(values)
    sizes["atom_term"] = np.diff(part.atoms.terms.first)
    columns |= _columns("atom", part.atoms)
    if part.atom_sums is not None:
        vectors = QuantizedVectors.of(part.atom_sums)
        columns |= {"atom.vector": vectors.packed, "atom.scale": vectors.scale}
    if part.token_codes is not None:
        sizes["token"] = part.token_codes.sizes
        columns["token.codes"] = part.token_codes.packed
    if part.mentions is not None:
        sizes["mention"], rows = mention_rows(part.mentions, part.atoms.start)
        columns |= rows
    if part.relations is not None:
        sizes["relation"], columns["relation.bytes"] = encoded([part.relations.to_json()])
    sizes["page"] = _count(part.document.pages)
    sizes["block"] = _count(part.blocks)
    sizes["atom"] = _count(part.atoms)
    return Portion(sizes, {name: _typed(name, array) for name, array in columns.items()})


def mention_rows(
    mentions: Mentions, starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], dict[str, Array]]:
    """How many mentions each atom has, and their columns."""
    table = MentionTable.of(mentions, starts)
    return np.diff(table.first), {
        "mention.name": table.packed_names,
        "mention.offset": table.offset,
        "mention.packed": table.packed,
    }


def encode_chunks(part: IndexedDocument, language: str) -> Portion:
    """Of one document what depends on how it is cut (`layout.OF_CHUNKING`), and its language."""
    summaries = part.summaries or Summaries.none(len(part.chunks))
    chunk, start, end, tokens = summaries.places.T
    columns: dict[str, Array] = {
        "chunk.level": summaries.level,
        "span.start": start,
        "span.end": end,
        "span.tokens": tokens,
        "document.language": np.array([language.encode()], "S8"),
        "chunk.parent": part.parents,
        **_columns("chunk", part.chunks),
    }
    if part.chunk_vectors is not None:
        columns["chunk.vector"] = part.chunk_vectors
    sizes = {
        "path": _count(part.paths),
        "chunk": _count(part.chunks),
        "chunk_term": np.diff(part.chunks.terms.first),
        "span": np.bincount(chunk, minlength=len(part.chunks)),
    }
    texts = {
        "title": [json.dumps(path) for path in part.paths],
        "context": part.contexts,
        "summary": summaries.texts,
    }
    for name, values in texts.items():
        sizes[name], columns[f"{name}.bytes"] = encoded(values)
    return Portion(sizes, {name: _typed(name, array) for name, array in columns.items()})


def _count(rows: Sized) -> NDArray[np.int64]:
    return np.array([len(rows)], np.int64)


def _columns(name: str, rows: SpanRows) -> dict[str, Array]:
    return {
        f"{name}.start": rows.start,
        f"{name}.end": rows.end,
        f"{name}.tokens": rows.tokens,
        f"{name}.section": rows.section,
        f"{name}_term.hash": rows.terms.term,
        f"{name}_term.times": rows.terms.times,
    }


def _typed(name: str, values: Array) -> Array:
    return np.ascontiguousarray(values, COLUMNS[name].dtype)


class ColumnSink(Protocol):
    """Takes columns piece by piece."""

    def append(self, name: str, values: Array) -> None: ...

    def take(self, name: str) -> Array:
        """A column as far as it is there, which is then no longer part of the index."""

    def finish(self) -> Arrays:
        """All columns, ready to be searched."""

    def finish_more(self, name: str, values: Array) -> Arrays:
        """A further column, made from the others."""


_SAID_ONCE = frozenset({"document", "id", "record"})
"""Tables that hold what is said of a document as a whole."""


class Collector:
    """Puts portions together: counts where rows begin, and turns rows of terms into tables at the end."""

    def __init__(self, sink: ColumnSink, settings: Settings) -> None:
        self.sink = sink
        self._rows = dict.fromkeys(PARENT, 0)
        self.languages: set[str] = set()
        without = left_out(settings)
        for first in (f"{table}.first" for table in PARENT):
            if first not in without:
                sink.append(first, np.zeros(1, np.int64))
        # An index of no documents has every column, too.
        for name, column in COLUMNS.items():
            if name not in without:
                sink.append(name, np.empty((0, *column.shape(settings)), column.dtype))

    def add(self, portion: Portion) -> None:
        self._append(*portion)
        known = np.unique(portion.column["document.language"]).tolist()
        self.languages.update(code.decode() for code in known)

    def _append(self, size: Mapping[str, NDArray[np.int64]], column: Arrays) -> None:
        for table, sizes in size.items():
            first = np.cumsum(sizes, dtype=np.int64) + self._rows[table]
            self._rows[table] = int(first[-1]) if len(first) else self._rows[table]
            self.sink.append(f"{table}.first", first)
        for name, values in column.items():
            self.sink.append(name, values)

    def add_segments(self, portions: Iterable[Portion]) -> None:
        """One document, some rows at a time."""
        tables: list[str] = []  # whose rows belong to documents
        for number, (size, column) in enumerate(portions):
            if number:  # what is said of the document is said once
                size = {name: array for name, array in size.items() if name not in _SAID_ONCE}
                column = {
                    name: array
                    for name, array in column.items()
                    if COLUMNS[name].table not in _SAID_ONCE
                }
            else:
                tables = [table for table in size if PARENT[table] == "document"]
                self.languages.add(column["document.language"][0].decode())
            for table in set(tables) & set(size):
                self._rows[table] += int(size[table].sum())
            within = {table: array for table, array in size.items() if table not in tables}
            self._append(within, column)
        for table in tables:
            self.sink.append(f"{table}.first", np.array([self._rows[table]], np.int64))

    def finish(self) -> Arrays:
        for table in ("chunk", "atom"):
            counts = TermCounts(
                self.sink.take(f"{table}_term.first"),
                self.sink.take(f"{table}_term.hash"),
                self.sink.take(f"{table}_term.times"),
            )
            before = 0
            for number, part in enumerate(TermTable.in_parts(counts)):
                columns: dict[str, Array] = {"row": part.row, "times": part.times}
                columns |= {"hashes": part.hashes, "first": part.first[1:] + before}
                if number == 0:
                    columns |= {"length": part.length, "first": part.first}
                before += len(part.row)
                for name, values in columns.items():
                    typed = np.ascontiguousarray(values, TERM_COLUMNS[name])
                    self.sink.append(f"{table}_terms.{name}", typed)
        return self.sink.finish()


class MemorySink:
    """Keeps what it is given and joins it at the end."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Array]] = {}

    def append(self, name: str, values: Array) -> None:
        self._parts.setdefault(name, []).append(values)

    def take(self, name: str) -> Array:
        return np.concatenate(self._parts.pop(name))

    def finish(self) -> Arrays:
        # One column after the other, so that no more than one is there twice.
        return {name: self.take(name) for name in list(self._parts)}

    def finish_more(self, name: str, values: Array) -> Arrays:
        return {name: values}
