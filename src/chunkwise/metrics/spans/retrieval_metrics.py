"""What is retrieved of gold spans: shares of their text, and ranks of relevant hits as `ir_measures` counts them."""

from __future__ import annotations

import numpy as np

from chunkwise.metrics.metric import Scores
from chunkwise.metrics.spans.coverage import Coverage, ratio
from chunkwise.metrics.spans.ranking import JudgedRanking
from chunkwise.metrics.spans.span_metric import SpanMetric


def p(ranking: JudgedRanking, k: int) -> Scores:
    """Relevant among the first k / k, however few were retrieved."""
    return ranking.retrieved(k) / k


def context_precision(ranking: JudgedRanking, k: int) -> Scores:
    """Relevant among the first k / number retrieved, at most k."""
    return ratio(ranking.retrieved(k), np.minimum(np.diff(ranking.first), k))


def chunk_recall(ranking: JudgedRanking, k: int) -> Scores:
    """Relevant among the first k / all that are relevant."""
    return ratio(ranking.retrieved(k), ranking.total)


def hit(ranking: JudgedRanking, k: int) -> Scores:
    """1 where any of the first k is relevant."""
    return (ranking.retrieved(k) > 0).astype(np.float64)


def mrr(ranking: JudgedRanking, k: int) -> Scores:
    """1 / the rank of the first relevant one."""
    question, rank = ranking.at(k)
    scores = np.zeros(len(ranking.total))
    answered, first = np.unique(question, return_index=True)
    scores[answered] = 1 / (rank[first] + 1)
    return scores


def average_precision(ranking: JudgedRanking, k: int) -> Scores:
    """Precision at the rank of each relevant one, summed / all that are relevant."""
    question, rank = ranking.at(k)
    _, first, count = np.unique(question, return_index=True, return_counts=True)
    so_far = np.arange(len(question)) - np.repeat(first, count) + 1
    sums = np.bincount(question, so_far / (rank + 1), minlength=len(ranking.total))
    return ratio(sums, ranking.total)


def ndcg(ranking: JudgedRanking, k: int) -> Scores:
    """Σ 1 / log2(rank + 1), divided by the same of the ideal ranking: all relevant ones first."""
    question, rank = ranking.at(k)
    gain = np.bincount(question, 1 / np.log2(rank + 2), minlength=len(ranking.total))
    deepest = min(k, int(ranking.total.max(initial=0)))
    ideal = np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(deepest) + 2))))
    return ratio(gain, ideal[np.minimum(ranking.total, k)])


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
        "Share of the gold text that is retrieved, in characters (for relevant chunks, see "
        "chunk_recall).",
        group="retrieval", needs=("references",), at="hits or tokens", usual=("", "1000t"), headline=True,
        formula=lambda evidence, k: recall(evidence.coverage(k)),
    ),
    SpanMetric(
        "precision",
        "Share of the retrieved text that is gold, in characters; repeated text counts once "
        "(for relevant hits, see context_precision and p).",
        group="retrieval", needs=("references",), at="hits or tokens",
        formula=lambda evidence, k: precision(evidence.coverage(k)),
    ),
    SpanMetric(
        "density", "Share of the retrieved text that is gold; repeated text counts every time.",
        group="retrieval", needs=("references",), at="hits or tokens",
        formula=lambda evidence, k: density(evidence.coverage(k)),
    ),
    SpanMetric(
        "iou", "Intersection over union of gold and retrieved text (Jaccard index).",
        group="retrieval", needs=("references",), at="hits or tokens",
        formula=lambda evidence, k: iou(evidence.coverage(k)),
    ),
    SpanMetric(
        "context_precision", "Relevant hits / hits retrieved.",
        group="retrieval", needs=("references",), at="hits or tokens", counts_hits=True,
        formula=lambda evidence, k: context_precision(evidence.judged, k),
    ),
    SpanMetric(
        "context_recall", "Share of references that are covered.",
        group="retrieval", needs=("references",), at="hits or tokens",
        formula=lambda evidence, k: evidence.context_recall(k),
    ),
    SpanMetric(
        "failure", "Share of references that are not covered.",
        group="retrieval", better="lower", needs=("references",), at="hits or tokens",
        # As the literature on contextual retrieval measures it.
        usual_at=20, usual=("20",),
        formula=lambda evidence, k: 1 - evidence.context_recall(k),
    ),
    SpanMetric(
        "all_found",
        "1 if at least half of every reference is found; for multi-hop questions.",
        group="retrieval", needs=("references",), at="hits or tokens", usual=(),
        formula=lambda evidence, k: evidence.all_found(k),
    ),
    SpanMetric(
        "first_hop",
        "1 if the first reference is found: the first hop, if references are in hop order.",
        group="retrieval", needs=("references",), at="hits or tokens", usual=(),
        formula=lambda evidence, k: evidence.hop_found(k, last=False),
    ),
    SpanMetric(
        "last_hop",
        "1 if the last reference is found: the hop with the answer, if references are in hop "
        "order.",
        group="retrieval", needs=("references",), at="hits or tokens", usual=(),
        formula=lambda evidence, k: evidence.hop_found(k, last=True),
    ),
    SpanMetric(
        "hit", "1 if any hit is relevant.",
        group="retrieval", needs=("references",), at="hits or tokens", counts_hits=True,
        formula=lambda evidence, k: hit(evidence.ranking, k),
    ),
    SpanMetric(
        "mrr", "1 / the rank of the first relevant hit.",
        group="retrieval", needs=("references",), at="hits or tokens", counts_hits=True,
        formula=lambda evidence, k: mrr(evidence.ranking, k),
    ),
    SpanMetric(
        "ndcg", "Relevant hits, discounted by rank, relative to the best order.",
        group="retrieval", needs=("references", "chunks"), at="hits", counts_hits=True, ideal=True,
        formula=lambda evidence, k: ndcg(evidence.chunk_ranking, k),
    ),
    SpanMetric(
        "map", "Sum of precision at each relevant hit / relevant chunks in the index.",
        group="retrieval", needs=("references", "chunks"), at="hits", counts_hits=True, ideal=True,
        formula=lambda evidence, k: average_precision(evidence.chunk_ranking, k),
    ),
    SpanMetric(
        "p", "Relevant hits / k: precision as defined in information retrieval.",
        group="retrieval", needs=("references",), at="hits", usual=(), counts_hits=True,
        formula=lambda evidence, k: p(evidence.ranking, k),
    ),
    SpanMetric(
        "chunk_recall", "Relevant hits / relevant chunks in the index: recall as defined in information retrieval.",
        group="retrieval", needs=("references", "chunks"), at="hits", usual=(), counts_hits=True, ideal=True,
        formula=lambda evidence, k: chunk_recall(evidence.chunk_ranking, k),
    ),
)  # fmt: skip
