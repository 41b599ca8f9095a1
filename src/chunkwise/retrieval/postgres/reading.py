"""One connection for reading: chunks that were found, atoms for a search at several sizes, sizes."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Span
from chunkwise.models.embed.quantized_vectors import QuantizedVectors, packed_width
from chunkwise.retrieval.bm25 import TermTable
from chunkwise.retrieval.filters import Filter, page_mask
from chunkwise.retrieval.indexed_document import document_of
from chunkwise.retrieval.postgres.connection import (
    Address,
    Version,
    connect,
    server_problems_explained,
    use_vectors,
)
from chunkwise.retrieval.postgres.loading import CHUNK_BITS, read_mentions, text_of, unpacked
from chunkwise.retrieval.postgres.schema import IndexState, TableNames, read_state
from chunkwise.retrieval.postgres.search_sql import DOCUMENTS, SECTIONS, values_of
from chunkwise.retrieval.searchable import (
    AtomBounds,
    AtomTable,
    ChunkTable,
    Communities,
    FoundChunk,
    MentionTable,
)
from chunkwise.retrieval.settings import IndexStats, Settings
from chunkwise.retrieval.tables_lists_code import ROW_WIDTH, WholeBlocks
from chunkwise.text.terms import TermCounts, join_counts
from chunkwise.text.tokens.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from psycopg import Connection


class Session:
    """Threads may share it: they take turns."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.names = TableNames(address.name)
        self.version: Version = ()
        """Of pgvector; empty: the server has none."""
        self._connection: Connection[Any] | None = None
        self._lock = RLock()
        self._inside = False

    @contextmanager
    def reading(self) -> Iterator[Connection[Any]]:
        """All statements of the block see the same state, whoever writes meanwhile; blocks may be nested."""
        with self._lock:
            if self._inside:
                yield self._open()
                return
            with ExitStack() as stack:
                connection = self._begin(stack)
                self._inside = True
                try:
                    yield connection
                finally:
                    self._inside = False

    def _begin(self, stack: ExitStack) -> Connection[Any]:
        connection = self._open()
        from psycopg import OperationalError

        stack.enter_context(server_problems_explained(self.address))
        try:
            stack.enter_context(connection.transaction())
        except OperationalError:
            # The server let an idle connection go, or was restarted: that is no reason to fail.
            connection.close()
            connection = self._open()
            stack.enter_context(connection.transaction())
        connection.execute("set transaction isolation level repeatable read, read only")
        return connection

    def about(self) -> IndexState:
        with self.reading() as connection:
            found = read_state(connection, self.address)
        if found is None:
            raise ChunkwiseError(
                f"{self.address.shown}: no knowledge base {self.address.name!r} here yet; "
                "make it with: chunkwise index DOCUMENTS --into URL"
            )
        return found

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self.address)
            # An index that nobody closed takes its connection along.
            weakref.finalize(self, self._connection.close)
            with server_problems_explained(self.address):
                # Compiling takes longer than any of these statements.
                self._connection.execute("set jit = off")
                # The server takes the chunks with frequent words for a few hundred. When they are a hundred thousand,
                # its table of sums no longer fits, and is written out and read again for minutes; sorting is steady.
                self._connection.execute("set enable_hashagg = off")
                self.version = use_vectors(self._connection)
        return self._connection


_CHUNKS = """
    select c.number, c.document, c.start, c.stop, c.tokens, s.path, c.parent_start, c.parent_stop, c.context,
        c.level, c.summary, c.stood_for
    from {chunks} c left join {sections} s on s.document = c.document and s.number = c.section
    where c.number = any(%s)
"""


def read_chunks(
    connection: Connection[Any], names: TableNames, numbers: Sequence[int]
) -> dict[int, FoundChunk]:
    """By their numbers; those that are gone are missing."""
    cursor = connection.cursor(binary=True)
    rows = cursor.execute(names(_CHUNKS), [list(map(int, numbers))])
    return {row[0]: _found_chunk(row) for row in rows}


