"""Words and vectors in one statement: each side's best chunks, scaled or ranked, joined and added up."""

from __future__ import annotations

from typing import NamedTuple

from chunkwise.retrieval.fusion import Fusion


class Fusing(NamedTuple):
    """How two rankings become one."""

    side_depth: int
    """Chunks taken from each side."""
    fusion: Fusion
    dense: float
    """How much the vectors count; the words count 1."""


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


def statement(words: str, near: str, fusion: Fusion) -> str:
    """To be filled with the tables and a condition."""
    points = _SCALED if fusion == "scores" else _RANKED
    return (
        f"with words as materialized ({words}), near as materialized ({near}), {points}"
        " select number, sum(points)::real as score from points group by number"
        " order by score desc, number limit %(fused_depth)s"
    )
