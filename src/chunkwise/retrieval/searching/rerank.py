"""The best chunks rescored by a model that reads question and chunk together."""

from __future__ import annotations

import numpy as np

from chunkwise.errors import ChunkwiseError
from chunkwise.models.reranker import Reranker
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
    # Numbered by rank here, so that of equals the higher one stays ahead; what is no number comes last.
    order = best(np.nan_to_num(scores, nan=_LAST), len(scores))
    return Ranking(ranking.numbers[order.numbers], order.scores)
