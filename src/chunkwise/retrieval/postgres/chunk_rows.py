"""Chunks as the server keeps them: those that were found, and the table of them all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Span
from chunkwise.retrieval.postgres.loading import CHUNK_BITS
from chunkwise.retrieval.postgres.schema import Names
from chunkwise.retrieval.postgres.storable import text_of, unpacked
from chunkwise.retrieval.searchable import ChunkTable, FoundChunk

if TYPE_CHECKING:
    from psycopg import Connection

_CHUNKS = """
    select c.number, c.document, c.start, c.stop, c.tokens, s.path, c.parent_start, c.parent_stop, c.context,
        c.level, c.summary, c.stood_for
    from {chunks} c left join {sections} s on s.document = c.document and s.number = c.section
    where c.number = any(%s)
"""


def read_chunks(
    connection: Connection[Any], names: Names, numbers: Sequence[int]
) -> dict[int, FoundChunk]:
    """By their numbers; those that are gone are missing."""
    cursor = connection.cursor(binary=True)
    rows = cursor.execute(names(_CHUNKS), [list(map(int, numbers))])
    return {row[0]: _found(row) for row in rows}


def read_chunk_table(
    connection: Connection[Any], names: Names, documents: Sequence[int]
) -> ChunkTable:
    """All chunks; `documents` are the numbers of all documents, in order."""
    rows = connection.cursor(binary=True).execute(
        names("select document, start, stop, tokens, level, number from {chunks} order by number")
    )
    found = np.array(rows.fetchall(), np.int64).reshape(-1, 6)
    known = np.array(documents, np.int64)
    table = ChunkTable(known.searchsorted(found[:, 0]), found[:, 1], found[:, 2], found[:, 3])
    stood_for = _places_of_summaries(connection, names, found[:, 5])
    if stood_for is None:
        return table
    return table._replace(level=found[:, 4], stood_for=stood_for)


def _places_of_summaries(
    connection: Connection[Any], names: Names, numbers: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """By their place among all chunks; None: there are none."""
    rows = connection.cursor(binary=True).execute(
        names("select number, stood_for from {chunks} where level > 0 order by number")
    ).fetchall()  # fmt: skip
    parts = [(int(numbers.searchsorted(row[0])), _places(row[1])) for row in rows]
    if not parts:
        return None
    return np.concatenate(
        [np.insert(places, 0, number, axis=1) for number, places in parts]
    ).astype(np.int64)


def _found(row: tuple[Any, ...]) -> FoundChunk:
    number, document, start, stop, tokens, path, parent_start, parent_stop, context, *summary = row
    position = number - (document << CHUNK_BITS)
    section = tuple(json.loads(path)) if path else ()
    parent = parent_start, parent_stop
    found = FoundChunk(
        number, document, position, start, stop, tokens, section, parent, text_of(context)
    )
    level, text, stood_for = summary
    if not level:
        return found
    places = _places(stood_for)
    spans = tuple(Span(start, end) for start, end in places[:, :2].tolist())
    counted = tuple(places[:, 2].tolist())
    return found._replace(level=level, summary=text_of(text), spans=spans, span_tokens=counted)


def _places(stored: bytes) -> NDArray[np.int64]:
    """Start, end and tokens of each place a summary stands for."""
    return unpacked(stored, "<i8").reshape(-1, 3)
