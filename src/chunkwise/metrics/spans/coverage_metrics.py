"""How much of the gold text is retrieved, and how much else with it. Text covered twice counts once."""

from __future__ import annotations

from chunkwise.metrics.metric import Scores
from chunkwise.metrics.spans.coverage import Coverage, ratio
from chunkwise.metrics.spans.span_metric import SpanMetric


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
