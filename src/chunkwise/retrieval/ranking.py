"""Numbered things with scores, best first; ties break by number, so results never depend on luck."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_STRETCHES = 8
"""Times the depth: into so many stretches scores are cut, whose best ones say what is not worth a look."""
_SHORTEST = 8
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFF_FFFF)
"""The lower half of 64 bits."""


class Ranking(NamedTuple):
    """Chunk numbers and scores, best first."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float32]

    def first(self, depth: int) -> Ranking:
        """The best of them."""
        return Ranking(self.numbers[:depth], self.scores[:depth])


NOTHING = Ranking(np.empty(0, np.int64), np.empty(0, np.float32))


def best(scores: NDArray[np.float32], depth: int) -> Ranking:
    """The `depth` highest of one question's scores; those of -inf are left out."""
    if not min(depth, len(scores)):
        return NOTHING
    numbers = leading(scores, depth)
    order = np.argsort(-scores[numbers], kind="stable")[:depth]
    numbers = numbers[order].astype(np.int64)
    return Ranking(numbers, scores[numbers].astype(np.float32))


def best_positive(scores: NDArray[np.float32], depth: int) -> list[Ranking]:
    """Rank the `depth` highest scores of each row; scores are 0 or more, and those of 0 are left out."""
    # The bits of such scores are in their order; with the number behind them, one sort of integers does it all.
    keys = (~scores.view(np.uint32)).astype(np.uint64) << _HALF
    keys |= np.arange(scores.shape[1], dtype=np.uint64)
    if depth < keys.shape[1]:
        keys.partition(depth, axis=1)
        keys = keys[:, :depth]
    keys.sort(axis=1)
    numbers = (keys & _LOW).astype(np.int64)
    values = (~(keys >> _HALF).astype(np.uint32)).view(np.float32)
    ends = np.count_nonzero(values, axis=1).tolist()
    return [Ranking(numbers[row, :end], values[row, :end]) for row, end in enumerate(ends)]


def floors(scores: NDArray[np.float32], depth: int) -> NDArray[np.float32]:
    """For each row a score that at least `depth` of its values reach, found without sorting them."""
    rows, size = scores.shape
    stretches = depth * _STRETCHES
    length = size // stretches
    if length < _SHORTEST:
        return np.full(rows, -np.inf, np.float32)
    # Each stretch is a comb over the row, so that the longest side is the one that lies in order.
    tops = scores[:, : length * stretches].reshape(rows, length, stretches).max(axis=1)
    return np.partition(tops, stretches - depth, axis=1)[:, stretches - depth]


def leading(
    scores: NDArray[np.float32], depth: int, floor: float = -np.inf, margin: float = 0.0
) -> NDArray[np.intp]:
    """The numbers of the `depth` highest scores and of all that come within `margin` of them, in order."""
    numbers = np.flatnonzero(np.isfinite(scores) if floor == -np.inf else scores >= floor - margin)
    values = scores[numbers]
    if len(numbers) <= depth:
        return numbers
    # All that tie with the last one in are kept, so that the lower numbers stay.
    least = np.partition(values, len(values) - depth)[len(values) - depth]
    return numbers[values >= least - margin]
