"""A knowledge base on a PostgreSQL server: words are searched there, and only what hits need is fetched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from chunkwise.retrieval.bm25 import K1, B
from chunkwise.retrieval.databases.index import StoredIndex, in_snapshot
from chunkwise.retrieval.databases.store import CHUNK_BITS, State, runs_of
from chunkwise.retrieval.databases.update import StoredEngine
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.local.columns import document_mask
from chunkwise.retrieval.postgres.connection import has_index, parse_address
from chunkwise.retrieval.postgres.search_sql import (
    EVERY_CHUNK,
    FEW,
    FilterCondition,
    filter_condition,
    query_values,
    words_statement,
)
from chunkwise.retrieval.postgres.store import PostgresStore
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.searchable import AtomBounds, FoundChunk
from chunkwise.retrieval.tables_lists_code import WholeBlocks


class PostgresIndex(StoredIndex):
    """`StoredIndex` without the arrays of all documents, unless several sizes are searched or chunks are listed."""

    store: PostgresStore

    def _show(self, state: State) -> None:
        super()._show(state)
        self._some: StoredIndex | None = None

    def _of(self, documents: Sequence[int]) -> StoredIndex:
        """An index of these documents alone; that of the last hits serves for what is asked of them next."""
        if self._some is None or not {*documents} <= {*self._some.fetched.numbers.tolist()}:
            live = runs_of(sorted({*documents}))
            self._positions(np.array(documents, np.int64))
            self._some = StoredIndex(self.store, replace(self.state, live=live))
        return self._some

    @in_snapshot
    def words(
        self,
        queries: Sequence[str],
        depth: int,
        only: Filter = EVERYTHING,
        *,
        k1: float = K1,
        b: float = B,
    ) -> list[Ranking]:
        chosen = self._among(only) or EVERY_CHUNK
        statement, result = words_statement(chosen), []
        mean = self.state.terms / self.state.chunks if self.state.terms else 1.0
        for query in queries:
            terms = self._query_terms(query)
            values = {**chosen.values, **query_values(terms, self.state.chunks, mean, k1, b)}
            result.append(
                self.store.rank(statement, {**values, "depth": depth}) if len(terms) else NOTHING
            )
        return result

    def _among(self, only: Filter) -> FilterCondition | None:
        """Documents are chosen here, what is of chunks on the server."""
        if not only:
            return None
        documents = None
        if only.documents or only.clauses:
            taken = document_mask(self._strings("id"), only)
            if only.clauses:
                taken &= self._metadata.mask(only.clauses)
            documents = self.fetched.numbers[taken].tolist()
        return filter_condition(only, documents)

    @in_snapshot
    def chunks(self, numbers: Sequence[int]) -> list[FoundChunk]:
        return (
            self._of([int(number) >> CHUNK_BITS for number in numbers]).chunks(numbers)
            if len(numbers)
            else []
        )

    @in_snapshot
    def chunk_range(self, document: int) -> tuple[int, int]:
        return self._of([document]).chunk_range(document)

    @in_snapshot
    def blocks(self, document: int) -> WholeBlocks:
        return self._documents.get(document, partial(self._read_document, document))

    def _read_document(self, number: int) -> WholeBlocks:
        return self._of([number]).blocks(number)

    @in_snapshot
    def atoms(self, document: int) -> AtomBounds:
        return self._of([document]).atoms(document)

    @property
    def is_exact(self) -> bool:
        """Whether all chunks are compared: there are few, or more dimensions than an index takes."""
        with self.snapshot():
            indexed = has_index(self.settings.dimensions, self.store.version)
            return not indexed or self.state.chunks <= FEW


class PostgresEngine(StoredEngine):
    """A knowledge base on a PostgreSQL server."""

    opened = PostgresIndex

    def store(self, place: str) -> PostgresStore:
        return PostgresStore(parse_address(place))
