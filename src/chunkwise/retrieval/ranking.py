"""Numbered things with scores, best first; ties break by number, so results never depend on luck."""

from __future__ import annotations

from itertools import pairwise
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


def best_of_each(
    first: NDArray[np.integer],
    numbers: NDArray[np.integer],
    scores: NDArray[np.float32],
    depth: int,
) -> list[Ranking]:
    """The `depth` highest scores of each question, whose own are `first[i]` to `first[i + 1]`, all above 0."""
    # The bits of such scores are in their order; with the number behind them, one sort of whole numbers does it all.
    keys = (~scores.view(np.uint32)).astype(np.uint64) << _HALF | numbers.astype(np.uint64)
    kept = [np.empty(0, np.uint64)]
    for low, high in pairwise(first.tolist()):
        own = keys[low:high]
        if high - low > depth:
            own.partition(depth)
            own = own[:depth]
        own.sort()
        kept.append(own)
    flat = np.concatenate(kept)
    found = (flat & _LOW).astype(np.int64)
    values = (~(flat >> _HALF).astype(np.uint32)).view(np.float32)
    ends = np.cumsum([len(own) for own in kept]).tolist()
    return [Ranking(found[low:high], values[low:high]) for low, high in pairwise(ends)]


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
    found = scores[numbers]
    if len(numbers) <= depth:
        return numbers
    # All that tie with the last one in are kept, so that the lower numbers stay.
    least = np.partition(found, len(found) - depth)[len(found) - depth]
    return numbers[found >= least - margin]
