"""Nearest vectors in SQL: exactly, or by the HNSW index where there are too many for that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chunkwise.retrieval.postgres.extension import ITERATIVE, Version
from chunkwise.retrieval.postgres.schema import indexed_vector

if TYPE_CHECKING:
    from psycopg import Connection

FEW = 10_000
"""Chunks that are all compared: as quick as the index, and exact."""
_MOST_LISTED = 1000
"""The longest list the index keeps while it searches."""

# Vectors have length 1, so the inner product is the cosine, and one of zeros is as far as any.
EXACT = """
    select c.number, (-(c.vector <#> %(vector)s))::real as score
    from {chunks} c
    where c.vector is not null and {condition}
    order by score desc, c.number
    limit %(depth)s
"""
INDEXED = """
    select found.number, (-(c.vector <#> %(vector)s))::real as score
    from (
        select c.number from {chunks} c
        where {condition}
        order by {stored} <#> {asked}
        limit %(depth)s
    ) as found join {chunks} c using (number)
    order by score desc, number
"""


def statement(dimensions: int, exact: bool) -> str:
    """To be filled with the tables and a condition."""
    if exact:
        return EXACT
    stored = indexed_vector("c.vector", dimensions)
    asked = indexed_vector("%(vector)s", dimensions)
    return INDEXED.replace("{stored}", f"({stored})").replace("{asked}", asked)


def is_exact(candidates: int, depth: int, filtered: bool, version: Version) -> bool:
    """Whether comparing all is as good or the only way: older servers stop an index scan too early."""
    stops_early = version < ITERATIVE and (filtered or depth > _MOST_LISTED)
    return candidates <= FEW or stops_early


def search_index(connection: Connection[Any], depth: int, version: Version) -> None:
    """For the running transaction: use the index, look at enough of it, go on until enough rows pass."""
    settings = {
        "hnsw.ef_search": str(min(_MOST_LISTED, max(100, 2 * depth))),
        "enable_seqscan": "off",
    }
    if version >= ITERATIVE:
        settings["hnsw.iterative_scan"] = "relaxed_order"  # the few found are sorted again
        settings["hnsw.max_scan_tuples"] = str(max(20_000, 20 * depth))
    for name, value in settings.items():
        connection.execute("select set_config(%s, %s, true)", [name, value])
