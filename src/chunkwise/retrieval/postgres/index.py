"""A knowledge base on a server: `Searchable`, with BM25, vectors and both together asked in SQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document
from chunkwise.retrieval.bm25 import K1, B
from chunkwise.retrieval.communities import Communities
from chunkwise.retrieval.filters import EVERYTHING, Filter, RowKind
from chunkwise.retrieval.fusion import Fusion
from chunkwise.retrieval.indexed_document import DocumentsCache, StatedRelations
from chunkwise.retrieval.postgres.connection import Address, has_index, parse_address
from chunkwise.retrieval.postgres.loading import CHUNK_BITS, read_relations, text_of
from chunkwise.retrieval.postgres.ranking import PostgresRanking, ServerMetadata
from chunkwise.retrieval.postgres.schema import IndexState
from chunkwise.retrieval.postgres.search_sql import FEW, FusionSettings
from chunkwise.retrieval.postgres.session import (
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
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.recall import Recall, recall_of
from chunkwise.retrieval.searchable import AtomBounds, AtomTable, ChunkTable, FoundChunk
from chunkwise.retrieval.settings import IndexStats, Settings

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
        return self._documents.get(int(number))

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
            documents = self._metadata.documents(connection, self._about(), only.where)
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

    def _read_document(self, number: int) -> Document:
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
