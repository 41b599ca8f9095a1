"""A ranking put in another order: by a model that reads question and chunk together, by diversity (MMR)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.rerank.reranker import BlendingReranker, Reranker, scores_of
from chunkwise.retrieval.fusion import scaled
from chunkwise.retrieval.ranking import Ranking, best
from chunkwise.retrieval.search.index_reader import IndexReader

RERANK_DEPTH = 100
"""Chunks a question that are read again; those behind them are dropped, their scores would not compare."""

_LAST = float(np.finfo(np.float32).min)


def reranked(reader: IndexReader, question: str, ranking: Ranking, reranker: Reranker) -> Ranking:
    """All chunks of the ranking in the order of the reranker's scores; ties stay as they were."""
    numbers = ranking.numbers.tolist()
    if not numbers:
        return ranking
    texts = []
    for chunk in reader.source.chunks(numbers):
        text = chunk.summary or reader.text(chunk.document)[chunk.start : chunk.end]
        texts.append(f"{chunk.context}\n{text}" if chunk.context else text)
    order = reranked_texts(question, texts, ranking.scores, reranker)
    return Ranking(ranking.numbers[order.numbers], order.scores)


def reranked_texts(
    question: str, texts: Sequence[str], first: NDArray[np.float32], reranker: Reranker
) -> Ranking:
    """Positions of texts in the order of the reranker's scores; `first` are those they were found by, best first."""
    scores = scores_of(reranker, question, texts)
    if isinstance(reranker, BlendingReranker):
        scores = _together(scores, first, reranker.weight_of_first)
    # Numbered by rank here, so that of equals the higher one stays ahead; what is no number comes last.
    return best(np.nan_to_num(scores, nan=_LAST), len(scores))


def _together(
    scores: NDArray[np.float32], first: NDArray[np.float32], weight: float
) -> NDArray[np.float32]:
    """From 0, the last of both, to 1, the best of both."""
    summed = (_shares(scores) + weight * _shares(first)) / (1 + weight)
    return summed.astype(np.float32)


def _shares(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """Each as a share of the way from the least to the highest; all the same: all 1."""
    exact = scores.astype(np.float64)
    known = exact[np.isfinite(exact)]
    low, high = known.min(initial=np.inf), known.max(initial=-np.inf)
    return (exact - low) / (high - low) if high > low else np.where(np.isfinite(exact), 1.0, np.nan)


def diversified(ranking: Ranking, vectors: NDArray[np.float32], balance: float) -> Ranking:
    """The ranking in another order, scores kept: 1 leaves it as it is, 0 looks at diversity alone.

    The next chunk is the one with the highest `balance · relevance − (1 − balance) · likeness`, its relevance
    scaled to 0…1 over the ranking, its likeness the cosine to the most similar chunk taken before.
    """
    relevance = scaled(ranking.scores)
    order = [0] if len(relevance) else []  # nothing to be like yet: the most relevant one
    likeness = np.full(len(relevance), -np.inf)
    left = np.ones(len(relevance), np.bool_)
    while len(order) < len(relevance):
        taken = order[-1]
        left[taken] = False
        likeness = np.maximum(likeness, (vectors @ vectors[taken]).astype(np.float64))
        worth = np.where(left, balance * relevance - (1 - balance) * likeness, -np.inf)
        order.append(int(worth.argmax()))  # of equals the first, which ranks higher
    return Ranking(ranking.numbers[order], ranking.scores[order])


def resolve_reranker(reranker: str | Reranker | None) -> Reranker | None:
    """Make the reranker that a name stands for."""
    if reranker is None:
        return None
    from chunkwise.models import get_reranker

    return get_reranker(reranker)
