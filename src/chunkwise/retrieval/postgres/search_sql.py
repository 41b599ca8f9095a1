"""Search in SQL: a filter as a condition, BM25, and nearest vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.indexed_document import readable
from chunkwise.retrieval.postgres.connection import ITERATIVE, MOST_DIMENSIONS, Version

if TYPE_CHECKING:
    from psycopg import Connection


class FilterCondition(NamedTuple):
    """Stands behind `where`; holds for chunks `c`."""

    text: str
    values: dict[str, object]


EVERY_CHUNK = FilterCondition("true", {})


def filter_condition(only: Filter, documents: Sequence[int] | None) -> FilterCondition:
    """`documents` are the numbers of those that the filter takes; None: it asks for none."""
    clauses: list[str] = []
    values: dict[str, object] = {}
    if documents is not None:
        # An array is looked up once, and an index scan of vectors can go on.
        clauses.append("c.document = any(%(documents)s::integer[])")
        values["documents"] = list(documents)
    if only.sections:
        clauses.append(
            "exists (select from unnest(c.sections) as path, unnest(%(words)s::text[]) as word"
            " where strpos(path, word) > 0)"
        )
        values["words"] = [readable(words.casefold()) for words in only.sections]
    if only.pages:
        clauses.append(
            "exists (select from unnest(c.pages) as page where page between %(first_page)s and %(last_page)s)"
        )
        values["first_page"], values["last_page"] = only.pages
    if only.level is not None:
        clauses.append("c.level = %(level)s")
        values["level"] = only.level
    return FilterCondition(" and ".join(clauses), values)


# Lucene's BM25: a term adds idf · tf / (tf + k1 (1 - b + b · length / mean)), idf = ln(1 + (N - df + ½) / (df + ½)).
# Scores are compared as 4-byte numbers, so that chunks with equal words tie whatever the order of the sum was.
# `offset 0` keeps the server from reading all postings to join them: it takes those of one term after the other.
WORDS = """
    {taken}
    select p.chunk as number,
        sum(asked.weight * p.times / (p.times + %(flat)s::float8 + %(slope)s::float8 * p.terms))::real as score
    from (
        select term, times * ln(1 + (%(rows)s - seen + 0.5::float8) / (seen + 0.5::float8)) as weight
        from unnest(%(terms)s::bigint[], %(times)s::float8[]) as query(term, times),
            lateral (select count(*) as seen from {postings} f where f.term = query.term) as frequency
        offset 0
    ) as asked, lateral (
        select chunk, times, terms from {postings} where term = asked.term offset 0
    ) as p
    where {allowed}
    group by p.chunk
    order by score desc, number
    limit %(depth)s
"""
# Which chunks a filter takes is found out once. Within the sum, the server would look each posting's chunk up by
# itself: it takes the postings of frequent words for a few hundred, and there may be one for every chunk.
TAKEN = "with taken as materialized (select c.number from {chunks} c where %s)"
ALLOWED = "p.chunk in (select number from taken)"


def words_statement(chosen: FilterCondition) -> str:
    """To be filled with the tables."""
    taken, allowed = (TAKEN % chosen.text, ALLOWED) if chosen.values else ("", "true")
    return WORDS.replace("{taken}", taken).replace("{allowed}", allowed)


def query_values(
    terms: NDArray[np.uint64], rows: int, mean: float, k1: float, b: float
) -> dict[str, Any]:
    """A question's distinct terms and how often it says each, as the statement takes them."""
    distinct, times = np.unique(terms, return_counts=True)
    return {
        "terms": distinct.view(np.int64).tolist(),
        "times": times.astype(float).tolist(),
        "rows": rows,
        "flat": k1 * (1 - b),
        "slope": k1 * b / mean,
    }


def indexed_vector(of: str, dimensions: int) -> str:
    """The expression the HNSW index is over: a search must spell it the same way."""
    return of if dimensions <= MOST_DIMENSIONS else f"{of}::halfvec({int(dimensions)})"


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


def near_statement(dimensions: int, exact: bool) -> str:
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
