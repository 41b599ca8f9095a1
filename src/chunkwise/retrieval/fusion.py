"""Several rankings of the same chunks made into one: by scaled scores (weighted), or by ranks (rrf)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.ranking import Ranking

Fusion = Literal["weighted", "rrf"]

RRF_CONSTANT = 60
"""Of Cormack, Clarke and Büttcher (2009): how little the very first ranks stand out."""


class WeightedRanking(NamedTuple):
    """One ranking, how much it counts, and the score that is worth nothing."""

    ranking: Ranking
    weight: float = 1.0
    floor: float | None = None
    """None: the score of the last chunk in the ranking."""


def weighted_fusion(sides: Sequence[WeightedRanking], depth: int) -> Ranking:
    """Sum of (score − floor) / (best − floor), weighted; a chunk that a side does not have gets 0 from it."""
    return _summed(
        [(side.ranking.numbers, side.weight * scaled(side.ranking.scores, side.floor)) for side in sides], depth
    )  # fmt: skip


def reciprocal_rank_fusion(sides: Sequence[WeightedRanking], depth: int) -> Ranking:
    """Sum of 1 / (60 + rank), weighted: reciprocal rank fusion."""
    return _summed(
        [
            (side.ranking.numbers, side.weight / (RRF_CONSTANT + np.arange(1, len(side.ranking.numbers) + 1)))
            for side in sides
        ],
        depth,
    )  # fmt: skip


def followed(head: Ranking, sides: Sequence[Ranking], depth: int) -> Ranking:
    """What is fused, then what else the sides have, by the better of a chunk's ranks, for nothing."""
    if len(head.numbers) >= depth:
        return head.first(depth)
    numbers = np.concatenate([side.numbers for side in sides])
    rank = np.concatenate([np.arange(len(side.numbers)) for side in sides])
    numbers = numbers[np.lexsort((numbers, rank))]
    once = np.sort(np.unique(numbers, return_index=True)[1])
    rest = numbers[once][~np.isin(numbers[once], head.numbers)]
    scores = np.append(head.scores, np.zeros(len(rest), np.float32))
    return Ranking(np.append(head.numbers, rest), scores).first(depth)


def scaled(scores: NDArray[np.float32], floor: float | None = None) -> NDArray[np.float64]:
    """Scores, best first, as shares of the way from the floor to the best; all the same: all 1."""
    if not len(scores):
        return np.empty(0, np.float64)
    exact = scores.astype(np.float64)
    least = exact[-1] if floor is None else floor
    spread = exact[0] - least
    return (exact - least) / spread if spread > 0 else np.ones(len(exact))


def _summed(parts: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]], depth: int) -> Ranking:
    numbers, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    points = np.bincount(place, np.concatenate([part[1] for part in parts]), len(numbers)).astype(
        np.float32
    )
    order = np.lexsort((numbers, -points))[:depth]
    return Ranking(numbers[order].astype(np.int64), points[order])
