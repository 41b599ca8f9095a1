"""Search in SQL: a filter as a condition, BM25, nearest vectors, and both fused in one statement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.bm25 import K1, B
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.fusion import Fusion
from chunkwise.retrieval.indexed_document import readable
from chunkwise.retrieval.postgres.connection import ITERATIVE, Version
from chunkwise.retrieval.postgres.loading import key_of
from chunkwise.retrieval.postgres.schema import IndexState, indexed_vector

if TYPE_CHECKING:
    from psycopg import Connection


DOCUMENTS = "select number from {documents} where key = any(%(keys)s::bytea[]) or id ~ any(%(patterns)s::text[])"
SECTIONS = """select s.document, s.number from {sections} s where exists (
    select from unnest(%(words)s::text[]) as asked(word) where strpos(s.words, asked.word) > 0)"""

_PLACES = """select from generate_subscripts(c.place_pages, 1) as at where at %% 2 = 1
    and c.place_pages[at] <= %(last_page)s and c.place_pages[at + 1] >= %(first_page)s"""
"""Of a summary: a place on one of the pages asked for."""


class FilterCondition(NamedTuple):
    """Stands behind `where`; holds for chunks `c`."""

    text: str
    values: dict[str, object]


def filter_condition(only: Filter, documents: Sequence[int] | None = None) -> FilterCondition:
    """`documents` are the numbers of those whose metadata the filter takes; None: it does not ask for any."""
    clauses = ["true"]
    values = values_of(only)
    if documents is not None:
        clauses.append("c.document = any(%(taken)s::integer[])")
        values["taken"] = list(documents)
    if only.documents:
        # As an array, so that it is looked up once and an index scan of vectors can go on.
        clauses.append(f"c.document = any(array({DOCUMENTS}))")
    if only.sections:
        clauses.append(
            f"exists (select from ({SECTIONS}) as asked"
            " where asked.document = c.document and asked.number = any(c.sections))"
        )
    if only.pages:
        clauses.append("c.first_page <= %(last_page)s and c.last_page >= %(first_page)s")
        clauses.append(f"(c.level = 0 or exists ({_PLACES}))")
    if only.level is not None:
        clauses.append("c.level = %(level)s")
    return FilterCondition(" and ".join(clauses), values)


def values_of(only: Filter) -> dict[str, object]:
    """What a filter asks for, as the statements take it."""
    values: dict[str, object] = {}
    if only.documents:
        values["keys"] = [key_of(id) for id in only.documents]
        values["patterns"] = [as_regex(readable(pattern)) for pattern in only.documents]
    if only.sections:
        values["words"] = [readable(words.casefold()) for words in only.sections]
    if only.pages:
        values["first_page"], values["last_page"] = only.pages
    if only.level is not None:
        values["level"] = only.level
    return values


def as_regex(pattern: str) -> str:
    """What `fnmatch` means by a pattern, in the server's own language of patterns."""
    out, position = ["^"], 0
    while position < len(pattern):
        char = pattern[position]
        position += 1
        if char == "*":
            out += [".*"] * (out[-1] != ".*")
        elif char == "?":
            out.append(".")
        elif char == "[" and (close := _closing(pattern, position)) > 0:
            out.append(_bracket(pattern[position:close]))
            position = close + 1
        else:
            out.append(_literal(char))
    return "".join(out) + "$"


def _closing(pattern: str, position: int) -> int:
    """Where a set ends; its first character may be a closing bracket; -1: it does not, and `[` means itself."""
    behind = position + (pattern[position : position + 1] == "!")
    return pattern.find("]", behind + 1) if behind < len(pattern) else -1


def _bracket(inside: str) -> str:
    negated, inside = inside.startswith("!"), inside.removeprefix("!")
    parts, position = list[str](), 0
    while position < len(inside):
        if inside[position + 1 : position + 2] == "-" and position + 2 < len(inside):
            low, high = inside[position], inside[position + 2]
            if low <= high:  # `z-a` holds nothing
                parts.append(f"{_code(low)}-{_code(high)}")
            position += 3
        else:
            parts.append(_code(inside[position]))
            position += 1
    if not parts:
        return "." if negated else "(?!.)."
    return f"[{'^' * negated}{''.join(parts)}]"


def _literal(char: str) -> str:
    return char if re.match(r"\w", char, re.ASCII) else _code(char)


def _code(char: str) -> str:
    """By number: no character is special then."""
    return f"\\U{ord(char):08x}"


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
    terms: NDArray[np.uint64], about: IndexState, k1: float = K1, b: float = B
) -> dict[str, Any]:
    """A question's distinct terms and how often it says each, as the statement takes them."""
    distinct, times = np.unique(terms, return_counts=True)
    mean = about.terms / about.chunks if about.terms else 1.0
    return {
        "terms": distinct.view(np.int64).tolist(),
        "times": times.astype(float).tolist(),
        "rows": about.chunks,
        "flat": k1 * (1 - b),
        "slope": k1 * b / mean,
    }


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


class FusionSettings(NamedTuple):
    """How two rankings become one."""

    side_depth: int
    """Chunks taken from each side."""
    fusion: Fusion
    dense: float
    """How much the vectors count; the words count 1."""
    k1: float = K1
    b: float = B


# What `retrieval.fusion` does to two rankings: (score - floor) / (best - floor), all 1 where they are the same.
# The floor is the last score; of words, 0 where fewer chunks than asked for share one with the question.
_SCALED = """
    words_bounds as (
        select max(score)::float8 as best,
            case when count(*) < %(depth)s then 0 else min(score)::float8 end as floor from words),
    near_bounds as (select max(score)::float8 as best, min(score)::float8 as floor from near),
    points as (
        select number, case when best > floor then (score - floor) / (best - floor) else 1 end as points
        from words, words_bounds
        union all
        select number, %(dense)s * case when best > floor then (score - floor) / (best - floor) else 1 end
        from near, near_bounds)
"""
_RANKED = """
    points as (
        select number, 1.0::float8 / (%(constant)s + row_number() over (order by score desc, number)) as points
        from words
        union all
        select number, %(dense)s / (%(constant)s + row_number() over (order by score desc, number))
        from near)
"""


def fused_statement(words: str, near: str, fusion: Fusion) -> str:
    """To be filled with the tables and a condition."""
    points = _SCALED if fusion == "weighted" else _RANKED
    return (
        f"with words as materialized ({words}), near as materialized ({near}), {points}"
        " select number, sum(points)::real as score from points group by number"
        " order by score desc, number limit %(fused_depth)s"
    )
