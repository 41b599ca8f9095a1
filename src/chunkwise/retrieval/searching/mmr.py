"""Maximal marginal relevance: what is good and not yet said (Carbonell and Goldstein, 1998)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.fusion import scaled
from chunkwise.retrieval.ranking import Ranking


def diverse(ranking: Ranking, vectors: NDArray[np.float32], balance: float) -> Ranking:
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
