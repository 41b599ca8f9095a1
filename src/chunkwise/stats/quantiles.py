"""Quantiles of many columns at once, also of columns whose values stand for several."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.stats.table import Table


def quantiles(values: Table, times: NDArray[np.int64] | None, at: Table) -> Table:
    """One row a quantile, one column a column; `times` is how often each row counts (None: once).

    `at` has the quantiles of each column, which may differ. NaN is left out. Between two values the quantile lies on
    the straight line, as NumPy has it.
    """
    behind = None
    if times is None:
        # A column at a time lies in one piece of memory; NaN comes last.
        ranked = np.sort(np.ascontiguousarray(values.T)).T
        size = (~np.isnan(ranked)).sum(axis=0)
    else:
        order = np.argsort(values, axis=0)
        ranked = np.take_along_axis(values, order, axis=0)
        behind = np.cumsum(np.where(np.isnan(ranked), 0, times[order]), axis=0)
        size = behind[-1]
    place = at * (size - 1)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, size - 1)
    one, other = _picked(ranked, behind, low), _picked(ranked, behind, high)
    share = place - low
    # From the nearer end, as NumPy goes: then both give the same bits.
    near = one + (other - one) * share
    far = other - (other - one) * (1 - share)
    return np.where(share < 0.5, near, far)


def _picked(ranked: Table, behind: NDArray[np.int64] | None, number: NDArray[np.int64]) -> Table:
    """The values with these numbers in each column's order."""
    if behind is None:
        return np.take_along_axis(ranked, number, axis=0)
    row = np.array([(behind <= each).sum(axis=0) for each in number])
    return np.take_along_axis(ranked, row, axis=0)
