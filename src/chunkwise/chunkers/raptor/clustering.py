"""Chunks of like meaning together, in clusters of about one size.

The set is halved across the direction in which its vectors differ most, and the halves again (principal direction
divisive partitioning: Boley, 1998; then k-means with two means of a fixed size), so the work is that of a few sorts
and every cluster is as large as the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_NEARBY = 0.2
"""How far apart the first and the last chunk are by their place alone: of equal meanings neighbours go together."""
_STEPS = 12
"""Of the power iteration: the direction need not be exact, only the same every time."""
_ROUNDS = 8
_SEED = 1
_DIGITS = 5
"""Beyond these, chunks are equally far along a direction and stay in their order."""


def clusters(vectors: NDArray[np.float32], size: int) -> list[NDArray[np.int64]]:
    """Every row in exactly one cluster; two rows or more in each, `size` at most (three where that is two).

    Clusters come in the order of their first rows; fewer than two rows make none.
    """
    count = len(vectors)
    if not (parts := cluster_count(count, size)):
        return []
    place = np.linspace(0.0, _NEARBY, count)
    points = np.column_stack((vectors.astype(np.float64), place))
    found: list[NDArray[np.int64]] = []
    waiting = [(np.arange(count), parts)]
    while waiting:
        rows, parts = waiting.pop()
        if parts == 1:
            found.append(rows)
            continue
        left = parts // 2
        cut = len(rows) * left // parts
        is_left = _halved(points[rows], cut)
        waiting += [(rows[is_left], left), (rows[~is_left], parts - left)]
    return sorted(found, key=lambda rows: int(rows[0]))


def cluster_count(count: int, size: int) -> int:
    """How many clusters so many rows make."""
    return 0 if count < 2 else max(1, min(-(-count // size), count // 2))


def _halved(points: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Which points are on the first side, so many; then each goes to the side whose middle it is nearer to."""
    centred = points - points.mean(axis=0)
    is_left = _first(centred @ _direction(centred), count)
    for _ in range(_ROUNDS):
        across = centred[~is_left].mean(axis=0) - centred[is_left].mean(axis=0)
        before, is_left = is_left, _first(centred @ across, count)
        if (before == is_left).all():
            break
    return is_left


def _first(far: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    found = np.zeros(len(far), np.bool_)
    found[np.argsort(far.round(_DIGITS), kind="stable")[:count]] = True
    return found


def _direction(centred: NDArray[np.float64]) -> NDArray[np.float64]:
    """That in which the points differ most, going with their order."""
    # Not one of the points: where several subjects differ equally, it would part that one alone from the others.
    direction = np.random.default_rng(_SEED).normal(size=centred.shape[1:])
    for _ in range(_STEPS):
        direction = centred.T @ (centred @ direction)
        direction = direction / (np.linalg.norm(direction) or 1.0)
    return -direction if direction[-1] < 0 else direction
