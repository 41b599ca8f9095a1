"""The best chunks of a knowledge base on a server, by words, vectors or both: which statement is run for a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.conditions import Clause, MetadataTable
from chunkwise.retrieval.errors import no_vectors_error, wrong_dimensions_error
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.fusion import RRF_CONSTANT
from chunkwise.retrieval.indexed_document import metadata_of
from chunkwise.retrieval.postgres import search_sql
from chunkwise.retrieval.postgres.connection import has_index
from chunkwise.retrieval.postgres.schema import IndexState, TableNames
from chunkwise.retrieval.postgres.search_sql import (
    ALLOWED,
    WORDS,
    FilterCondition,
    FusionSettings,
    filter_condition,
    query_values,
)
from chunkwise.retrieval.postgres.session import (
    Session,
)
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.text.terms import query_terms

if TYPE_CHECKING:
    from psycopg import Connection


# The layout of a document, blocks and boxes at the end of its record, may be long and is left on the server.
_RECORDS = "select number, regexp_replace(record, %s, %s) from {documents} order by number"
_LAYOUT = (r'(, "blocks": \[[0-9, ]*\])?(, "boxes": "[^"]*")?\}$', "}")


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
        return filter_condition(only, self._metadata.documents(connection, about, only.where))

    def words(
        self, connection: Connection[Any], about: IndexState, queries: Sequence[str], depth: int, only: Filter,
        k1: float, b: float,
    ) -> list[Ranking]:  # fmt: skip
        chosen = self._condition(connection, about, only)
        statement = _words(chosen)
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
        words, meaning = _words(chosen), self._near(connection, about, chosen, side, only, None)
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
            is_filtered = bool(only) or self._sees_a_part(connection)
            candidates = self._candidates(connection, chosen) if is_filtered else about.chunks
            exact = search_sql.is_exact(candidates, depth, is_filtered, version)
        if not exact:
            search_sql.search_index(connection, depth, version)
        return search_sql.near_statement(dimensions, exact).replace("{condition}", chosen.text)

    def _sees_a_part(self, connection: Connection[Any]) -> bool:
        """Whether the server leaves chunks of other tenants out, after the index has found them."""
        row = connection.execute(
            "select row_security_active(c.oid) from pg_class c join pg_namespace n on n.oid = c.relnamespace"
            " where n.nspname = %s and c.relname = 'chunks'",
            [self._session.names.schema],
        ).fetchone()
        return bool(row and row[0])

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


def _words(chosen: FilterCondition) -> str:
    limited = ALLOWED % chosen.text if chosen.values else "true"
    return WORDS.replace("{allowed}", limited)
