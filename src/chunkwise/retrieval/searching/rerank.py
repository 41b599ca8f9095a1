"""The best chunks rescored by a model that compares question and chunk more closely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.errors import ChunkwiseError
from chunkwise.models.reranker import BesideTheFirst, Reranker
from chunkwise.retrieval.ranking import Ranking, best
from chunkwise.retrieval.searching.reader import Reader

RERANK_DEPTH = 100
"""Chunks a question that are read again; those behind them are dropped, their scores would not compare."""

_LAST = float(np.finfo(np.float32).min)


def reranked(reader: Reader, question: str, ranking: Ranking, reranker: Reranker) -> Ranking:
    """All chunks of the ranking in the order of the reranker's scores; ties stay as they were."""
    numbers = ranking.numbers.tolist()
    if not numbers:
        return ranking
    texts = []
    for chunk in reader.source.chunks(numbers):
        text = chunk.summary or reader.text(chunk.document)[chunk.start : chunk.end]
        texts.append(f"{chunk.context}\n{text}" if chunk.context else text)
    scores = np.asarray(reranker.scores(question, texts), np.float32)
    if scores.shape != (len(texts),):
        raise ChunkwiseError(
            f"the reranker {reranker.identity} gave {scores.size:,} scores for {len(texts):,} texts; "
            "it has to give one a text, in their order: choose another, or leave rerank out"
        )
    if isinstance(reranker, BesideTheFirst):
        scores = _together(scores, ranking.scores, reranker.weight_of_first)
    # Numbered by rank here, so that of equals the higher one stays ahead; what is no number comes last.
    order = best(np.nan_to_num(scores, nan=_LAST), len(scores))
    return Ranking(ranking.numbers[order.numbers], order.scores)


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