def read_chunk_table(
    connection: Connection[Any], names: TableNames, documents: Sequence[int]
) -> ChunkTable:
    """All chunks; `documents` are the numbers of all documents, in order."""
    rows = connection.cursor(binary=True).execute(
        names("select document, start, stop, tokens, level, number from {chunks} order by number")
    )
    found = np.array(rows.fetchall(), np.int64).reshape(-1, 6)
    known = np.array(documents, np.int64)
    table = ChunkTable(known.searchsorted(found[:, 0]), found[:, 1], found[:, 2], found[:, 3])
    summarized = _places_of_summaries(connection, names, found[:, 5])
    if summarized is None:
        return table
    return table._replace(level=found[:, 4], summarized=summarized)


def _places_of_summaries(
    connection: Connection[Any], names: TableNames, numbers: NDArray[np.int64]
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


def _found_chunk(row: tuple[Any, ...]) -> FoundChunk:
    number, document, start, stop, tokens, path, parent_start, parent_stop, context, *summary = row
    position = number - (document << CHUNK_BITS)
    section = tuple(json.loads(path)) if path else ()
    parent = parent_start, parent_stop
    found = FoundChunk(
        number, document, position, start, stop, tokens, section, parent, text_of(context)
    )
    level, text, summarized = summary
    if not level:
        return found
    places = _places(summarized)
    spans = tuple(Span(start, end) for start, end in places[:, :2].tolist())
    counted = tuple(places[:, 2].tolist())
    return found._replace(level=level, summary=text_of(text), spans=spans, span_tokens=counted)


def _places(stored: bytes) -> NDArray[np.int64]:
    """Start, end and tokens of each place a summary stands for."""
    return unpacked(stored, "<i8").reshape(-1, 3)


_AT_ONCE = 100
"""Documents fetched together: their vectors are large."""


def read_bounds(connection: Connection[Any], names: TableNames, document: int) -> AtomBounds | None:
    row = connection.cursor(binary=True).execute(
        names("select start, stop, tokens from {atoms} where document = %s"), [document]
    ).fetchone()  # fmt: skip
    if row is None:
        return None
    return AtomBounds(unpacked(row[0], "<i8"), unpacked(row[1], "<i8"), unpacked(row[2], "<i4"))


def read_document(
    connection: Connection[Any], names: TableNames, number: int
) -> WholeBlocks | None:
    """None: it is gone."""
    row = connection.cursor(binary=True).execute(
        names("select exact_id, record, body, pages, blocks from {documents} where number = %s"), [number]
    ).fetchone()  # fmt: skip
    if row is None:
        return None
    id, record, body, *numbers = row
    pages, blocks = (unpacked(each, "<i8") for each in numbers)
    document = document_of(text_of(id), record, text_of(body), tuple(pages.tolist()))
    return WholeBlocks(document, blocks.reshape(-1, ROW_WIDTH))


def read_communities(connection: Connection[Any], names: TableNames) -> Communities:
    row = connection.execute(names("select record from {communities}")).fetchone()
    return Communities.from_json(row[0]) if row else Communities()


class KnownAtoms(NamedTuple):
    """All atoms and the section paths their numbers stand for."""

    table: AtomTable
    paths: list[str]
    """As JSON."""
    first_path: dict[int, int]
    """Where the paths of each document begin."""


def read_atoms(connection: Connection[Any], names: TableNames, settings: Settings) -> KnownAtoms:
    """Documents keep their numbers, which have gaps where documents were replaced."""
    named: list[MentionTable] = []
    document, section = list[NDArray[Any]](), list[NDArray[Any]]()
    columns: list[list[NDArray[Any]]] = [[] for _ in range(6)]
    counts: list[TermCounts] = []
    paths, first_path = _paths(connection, names)
    kinds = ("<i8", "<i8", "<i4", "u1", "u1", "<f4")
    with (
        connection.transaction(),
        connection.cursor("chunkwise_atoms", binary=True) as cursor,
    ):
        cursor.itersize = _AT_ONCE
        cursor.execute(
            names(
                "select document, start, stop, tokens, flags, vectors, scale, section, term_first, term, times,"
                " mention_count, mention_name, mention_place from {atoms} order by document"
            )
        )
        for row in cursor:
            for column, stored, kind in zip(columns, row[1:7], kinds, strict=True):
                if stored is not None:
                    column.append(unpacked(stored, kind))
            size = len(columns[0][-1])
            document.append(np.full(size, row[0], np.int32))
            section.append(unpacked(row[7], "<i4") + first_path.get(row[0], 0))
            first, term, times = unpacked(row[8], "<i8"), unpacked(row[9], "<u8"), row[10]
            counts.append(TermCounts(first, term, unpacked(times, "<i4")))
            if settings.graph:
                named.append(read_mentions(*row[11:]))
    start, stop, tokens, flags, vectors, scale = columns
    table = AtomTable(
        _whole(document, np.int32),
        _whole(start, np.int64),
        _whole(stop, np.int64),
        _whole(tokens, np.int32),
        _whole(section, np.int32),
        _whole(flags, np.uint8),
        TermTable.of(join_counts(counts)),
        QuantizedVectors(
            _whole(vectors, np.uint8).reshape(-1, packed_width(settings.dimensions)),
            _whole(scale, np.float32),
        )
        if vectors
        else None,
        mentions=_joined_mentions(named) if settings.graph else None,
    )
    return KnownAtoms(table, paths, first_path)


def _joined_mentions(parts: Sequence[MentionTable]) -> MentionTable:
    """One document behind the other."""
    sizes = _whole([np.diff(part.first) for part in parts], np.int64)
    return MentionTable(
        np.append(0, np.cumsum(sizes, dtype=np.int64)),
        _whole([part.name for part in parts], np.uint64),
        _whole([part.offset for part in parts], np.uint16),
        _whole([part.packed for part in parts], np.uint16),
    )


def _whole(parts: list[NDArray[Any]], kind: type[Any]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, kind), *parts]).astype(kind, copy=False)


