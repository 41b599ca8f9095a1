"""How much of the gold text is retrieved, and how much else with it. Text covered twice counts once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.spans.alternatives import best_places, shares
from chunkwise.metrics.spans.overlaps import Numbers, Union
from chunkwise.metrics.spans.question_line import by_question, per_question
from chunkwise.metrics.spans.tables import Found, Gold

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """Lengths, one a question, where G are the places that count and C the hits."""

    gold: Numbers
    """|∪G|"""
    retrieved: Numbers
    """|∪C|"""
    paid: Numbers
    """Σ|Ci|"""
    both: Numbers
    """|∪C ∩ ∪G|"""


def coverage(gold: Gold, found: Found) -> Coverage:
    """Of the hits as they are: cut them first."""
    places, hits = by_question(gold, found)
    retrieved = Union(hits)
    chosen = best_places(gold, shares(places, retrieved))
    wanted = Union(places.of(chosen))
    asked = gold.question[wanted.opener]  # one place a reference was chosen, in their order
    answered = found.question
    return Coverage(
        per_question(gold, asked, wanted.spans.length),
        per_question(gold, answered[retrieved.opener], retrieved.spans.length),
        per_question(gold, answered, hits.length),
        per_question(gold, asked, retrieved.shared(wanted.spans)),
    )


def recall(lengths: Coverage) -> Scores:
    """|∪C ∩ ∪G| / |∪G|"""
    return ratio(lengths.both, lengths.gold)


def precision(lengths: Coverage) -> Scores:
    """|∪C ∩ ∪G| / |∪C|"""
    return ratio(lengths.both, lengths.retrieved)


def density(lengths: Coverage) -> Scores:
    """|∪C ∩ ∪G| / Σ|Ci|"""
    return ratio(lengths.both, lengths.paid)


def iou(lengths: Coverage) -> Scores:
    """|∪C ∩ ∪G| / |∪C ∪ ∪G|"""
    return ratio(lengths.both, lengths.retrieved + lengths.gold - lengths.both)


def ratio(part: NDArray[np.generic], whole: NDArray[np.generic]) -> Scores:
    """0 where there is nothing to divide by."""
    out = np.zeros(len(part))
    np.divide(part, whole, out=out, where=whole != 0)
    return out
