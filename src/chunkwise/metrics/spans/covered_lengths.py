"""Lengths of gold and retrieved text, question by question: text covered twice counts once, or as often, for Chroma."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.metric import Scores
from chunkwise.metrics.spans.overlaps import (
    Spans,
    Union,
    best_places,
    best_shares,
    by_question,
    per_question,
    references,
    shares,
)
from chunkwise.metrics.tables import Gold, HitTable, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """Lengths, one a question, where G are the references, A these with their alternatives, and C the hits."""

    gold: Numbers
    """|∪G|"""
    found: NDArray[np.float64]
    """|∪C ∩ ∪G|, where a reference counts as covered as the best of its alternatives is."""
    retrieved: Numbers
    """|∪C|"""
    paid: Numbers
    """Σ|Ci|"""
    relevant: Numbers
    """|∪C ∩ ∪A|: a repeated passage is no waste, wherever it stands."""


def coverage(gold: Gold, found: HitTable) -> Coverage:
    """Of the hits as they are: cut them first."""
    places, hits = by_question(gold, found)
    retrieved, either = Union(hits), Union(places)
    asked, answered = gold.question[gold.reference], found.question
    own = references(gold)
    length, covered = _own_stretches(places.of(own), retrieved)
    share = shares(places, retrieved)
    share[own] = 0  # what is covered of the reference itself is counted to the character
    alternative = best_shares(gold, share)
    return Coverage(
        per_question(gold, gold.question, length),
        np.bincount(
            gold.question, np.maximum(covered, length * alternative), gold.questions
        ).astype(np.float64),
        per_question(gold, answered[retrieved.opener], retrieved.spans.length),
        per_question(gold, answered, hits.length),
        per_question(gold, asked[either.opener], retrieved.shared(either.spans)),
    )


def _own_stretches(references: Spans, retrieved: Union) -> tuple[Numbers, Numbers]:
    """Of each reference what none that starts before it covers, so that they add up to their union; and how much of
    that is retrieved."""
    order = np.argsort(references.start, kind="stable")
    start, end = references.of(order)
    reach = np.maximum.accumulate(np.concatenate(([-1], end)))[:-1] if len(end) else end
    rest = Spans(np.minimum(np.maximum(start, reach), end), end)
    length, covered = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    length[order], covered[order] = rest.length, retrieved.shared(rest)
    return length, covered


def ratio(part: NDArray[np.generic], whole: NDArray[np.generic]) -> Scores:
    """0 where there is nothing to divide by."""
    out = np.zeros(len(part))
    np.divide(part, whole, out=out, where=whole != 0)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Lengths, one a question."""

    both: Numbers
    """Of the union of all intersections of a chunk and a reference."""
    references: Numbers
    """Σ of the references."""
    missed: Numbers
    """Σ of what of each reference no chunk covers."""
    chunks: Numbers
    """Σ of the chunks."""


def sums(gold: Gold, found: HitTable) -> Sums:
    """Of the hits as they are: cut them first."""
    places, hits = by_question(gold, found)
    retrieved = Union(hits)
    chosen = places.of(best_places(gold, shares(places, retrieved)))
    wanted = Union(chosen)
    covered = retrieved.shared(chosen)
    return Sums(
        per_question(gold, gold.question[wanted.opener], retrieved.shared(wanted.spans)),
        per_question(gold, gold.question, chosen.length),
        per_question(gold, gold.question, chosen.length - covered),
        per_question(gold, found.question, hits.length),
    )
