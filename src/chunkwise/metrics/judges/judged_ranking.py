"""Measures over passages that people judged, where what nobody judged is neither right nor wrong.

A passage is found by the first hit that holds it, is about the same place, or lies inside it. Where hits are the very
passages that were judged, the figures are those that information retrieval has by these names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2

from chunkwise.core import Hit, Passage, Query, Score
from chunkwise.metrics.evidence import Evidence
from chunkwise.metrics.judges.relevance_judges import balance_by_place, says_something
from chunkwise.metrics.metric import Metric

NO_LABELS = "not labeled"
NO_RELEVANT = "no labeled passage is relevant"


@dataclass(frozen=True, slots=True)
class JudgedPlace:
    """A passage on which people agree."""

    place: Passage
    is_relevant: bool
    gain: float
    """The mean of its grades; 1 where only yes was said."""


def judged_places(query: Query) -> list[JudgedPlace]:
    """Each labeled place once; one on which as many say yes as no is left out."""
    grades: dict[Passage, list[int]] = {}
    for label in query.labels:
        grade = int(label.relevant) if label.grade is None else label.grade
        grades.setdefault(Passage(label.doc_id, label.start, label.end), []).append(grade)
    return [
        JudgedPlace(place, balance > 0, sum(grades[place]) / len(grades[place]))
        for place, balance in balance_by_place(query.labels).items()
        if balance
    ]


def bpref(query: Query, hits: Sequence[Hit]) -> Score:
    """Of the relevant passages, how few irrelevant ones come before each; passages not judged do not count.

    Buckley and Voorhees 2004: 1/R Σ (1 - irrelevant ones before it, at most R / min(R, irrelevant ones)).
    """
    judged = judged_places(query)
    relevant = [place for place in judged if place.is_relevant]
    if not relevant:
        return Score(None, NO_RELEVANT if judged else NO_LABELS)
    ranks = {place.place: _rank(place.place, hits) for place in judged}
    wrong = sorted(
        rank
        for place in judged
        if not place.is_relevant and (rank := ranks[place.place]) is not None
    )
    irrelevant = len(judged) - len(relevant)
    total = 0.0
    for place in relevant:
        rank = ranks[place.place]
        if rank is not None:
            before = min(sum(other < rank for other in wrong), len(relevant))
            total += 1 - before / min(len(relevant), irrelevant) if before else 1
    return Score(total / len(relevant))


def graded_ndcg(query: Query, hits: Sequence[Hit]) -> Score:
    """Σ grade / log2(rank + 1) of the hits, divided by the same of the best order; a hit is worth its best passage."""
    judged = judged_places(query)
    ideal = sorted((place.gain for place in judged if place.gain > 0), reverse=True)
    if not ideal:
        return Score(None, NO_RELEVANT if judged else NO_LABELS)
    left = sorted(judged, key=lambda place: -place.gain)
    gained = 0.0
    for rank, hit in enumerate(_by_rank(hits), 1):
        place = next((place for place in left if says_something(place.place, hit)), None)
        if place is not None:
            left.remove(place)  # what was there before is not found again
            gained += place.gain / log2(rank + 1)
    best = sum(gain / log2(rank + 1) for rank, gain in enumerate(ideal[: len(hits) or 1], 1))
    return Score(min(1.0, gained / best))


def judged_share(query: Query, hits: Sequence[Hit]) -> Score:
    """Hits on which a label says something / hits."""
    if not query.labels:
        return Score(None, NO_LABELS)
    if not hits:
        return Score(None, "nothing was retrieved")
    places = {Passage(label.doc_id, label.start, label.end) for label in query.labels}
    known = sum(any(says_something(place, hit) for place in places) for hit in hits)
    return Score(known / len(hits))


def _by_rank(hits: Sequence[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: hit.rank)


def _rank(place: Passage, hits: Sequence[Hit]) -> int | None:
    return min((hit.rank for hit in hits if says_something(place, hit)), default=None)


def _of(score: Callable[[Query, Sequence[Hit]], Score]) -> Callable[[Evidence], list[Score]]:
    def scores(evidence: Evidence) -> list[Score]:
        return [score(*pair) for pair in zip(evidence.queries, evidence.hits, strict=True)]

    return scores


METRICS = (
    Metric(
        "bpref", "How often relevant passages rank above irrelevant ones, by human labels; "
        "unjudged passages don't count (bpref).", score=_of(bpref), group="labels", needs=("labels",),
    ),
    Metric(
        "graded_ndcg", "nDCG with human grades (0 to 3).",
        score=_of(graded_ndcg), group="labels", needs=("labels",), at="hits",
    ),
    Metric(
        "judged", "Share of hits with human labels; if low, label metrics are unreliable.",
        score=_of(judged_share), group="labels", needs=("labels",), at="hits",
    ),
)  # fmt: skip
