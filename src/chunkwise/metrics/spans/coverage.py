"""How much of the gold text is retrieved, and how much else with it. Text covered twice counts once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.metric import Scores, SpanMetric
from chunkwise.metrics.spans.overlaps import (
    Numbers,
    Spans,
    Union,
    best_shares,
    by_question,
    per_question,
    references,
    shares,
)
from chunkwise.metrics.spans.tables import Gold, HitTable


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


def recall(lengths: Coverage) -> Scores:
    """|∪C ∩ ∪G| / |∪G|"""
    return ratio(lengths.found, lengths.gold)


def precision(lengths: Coverage) -> Scores:
    """|∪C ∩ ∪A| / |∪C|"""
    return ratio(lengths.relevant, lengths.retrieved)


def density(lengths: Coverage) -> Scores:
    """|∪C ∩ ∪A| / Σ|Ci|"""
    return ratio(lengths.relevant, lengths.paid)


def iou(lengths: Coverage) -> Scores:
    """|∪C ∩ ∪A| / (|∪C| and what of ∪G is missing): without alternatives |∪C ∩ ∪G| / |∪C ∪ ∪G|"""
    return ratio(lengths.relevant, lengths.retrieved + (lengths.gold - lengths.found))


def ratio(part: NDArray[np.generic], whole: NDArray[np.generic]) -> Scores:
    """0 where there is nothing to divide by."""
    out = np.zeros(len(part))
    np.divide(part, whole, out=out, where=whole != 0)
    return out


METRICS = (
    SpanMetric(
        "recall",
        "Share of the gold text that is retrieved, counted in characters; of relevant chunks it is chunk_recall.",
        group="retrieval", needs=("references",), at="hits or tokens", usual=("", "1000t"), headline=True,
        formula=lambda evidence, k: recall(evidence.coverage(k)),
    ),
    SpanMetric(
        "precision",
        "Share of the retrieved text that is gold, counted in characters; text retrieved twice counts once; of "
        "relevant hits it is context_precision, or p.",
        group="retrieval", needs=("references",), at="hits or tokens",
        formula=lambda evidence, k: precision(evidence.coverage(k)),
    ),
    SpanMetric(
        "density", "Share of the retrieved text that is gold; text retrieved twice is paid twice.",
        group="retrieval", needs=("references",), at="hits or tokens",
        formula=lambda evidence, k: density(evidence.coverage(k)),
    ),
    SpanMetric(
        "iou", "Text that is both gold and retrieved / text that is either.",
        group="retrieval", needs=("references",), at="hits or tokens",
        formula=lambda evidence, k: iou(evidence.coverage(k)),
    ),
)  # fmt: skip
