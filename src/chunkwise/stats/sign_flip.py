"""The paired randomisation test: were there no difference, each could as well have the other sign."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.stats.rare import rare_shares
from chunkwise.stats.table import Table, on_grid

EXACT = 15
"""Up to so many pairs that differ every assignment of signs is looked at."""
_CELLS = 1 << 21
_FEW = 50
"""Draws as far as what was seen. A share told by fewer is off by more than a seventh, and the least that even draws
can tell would be no difference after the correction for some hundred tests."""


def p_values(differences: Table, *, seed: int, resamples: int) -> list[float]:
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


def _drawn(table: Table, seed: int, resamples: int) -> NDArray[np.float64]:
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


def _as_far(own: Table) -> NDArray[np.float64]:
    """What a sum must reach; sums that differ by less than the rounding of their values are the same."""
    rounding = np.abs(own).max(axis=0) * len(own) ** 2 * 2.0**-51
    least: NDArray[np.float64] = np.abs(own.sum(axis=0)) - rounding
    return least
