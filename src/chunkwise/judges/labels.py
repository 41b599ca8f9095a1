"""Relevance by what people said about places."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core import Hit, Label, Query, Score

NOT_LABELLED = "not labelled"
DISAGREE = "people disagree"

LEAST = 0.5
"""Intersection over union from which a hit and a labelled place are the same to a reader."""


class LabelJudge:
    """A hit takes the rating of the labelled place it shares most text with; of several people the majority decides."""

    name = "labels"

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        """One score a hit, in the order of the hits."""
        return [
            [_verdict(query.labels, hit) for hit in own]
            for query, own in zip(queries, hits, strict=True)
        ]


def _verdict(labels: Sequence[Label], hit: Hit) -> Score:
    best = (0, 0.0)
    ratings: list[bool] = []
    for label in labels:
        closeness = _closeness(label, hit)
        if closeness > best:
            best, ratings = closeness, []
        if closeness == best and closeness > (0, 0.0):
            ratings.append(label.relevant)
    if not ratings:
        return Score(None, NOT_LABELLED)
    balance = 2 * sum(ratings) - len(ratings)
    return Score(float(balance > 0)) if balance else Score(None, DISAGREE)


def _closeness(label: Label, hit: Hit) -> tuple[int, float]:
    """Shared characters, then their share of both together; zeros where the label says nothing about the hit."""
    shared = min(label.end, hit.end) - max(label.start, hit.start)
    if label.doc_id != hit.doc_id or shared <= 0:
        return 0, 0.0
    own, labelled = hit.end - hit.start, label.end - label.start
    ratio = shared / (own + labelled - shared)
    return (shared, ratio) if ratio >= LEAST or shared in (own, labelled) else (0, 0.0)
