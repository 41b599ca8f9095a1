"""A knowledge base on a server: `Searchable`, with BM25, vectors and both; which statement a question runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document
from chunkwise.retrieval.ann_recall import Recall, recall_of
from chunkwise.retrieval.bm25 import K1, B
from chunkwise.retrieval.errors import no_vectors_error, wrong_dimensions_error
from chunkwise.retrieval.filters import EVERYTHING, Filter, RowKind
from chunkwise.retrieval.fusion import RRF_CONSTANT, Fusion
from chunkwise.retrieval.indexed_document import DocumentsCache, StatedRelations, metadata_of
from chunkwise.retrieval.metadata_conditions import Clause, MetadataTable
from chunkwise.retrieval.postgres import search_sql
from chunkwise.retrieval.postgres.connection import Address, has_index, parse_address
from chunkwise.retrieval.postgres.loading import CHUNK_BITS, read_relations, text_of
from chunkwise.retrieval.postgres.reading import (
    KnownAtoms,
    Session,
    allowed_atoms,
    read_atoms,
    read_bounds,
    read_chunk_table,
    read_chunks,
    read_communities,
    read_document,
    read_stats,
)
from chunkwise.retrieval.postgres.schema import IndexState, TableNames
from chunkwise.retrieval.postgres.search_sql import (
    FEW,
    FilterCondition,
    FusionSettings,
    filter_condition,
    query_values,
    words_statement,
)
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.searchable import (
    AtomBounds,
    AtomTable,
    ChunkTable,
    Communities,
    FoundChunk,
)
from chunkwise.retrieval.settings import IndexStats, Settings
from chunkwise.retrieval.tables_lists_code import WholeBlocks
from chunkwise.text.terms import query_terms

if TYPE_CHECKING:
    from psycopg import Connection


# The layout of a document, blocks, boxes and links at the end of its record, may be long and is left on the server.
_RECORDS = "select number, regexp_replace(record, %s, %s) from {documents} order by number"
_LAYOUT = (r'(, "blocks": \[[0-9, ]*\])?(, "boxes": "[^"]*")?(, "links": "[^"]*")?\}$', "}")


class ServerMetadata:
    """Fetched once for each state of the knowledge base, and compared as that of an index in a folder is."""

    def __init__(self, names: TableNames) -> None:
        self._names = names
        self._state = ("", -1)
        self._numbers: NDArray[np.int32] = np.empty(0, np.int32)
        self._table = MetadataTable(())

    def documents(
        self, connection: Connection[Any], about: IndexState, where: tuple[Clause, ...]
    ) -> list[int] | None:
        """Numbers of the documents that meet them all; None: nothing is asked."""
        if not where:
            return None
        if self._state != (about.born, about.revision):
            rows = connection.execute(self._names(_RECORDS), _LAYOUT).fetchall()
            self._numbers = np.array([row[0] for row in rows], np.int32)
            self._table = MetadataTable(metadata_of(row[1]) for row in rows)
            self._state = about.born, about.revision
        found: list[int] = self._numbers[self._table.mask(where)].tolist()
        return found


_NONE = "select null::bigint as number, null::real as score where false"


class PostgresRanking:
    """Every method runs within a `Session.reading` of its caller."""

    def __init__(self, session: Session, metadata: ServerMetadata) -> None:
        self._session = session
        self._metadata = metadata

    def _condition(
        self, connection: Connection[Any], about: IndexState, only: Filter
    ) -> FilterCondition:
        return filter_condition(only, self._metadata.documents(connection, about, only.clauses))

    def words(
        self, connection: Connection[Any], about: IndexState, queries: Sequence[str], depth: int, only: Filter,
        k1: float, b: float,
    ) -> list[Ranking]:  # fmt: skip
        chosen = self._condition(connection, about, only)
        statement = words_statement(chosen)
        found = []
        for query in queries:
            terms = query_terms(query, about.languages)
            values = {**chosen.values, **query_values(terms, about, k1, b), "depth": depth}
            found.append(self._ask(connection, statement, values) if len(terms) else NOTHING)
        return found

    def nearest(
        self,
        connection: Connection[Any],
        about: IndexState,
        vectors: NDArray[np.float32],
        depth: int,
        only: Filter,
        exact: bool | None,
    ) -> list[Ranking]:
        self._check(about, vectors)
        chosen = self._condition(connection, about, only)
        statement = self._near(connection, about, chosen, depth, only, exact)
        return [
            self._ask(connection, statement, {**chosen.values, "vector": vector, "depth": depth})
            if vector.any()
            else NOTHING
            for vector in np.ascontiguousarray(vectors, np.float32)
        ]

    def hybrid(
        self,
        connection: Connection[Any],
        about: IndexState,
        queries: Sequence[str],
        vectors: NDArray[np.float32],
        depth: int,
        only: Filter,
        fusing: FusionSettings,
    ) -> list[Ranking]:
        self._check(about, vectors)
        chosen = self._condition(connection, about, only)
        side = max(fusing.side_depth, depth)
        words, meaning = (
            words_statement(chosen),
            self._near(connection, about, chosen, side, only, None),
        )
        shared = {
            **chosen.values,
            "depth": side,
            "fused_depth": depth,
            "dense": float(fusing.dense),
            "constant": RRF_CONSTANT,
        }
        found = []
        for query, vector in zip(queries, np.ascontiguousarray(vectors, np.float32), strict=True):
            terms = query_terms(query, about.languages)
            # A question without words, or without a direction, has one side less.
            sides = words if len(terms) else _NONE, meaning if vector.any() else _NONE
            weights = query_values(terms, about, fusing.k1, fusing.b)
            values = {**shared, **weights, "vector": vector}
            statement = search_sql.fused_statement(*sides, fusing.fusion)
            found.append(self._ask(connection, statement, values))
        return found

    def need_vectors(self, about: IndexState) -> None:
        if not about.settings.dimensions:
            raise no_vectors_error()

    def _check(self, about: IndexState, vectors: NDArray[np.float32]) -> None:
        self.need_vectors(about)
        dimensions = about.settings.dimensions
        if vectors.ndim != 2 or vectors.shape[1] != dimensions:
            raise wrong_dimensions_error(vectors.shape, dimensions)

    def _near(
        self,
        connection: Connection[Any],
        about: IndexState,
        chosen: FilterCondition,
        depth: int,
        only: Filter,
        exact: bool | None,
    ) -> str:
        dimensions, version = about.settings.dimensions, self._session.version
        if not has_index(dimensions, version):
            exact = True
        if exact is None:
            is_filtered = bool(only)
            candidates = self._candidates(connection, chosen) if is_filtered else about.chunks
            exact = search_sql.is_exact(candidates, depth, is_filtered, version)
        if not exact:
            search_sql.search_index(connection, depth, version)
        return search_sql.near_statement(dimensions, exact).replace("{condition}", chosen.text)

    def _candidates(self, connection: Connection[Any], chosen: FilterCondition) -> int:
        """How many chunks a filter takes, as far as it matters."""
        few = f"select from {{chunks}} c where {chosen.text} limit {search_sql.FEW + 1}"
        counted = f"select count(*) from ({few}) as few"
        row = connection.execute(self._session.names(counted), chosen.values).fetchone()
        return int(row[0]) if row else 0

    def _ask(self, connection: Connection[Any], statement: str, values: dict[str, Any]) -> Ranking:
        cursor = connection.cursor(binary=True)
        rows = cursor.execute(self._session.names(statement), values).fetchall()
        numbers = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        return Ranking(numbers, np.fromiter((row[1] for row in rows), np.float32, len(rows)))


T = TypeVar("T")


class PostgresIndex:
    """Chunks and documents have the same numbers for ever: those of what was replaced are not used again."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._session = Session(address)
        self._settings = self._session.about().settings
        self._metadata = ServerMetadata(self._session.names)
        self._ranked = PostgresRanking(self._session, self._metadata)
        self._documents = DocumentsCache(self._read_document)
        self._atoms: KnownAtoms | None = None
        self._state = ("", -1)

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def languages(self) -> tuple[str, ...]:
        return self._about().languages

    @property
    def document_count(self) -> int:
        return self._about().documents

    @property
    def chunk_count(self) -> int:
        return self._about().chunks

    @property
    def has_summaries(self) -> bool:
        with self._session.reading() as connection:
            row = connection.execute(
                self._session.names("select exists (select from {chunks} where level > 0)")
            ).fetchone()
        return bool(self._there(row)[0])

    def snapshot(self) -> AbstractContextManager[object]:
        """Within it all questions are answered from one state, whoever writes meanwhile."""
        return self._session.reading()

    def words(
        self,
        queries: Sequence[str],
        depth: int,
        only: Filter = EVERYTHING,
        *,
        k1: float = K1,
        b: float = B,
    ) -> list[Ranking]:
        with self._session.reading() as connection:
            return self._ranked.words(connection, self._about(), queries, depth, only, k1, b)

    def nearest(
        self,
        vectors: NDArray[np.float32],
        depth: int,
        only: Filter = EVERYTHING,
        *,
        exact: bool | None = None,
    ) -> list[Ranking]:
        """By the HNSW index where there are many chunks; `exact` says which instead of leaving it to the number."""
        with self._session.reading() as connection:
            return self._ranked.nearest(connection, self._about(), vectors, depth, only, exact)

    def hybrid(
        self,
        queries: Sequence[str],
        vectors: NDArray[np.float32],
        depth: int,
        only: Filter = EVERYTHING,
        *,
        side_depth: int = 400,
        fusion: Fusion = "weighted",
        dense: float = 0.5,
        k1: float = K1,
        b: float = B,
    ) -> list[Ranking]:
        """Words and vectors in one statement, `side_depth` chunks of each, fused as `retrieval.fusion` does."""
        with self._session.reading() as connection:
            how = FusionSettings(side_depth, fusion, dense, k1, b)
            return self._ranked.hybrid(
                connection, self._about(), queries, vectors, depth, only, how
            )

    def chunks(self, numbers: Sequence[int]) -> list[FoundChunk]:
        with self._session.reading() as connection:
            found = read_chunks(connection, self._session.names, numbers)
        return [self._there(found.get(int(number))) for number in numbers]

    def chunk_vectors(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        with self._session.reading() as connection:
            self._ranked.need_vectors(self._about())
            rows = connection.cursor(binary=True).execute(
                self._session.names("select number, vector from {chunks} where number = any(%s)"),
                [list(map(int, numbers))],
            )
            found = dict(rows.fetchall())
        out = np.zeros((len(numbers), self.settings.dimensions), np.float32)
        for row, number in zip(out, numbers, strict=True):
            row[:] = self._there(found.get(int(number))).to_numpy()
        return out

    def chunk_range(self, document: int) -> tuple[int, int]:
        with self._session.reading() as connection:
            row = connection.execute(
                self._session.names("select chunks from {documents} where number = %s"), [document]
            ).fetchone()
        first = document << CHUNK_BITS
        return first, first + int(self._there(row)[0])

    def document(self, number: int) -> Document:
        return self.blocks(number).document

    def blocks(self, document: int) -> WholeBlocks:
        return self._documents.get(int(document))

    def atoms(self, document: int) -> AtomBounds:
        with self._session.reading() as connection:
            return self._there(read_bounds(connection, self._session.names, int(document)))

    def atom_table(self) -> AtomTable:
        """Brought over as a whole, and again after every change: what `multiscale` runs over."""
        return self._known_atoms().table

    def section_path(self, number: int) -> tuple[str, ...]:
        """The path of a section number of the atom table."""
        return tuple(json.loads(self._known_atoms().paths[number]))

    def allowed(self, table: RowKind, only: Filter) -> NDArray[np.bool_] | None:
        """The atoms a filter takes, in the order of `atom_table`; None: all. Chunks are filtered by the server."""
        if not only:
            return None
        if table == "chunk":
            raise ChunkwiseError("chunks on a server are filtered there: give `only` to the search")
        with self._session.reading() as connection:
            documents = self._metadata.documents(connection, self._about(), only.clauses)
            return allowed_atoms(
                connection, self._session.names, self._known_atoms(), only, documents
            )

    def ids(self) -> list[str]:
        """The ids of all documents, in order."""
        with self._session.reading() as connection:
            rows = connection.cursor(binary=True).execute(
                self._session.names("select exact_id from {documents} order by number")
            )
            return [text_of(row[0]) for row in rows]

    def document_numbers(self) -> list[int]:
        """The numbers of all documents; those of replaced ones are missing."""
        with self._session.reading() as connection:
            rows = connection.execute(
                self._session.names("select number from {documents} order by number")
            )
            return [int(row[0]) for row in rows]

    def chunk_table(self) -> ChunkTable:
        with self._session.reading() as connection:
            return read_chunk_table(connection, self._session.names, self.document_numbers())

    def communities(self) -> Communities:
        """What a language model says of passages that hang together; none where none was asked."""
        if self.settings.graph != "relations":
            return Communities()
        with self._session.reading() as connection:
            return read_communities(connection, self._session.names)

    def relations(self, number: int) -> StatedRelations:
        """What a language model read in a document; nothing where none was asked."""
        if self.settings.graph != "relations":
            return StatedRelations()
        with self._session.reading() as connection:
            return read_relations(connection, self._session.names, number)

    def fingerprints(self) -> dict[str, str]:
        """Of all documents, by id."""
        with self._session.reading() as connection:
            rows = connection.cursor(binary=True).execute(
                self._session.names("select exact_id, fingerprint from {documents} order by number")
            )
            return {text_of(id): fingerprint for id, fingerprint in rows}

    @property
    def is_exact(self) -> bool:
        """Whether all chunks are compared: there are few, or more dimensions than an index takes."""
        about = self._about()
        indexed = has_index(about.settings.dimensions, self._session.version)
        return not indexed or about.chunks <= FEW

    def recall(self, sample: int = 50, depth: int = 10) -> Recall:
        """How many of the truly nearest chunks the HNSW index finds, measured on chunks of the index itself."""
        return recall_of(self, self._sample(sample), depth)

    def stats(self) -> IndexStats:
        """How much is in it, and how much room it takes on the server."""
        with self._session.reading() as connection:
            return read_stats(connection, self._session.names, self._about())

    def close(self) -> None:
        self._session.close()

    def __enter__(self) -> PostgresIndex:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _about(self) -> IndexState:
        about = self._session.about()
        if about.settings != self._settings:
            raise ChunkwiseError(
                f"{self.address.shown}: knowledge base {self.address.name!r} was made again with other settings; "
                "open it again"
            )
        if (about.born, about.revision) != self._state:
            self._state, self._atoms = (about.born, about.revision), None
            self._documents = DocumentsCache(self._read_document)
        return about

    def _known_atoms(self) -> KnownAtoms:
        with self._session.reading() as connection:
            self._about()
            if self._atoms is None:
                self._atoms = read_atoms(connection, self._session.names, self.settings)
            return self._atoms

    def _read_document(self, number: int) -> WholeBlocks:
        with self._session.reading() as connection:
            return self._there(read_document(connection, self._session.names, number))

    def _sample(self, count: int) -> NDArray[np.float32]:
        """Vectors of chunks spread evenly over the index."""
        with self._session.reading() as connection:
            self._ranked.need_vectors(self._about())
            rows = connection.execute(
                self._session.names(
                    "select number from (select number, row_number() over (order by number) - 1 as place,"
                    " count(*) over () as size from {chunks} where vector is not null) as numbered"
                    " where place * %(count)s %% greatest(size, 1) < %(count)s"
                ),
                {"count": count},
            ).fetchall()
            return self.chunk_vectors([int(row[0]) for row in rows])

    def _there(self, found: T | None) -> T:
        if found is None:
            raise ChunkwiseError(
                f"{self.address.shown}: knowledge base {self.address.name!r} changed during the search; ask again"
            )
        return found


def open_postgres(url: str) -> PostgresIndex:
    """The knowledge base at `postgresql://user@host/database?kb=name`."""
    return PostgresIndex(parse_address(url))
