"""The paired randomisation test: were there no difference, each could as well have the other sign."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.stats.table import ScoreMatrix, on_grid

_DRAWS = 2_000
"""The share found is then off by a few per cent, however small it is."""
_CELLS = 1 << 21
_STEPS = 60


def rare_shares(own: ScoreMatrix, bounds: Sequence[float], *, seed: int) -> list[float]:
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


def _counted(drawn: ScoreMatrix, sizes: NDArray[np.float64], bound: float, lean: float) -> float:
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


EXACT = 15
"""Up to so many pairs that differ every assignment of signs is looked at."""
_FEW = 50
"""Draws as far as what was seen. A share told by fewer is off by more than a seventh, and the least that even draws
can tell would be no difference after the correction for some hundred tests."""


def p_values(differences: ScoreMatrix, *, seed: int, resamples: int) -> list[float]:
    """Two-sided, one a column; NaN is no pair. Never 0: what was seen is one of the assignments."""
    table = np.where(np.isnan(differences), 0.0, differences)
    nonzero = (table != 0).sum(axis=0)
    found = [
        _exact(column[column != 0]) if count <= EXACT else 0.0
        for column, count in zip(table.T, nonzero.tolist(), strict=True)
    ]
    many = np.flatnonzero(nonzero > EXACT)
    if len(many):
        drawn = _drawn(table[:, many], seed, resamples)
        for at, p in zip(many.tolist(), drawn.tolist(), strict=True):
            found[at] = p
    return found


def _exact(values: NDArray[np.float64]) -> float:
    """The share of all assignments whose sum is as far from 0 as the one seen."""
    if not len(values):
        return 1.0
    own = on_grid(values[:, None])
    # A sum and its mirror image are equally far: the first sign can stay.
    numbers = np.arange(1 << (len(values) - 1))[:, None]
    signs = 1.0 - 2.0 * ((numbers >> np.arange(len(values))) & 1)
    sums = np.abs(signs @ own)
    return float((sums >= _as_far(own)).mean())


def _drawn(table: ScoreMatrix, seed: int, resamples: int) -> NDArray[np.float64]:
    # Another stream than that of the bootstrap of the same seed.
    rng = np.random.default_rng([seed, 1])
    own = on_grid(table)
    total, bound = own.sum(axis=0), _as_far(own)
    rows = len(own)
    block = max(1, min(resamples, _CELLS // rows))
    count = np.zeros(own.shape[1])
    for done in range(0, resamples, block):
        some = min(block, resamples - done)
        bits = np.frombuffer(rng.bytes(-(-some * rows // 8)), dtype=np.uint8)
        up = np.unpackbits(bits, count=some * rows).reshape(some, rows).astype(np.float64)
        count += (np.abs(2.0 * (up @ own) - total) >= bound).sum(axis=0)
    shares: NDArray[np.float64] = (1.0 + count) / (1.0 + resamples)
    few = np.flatnonzero(count < _FEW)
    if len(few):
        shares[few] = rare_shares(own[:, few], bound[few].tolist(), seed=seed)
    return shares


def _as_far(own: ScoreMatrix) -> NDArray[np.float64]:
    """What a sum must reach; sums that differ by less than the rounding of their values are the same."""
    rounding = np.abs(own).max(axis=0) * len(own) ** 2 * 2.0**-51
    least: NDArray[np.float64] = np.abs(own.sum(axis=0)) - rounding
    return least
