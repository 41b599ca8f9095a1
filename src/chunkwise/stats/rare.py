"""How rare a rare sum of signed values is: draws that lean towards it, each counted by how much they lean."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.stats.table import Table

_DRAWS = 2_000
"""The share found is then off by a few per cent, however small it is."""
_CELLS = 1 << 21
_STEPS = 60


def rare_shares(own: Table, bounds: Sequence[float], *, seed: int) -> list[float]:
    """Of all assignments of signs to a column's values, those whose sum is as far from 0 as its bound; never 0.

    Signs are drawn such that their sum is at the bound on average (exponential tilting), and every draw that reaches
    it counts as often as it would come up among even ones. Thus 1e-30 is told as well as 0.001.
    """
    sizes = np.abs(own)
    leaning = [_leaning(column, bound) for column, bound in zip(sizes.T, bounds, strict=True)]
    found = np.zeros(len(leaning))
    # Another stream than those of the bootstrap and of even signs of the same seed.
    rng = np.random.default_rng([seed, 2])
    block = max(1, _CELLS // len(own))
    for done in range(0, _DRAWS, block):
        drawn = rng.random((min(block, _DRAWS - done), len(own)))
        for at, lean in enumerate(leaning):
            if lean is not None:
                found[at] += _counted(drawn, sizes[:, at], bounds[at], lean)
    return [
        _all_alike(column) if lean is None else _rounded(2.0 * total / _DRAWS, column)
        for column, lean, total in zip(sizes.T, leaning, found.tolist(), strict=True)
    ]


def _leaning(sizes: NDArray[np.float64], bound: float) -> float | None:
    """The lean at which the sum is at the bound on average; None: only all signs alike reach it."""
    own = sizes[sizes > 0]
    if bound > own.sum() - 2 * own.min():
        return None
    low, high = 0.0, 1.0 / float(own.max())
    while _on_average(own, high) < bound:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _on_average(own, middle) < bound else (low, middle)
    return (low + high) / 2


def _on_average(sizes: NDArray[np.float64], lean: float) -> float:
    return float((sizes * np.tanh(lean * sizes)).sum())


def _counted(drawn: Table, sizes: NDArray[np.float64], bound: float, lean: float) -> float:
    up = drawn < 1.0 / (1.0 + np.exp(-2.0 * lean * sizes))
    sums = 2.0 * (up.astype(np.float64) @ sizes) - sizes.sum()
    reached = sums[sums >= bound]
    # log cosh, also where cosh is beyond any number.
    even = (lean * sizes + np.log1p(np.exp(-2.0 * lean * sizes)) - math.log(2)).sum()
    return math.fsum(np.exp(even - lean * reached).tolist())


def _all_alike(sizes: NDArray[np.float64]) -> float:
    """Two of all assignments; of more than a thousand pairs the smallest number there is."""
    return max(2.0 ** (1 - int((sizes > 0).sum())), float(np.finfo(np.float64).tiny))


def _rounded(share: float, sizes: NDArray[np.float64]) -> float:
    """Digits that another machine's exponential function may change are left out."""
    return min(1.0, max(float(f"{share:.6g}"), _all_alike(sizes)))
