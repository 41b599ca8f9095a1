"""Documents into tables by COPY, several at a time, and out of them again; values as the server keeps them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import SECTION_SEPARATOR, Document
from chunkwise.models.embed.quantized_vectors import QuantizedVectors
from chunkwise.retrieval.indexed_document import (
    IndexedDocument,
    NameDescription,
    Relation,
    SpanRows,
    StatedRelations,
    Summaries,
    readable,
    record_of,
    touched_atoms,
)
from chunkwise.retrieval.postgres.schema import TableNames
from chunkwise.retrieval.searchable import MentionTable
from chunkwise.retrieval.settings import Settings
from chunkwise.text.names import HASH_BYTES

if TYPE_CHECKING:
    from psycopg import Connection


def exact(text: str) -> bytes:
    """UTF-8: PostgreSQL's own type for text has no NUL and no half surrogate pairs."""
    return text.encode("utf-8", "surrogatepass")


def text_of(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogatepass")


def packed(values: NDArray[Any], kind: str) -> bytes:
    """Little-endian, whatever the machine: `kind` is NumPy's name, such as `<i8`."""
    return np.ascontiguousarray(values, dtype=kind).tobytes()


def unpacked(stored: bytes, kind: str) -> NDArray[Any]:
    return np.frombuffer(stored, dtype=kind)


CHUNK_BITS = 32
"""A chunk's number is its document's, then its place in it: never used again for another chunk."""

_FEW = 20
"""Documents whose postings are looked up one by one; for more, all postings are looked through once."""


def _copied(**sizes: int) -> np.dtype[Any]:
    """A row in COPY's binary form, of whole numbers of so many bytes."""
    columns = [
        each
        for name, size in sizes.items()
        for each in ((f"{name}_size", ">i4"), (name, f">i{size}"))
    ]
    return np.dtype([("fields", ">i2"), *columns])


_POSTING = _copied(term=8, chunk=8, times=4, terms=4)
_COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END = b"\xff\xff"


def _binary_rows(row: np.dtype[Any], /, **columns: NDArray[Any] | int) -> NDArray[Any]:
    """Rows of COPY's binary form, all at once: there are dozens a chunk."""
    count = max(len(each) for each in columns.values() if isinstance(each, np.ndarray))
    out = np.empty(count, row)
    out["fields"] = len(columns)
    for name, values in columns.items():
        out[name] = values
        out[f"{name}_size"] = row[name].itemsize
    return out


def key_of(id: str) -> bytes:
    """What documents are told apart by: ids may be longer than an index entry."""
    return hashlib.sha256(exact(id)).digest()


class NumberedDocument(NamedTuple):
    """A document on its way into the tables."""

    number: int
    part: IndexedDocument
    language: str
    """Its terms were found in."""


def load(
    connection: Connection[Any],
    names: TableNames,
    documents: Sequence[NumberedDocument],
    settings: Settings,
) -> None:
    """One COPY a table."""
    vectors = settings.dimensions > 0
    columns = (
        "integer bytea bytea text text text text text text bytea bytea bytea integer integer bigint"
    )
    _copy(connection, names, "{documents}", columns, map(_document, documents))
    sections = (row for number, part, _ in documents for row in _sections(number, part))
    _copy(connection, names, "{sections}", "integer integer text text", sections)
    chunks = "bigint integer bigint bigint integer integer integer[] integer integer integer[] bigint bigint"
    chunks += " integer bytea smallint bytea bytea"
    rows = (row for number, part, _ in documents for row in _chunks(number, part, vectors))
    _copy(connection, names, "{chunks}", chunks + " vector" * vectors, rows)
    atoms = "integer" + " bytea" * 13
    _copy(connection, names, "{atoms}", atoms, map(_atoms, documents))
    _copy_rows(
        connection, names, "{postings}", (_postings(n, part.chunks) for n, part, _ in documents)
    )
    if settings.graph == "relations":
        columns = "integer integer text text text integer integer"
        stated = (row for number, part, _ in documents for row in _relations(number, part))
        _copy(connection, names, "{relations}", columns, stated)


def _relations(number: int, part: IndexedDocument) -> Iterator[Sequence[object]]:
    stated = part.relations or StatedRelations()
    rows = [
        *stated.relations,
        *(Relation(each.name, "", *each[1:]) for each in stated.descriptions),
    ]
    for position, row in enumerate(rows):
        yield number, position, *row


def read_relations(
    connection: Connection[Any], names: TableNames, document: int
) -> StatedRelations:
    rows = connection.execute(
        names(
            "select subject, relation, object, start, stop from {relations} where document = %s order by position"
        ),
        [document],
    ).fetchall()
    found = [Relation(*row) for row in rows]
    return StatedRelations(
        tuple(each for each in found if each.relation),
        tuple(NameDescription(each.subject, *each[2:]) for each in found if not each.relation),
    )


def remove(connection: Connection[Any], names: TableNames, numbers: Sequence[int]) -> None:
    """Chunks, sections and atoms go with their document; postings know chunks alone."""
    if not numbers:
        return
    connection.execute(names("delete from {documents} where number = any(%s)"), [list(numbers)])
    if len(numbers) <= _FEW:
        statement = names("delete from {postings} where chunk >= %s and chunk < %s")
        for number in numbers:
            connection.execute(statement, [number << CHUNK_BITS, (number + 1) << CHUNK_BITS])
    else:
        connection.execute(
            names("delete from {postings} where (chunk >> %s) = any(%s)"),
            [CHUNK_BITS, list(numbers)],
        )


def _copy_rows(
    connection: Connection[Any], names: TableNames, table: str, rows: Iterable[NDArray[Any]]
) -> None:
    with connection.cursor().copy(names(f"copy {table} from stdin (format binary)")) as copy:
        copy.write(_COPY_HEAD)
        for some in rows:
            copy.write(some.tobytes())
        copy.write(_COPY_END)


def _copy(
    connection: Connection[Any],
    names: TableNames,
    table: str,
    types: str,
    rows: Iterable[Sequence[object]],
) -> None:
    statement = names(f"copy {table} from stdin (format binary)")
    with connection.cursor().copy(statement) as copy:
        copy.set_types(types.split())
        for row in rows:
            copy.write_row(row)


def _document(numbered: NumberedDocument) -> Sequence[object]:
    number, part, language = numbered
    document = part.document
    return (
        number,
        key_of(document.id),
        exact(document.id),
        readable(document.id),
        readable(document.title),
        readable(document.source),
        part.fingerprint,
        language,
        record_of(document),
        packed(np.array(document.pages), "<i8"),
        packed(part.blocks, "<i8"),
        exact(document.text),
        len(part.chunks),
        len(part.atoms),
        int(part.atoms.tokens.sum(dtype=np.int64)),
    )


def _sections(number: int, part: IndexedDocument) -> Iterator[Sequence[object]]:
    for position, path in enumerate(part.paths):
        words = readable(SECTION_SEPARATOR.join(path).casefold())
        yield number, position, json.dumps(path), words


def _chunks(number: int, part: IndexedDocument, vectors: bool) -> Iterator[Sequence[object]]:
    rows, document = part.chunks, part.document
    counted, sections = lengths(rows), _sections_of_chunks(part)
    summaries = part.summaries or Summaries.none(len(rows))
    first = summaries.places[:, 0].searchsorted(np.arange(len(rows) + 1)).tolist()
    for position in range(len(rows)):
        start, stop = int(rows.start[position]), int(rows.end[position])
        row: list[object] = [(number << CHUNK_BITS) + position, number, start, stop]
        row += [int(rows.tokens[position]), int(rows.section[position]), sections[position]]
        row += _pages(document, start, stop)
        places = summaries.places[first[position] : first[position + 1], 1:]
        held = places.tolist() if document.pages else []
        row.append([page for low, high, _ in held for page in _pages(document, low, high)])
        row += [int(part.parents[position][0]), int(part.parents[position][1])]
        row += [int(counted[position]), exact(part.contexts[position])]
        row += [
            int(summaries.level[position]),
            exact(summaries.texts[position]),
            packed(places, "<i8"),
        ]
        if vectors:
            row.append(None if part.chunk_vectors is None else part.chunk_vectors[position])
        yield row


def _pages(document: Document, start: int, end: int) -> list[int | None]:
    """Those a span begins and ends on."""
    return [document.page(start), document.page(max(start, end - 1))]


def _sections_of_chunks(part: IndexedDocument) -> list[list[int]]:
    """Every section that a chunk touches, or that the places of a summary do: its own path is what they share."""
    touched = [
        np.unique(part.atoms.section[low:high])
        for low, high in _atoms_of(part, part.chunks.start, part.chunks.end)
    ]
    if part.summaries is not None:
        chunk, start, end, _ = part.summaries.places.T
        own = [part.atoms.section[low:high] for low, high in _atoms_of(part, start, end)]
        for number in np.unique(chunk).tolist():
            low, high = chunk.searchsorted([number, number + 1])
            touched[number] = np.unique(np.concatenate(own[low:high]))
    return [each.tolist() for each in touched]


def _atoms_of(
    part: IndexedDocument, start: NDArray[np.int64], end: NDArray[np.int64]
) -> Iterator[tuple[int, int]]:
    """Of each span its first atom, and the one behind its last."""
    first, last = touched_atoms(part.atoms.start, start, end)
    return zip(first.tolist(), last.tolist(), strict=True)


def _atoms(numbered: NumberedDocument) -> Sequence[object]:
    number, part, _ = numbered
    atoms, terms = part.atoms, part.atoms.terms
    vectors = None if part.atom_sums is None else QuantizedVectors.of(part.atom_sums)
    return (
        number,
        packed(atoms.start, "<i8"),
        packed(atoms.end, "<i8"),
        packed(atoms.tokens, "<i4"),
        packed(atoms.section, "<i4"),
        packed(part.atom_flags, "u1"),
        packed(terms.first, "<i8"),
        packed(terms.term, "<u8"),
        packed(terms.times, "<i4"),
        None if vectors is None else packed(vectors.packed, "u1"),
        None if vectors is None else packed(vectors.scale, "<f4"),
        *_mentions(part),
    )


def lengths(rows: SpanRows) -> NDArray[np.int64]:
    """How many terms each row has, repeats included."""
    total = np.concatenate(([0], np.cumsum(rows.terms.times, dtype=np.int64)))
    return total[rows.terms.first[1:]] - total[rows.terms.first[:-1]]


def _postings(number: int, rows: SpanRows) -> NDArray[Any]:
    counts = np.diff(rows.terms.first)
    return _binary_rows(
        _POSTING,
        term=rows.terms.term.view(np.int64),
        chunk=(number << CHUNK_BITS) + np.repeat(np.arange(len(rows)), counts),
        times=rows.terms.times,
        terms=np.repeat(lengths(rows), counts),
    )


def _mentions(part: IndexedDocument) -> tuple[bytes | None, bytes | None, bytes | None]:
    """How many names each atom has, their hashes, and where they stand in it: as a folder keeps them."""
    if part.mentions is None:
        return None, None, None
    table = MentionTable.of(part.mentions, part.atoms.start)
    places = np.stack((table.offset, table.packed), axis=1)
    counts = packed(np.diff(table.first), "<i4")
    return counts, packed(table.packed_names, "<u2"), packed(places, "<u2")


def read_mentions(counts: bytes, names: bytes, places: bytes) -> MentionTable:
    """Of one document."""
    offset, rest = unpacked(places, "<u2").reshape(-1, 2).T
    hashes = MentionTable.unpacked_names(unpacked(names, "<u2").reshape(-1, HASH_BYTES // 2))
    first = np.append(0, np.cumsum(unpacked(counts, "<i4"), dtype=np.int64))
    return MentionTable(first, hashes, offset, rest)
