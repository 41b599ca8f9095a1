"""All atoms of a knowledge base, brought over once for a search at several sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.atom_table import AtomTable
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.masks import page_mask
from chunkwise.retrieval.postgres.conditions import DOCUMENTS, SECTIONS, values_of
from chunkwise.retrieval.postgres.schema import Names
from chunkwise.retrieval.postgres.storable import unpacked
from chunkwise.retrieval.searchable import Bounds
from chunkwise.retrieval.small_vectors import SmallVectors, width
from chunkwise.retrieval.term_table import TermTable
from chunkwise.text.term_counts import TermCounts, joined

if TYPE_CHECKING:
    from psycopg import Connection

_AT_ONCE = 100
"""Documents fetched together: their vectors are large."""


def read_bounds(connection: Connection[Any], names: Names, document: int) -> Bounds | None:
    row = connection.cursor(binary=True).execute(
        names("select start, stop, tokens from {atoms} where document = %s"), [document]
    ).fetchone()  # fmt: skip
    if row is None:
        return None
    return Bounds(unpacked(row[0], "<i8"), unpacked(row[1], "<i8"), unpacked(row[2], "<i4"))


class KnownAtoms(NamedTuple):
    """All atoms and the section paths their numbers stand for."""

    table: AtomTable
    paths: list[str]
    """As JSON."""
    first_path: dict[int, int]
    """Where the paths of each document begin."""


def read_atoms(connection: Connection[Any], names: Names, dimensions: int) -> KnownAtoms:
    """Documents keep their numbers, which have gaps where documents were replaced."""
    document, section = list[NDArray[Any]](), list[NDArray[Any]]()
    columns: list[list[NDArray[Any]]] = [[] for _ in range(5)]
    counts: list[TermCounts] = []
    paths, first_path = _paths(connection, names)
    kinds = ("<i8", "<i8", "<i4", "u1", "<f4")
    with (
        connection.transaction(),
        connection.cursor("chunkwise_atoms", binary=True) as cursor,
    ):
        cursor.itersize = _AT_ONCE
        cursor.execute(
            names(
                "select document, start, stop, tokens, vectors, scale, section, term_first, term, times"
                " from {atoms} order by document"
            )
        )
        for row in cursor:
            for column, stored, kind in zip(columns, row[1:6], kinds, strict=True):
                if stored is not None:
                    column.append(unpacked(stored, kind))
            size = len(columns[0][-1])
            document.append(np.full(size, row[0], np.int32))
            section.append(unpacked(row[6], "<i4") + first_path.get(row[0], 0))
            first, term, times = unpacked(row[7], "<i8"), unpacked(row[8], "<u8"), row[9]
            counts.append(TermCounts(first, term, unpacked(times, "<i4")))
    start, stop, tokens, vectors, scale = columns
    table = AtomTable(
        _whole(document, np.int32),
        _whole(start, np.int64),
        _whole(stop, np.int64),
        _whole(tokens, np.int32),
        _whole(section, np.int32),
        TermTable.of(joined(counts)),
        SmallVectors(
            _whole(vectors, np.uint8).reshape(-1, width(dimensions)), _whole(scale, np.float32)
        )
        if vectors
        else None,
    )
    return KnownAtoms(table, paths, first_path)


def _whole(parts: list[NDArray[Any]], kind: type[Any]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, kind), *parts]).astype(kind, copy=False)


def _paths(connection: Connection[Any], names: Names) -> tuple[list[str], dict[int, int]]:
    """All section paths in a row, and where each document's begin."""
    rows = connection.execute(
        names("select document, path from {sections} order by document, number")
    ).fetchall()  # fmt: skip
    first: dict[int, int] = {}
    for place, (document, _) in enumerate(rows):
        first.setdefault(document, place)
    return [path for _, path in rows], first


def allowed_atoms(
    connection: Connection[Any], names: Names, known: KnownAtoms, only: Filter
) -> NDArray[np.bool_]:
    """Documents and sections are looked up on the server, pages compared here."""
    atoms = known.table
    taken = np.ones(len(atoms), np.bool_)
    values = values_of(only)
    if only.documents:
        chosen = connection.execute(names(DOCUMENTS), values).fetchall()
        taken &= np.isin(atoms.document, np.array(chosen, np.int32).ravel())
    if only.sections:
        rows = connection.execute(names(SECTIONS), values)
        chosen = [known.first_path[document] + number for document, number in rows]
        taken &= np.isin(atoms.section, np.array(chosen, np.int32))
    if only.pages:
        pages = connection.cursor(binary=True).execute(
            names("select number, pages from {documents} order by number")
        ).fetchall()  # fmt: skip
        starts = [unpacked(row[1], "<i8") for row in pages]
        numbers = np.array([row[0] for row in pages], np.int32)
        first = np.append(atoms.document.searchsorted(numbers), len(atoms))
        taken &= page_mask(starts, first, atoms.start, atoms.end, only)
    return taken