def _paths(connection: Connection[Any], names: TableNames) -> tuple[list[str], dict[int, int]]:
    """All section paths in a row, and where each document's begin."""
    rows = connection.execute(
        names("select document, path from {sections} order by document, number")
    ).fetchall()  # fmt: skip
    first: dict[int, int] = {}
    for row, (document, _) in enumerate(rows):
        first.setdefault(document, row)
    return [path for _, path in rows], first


def allowed_atoms(
    connection: Connection[Any],
    names: TableNames,
    known: KnownAtoms,
    only: Filter,
    documents: Sequence[int] | None = None,
) -> NDArray[np.bool_]:
    """Documents and sections are looked up on the server, pages compared here.

    `documents` are the numbers of those whose metadata the filter takes; None: it does not ask for any.
    """
    atoms = known.table
    taken = np.ones(len(atoms), np.bool_)
    if documents is not None:
        taken &= np.isin(atoms.document, np.array(documents, np.int32))
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


_COUNTS = """
    select
        (select coalesce(sum(atoms), 0) from {documents}),
        (select coalesce(sum(tokens), 0) from {documents}),
        (select coalesce(sum(tokens), 0) from {chunks}),
        (select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class
            where relnamespace = to_regnamespace(%s) and relkind = 'r')
"""
_CONTEXTS = (
    "select context, count(*) from {chunks} where octet_length(context) > 0 group by context"
)


def read_stats(connection: Connection[Any], names: TableNames, about: IndexState) -> IndexStats:
    """Bytes are those of all tables and their indexes on the server."""
    schema = names.identifier.as_string(connection)
    row = connection.execute(names(_COUNTS), [schema]).fetchone()
    atoms, tokens, chunk_tokens, room = map(int, row or (0, 0, 0, 0))
    count = get_tokenizer(about.settings.tokenizer).count
    contexts = connection.cursor(binary=True).execute(names(_CONTEXTS))
    beside = sum(count(text_of(context)) * times for context, times in contexts)
    late = atoms if about.settings.vectors in ("late", "both") else 0
    return IndexStats(
        documents=about.documents,
        chunks=about.chunks,
        atoms=atoms,
        tokens=tokens,
        indexed_tokens=chunk_tokens + beside,
        context_tokens=beside,
        vectors=(about.chunks if about.settings.dimensions else 0) + late,
        dimensions=about.settings.dimensions,
        bytes=room,
    )
