"""How sure a figure is that is made of counts, where items come in groups: whole groups are drawn again, seeded."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.stats.interval import Interval
from chunkwise.stats.quantiles import quantiles
from chunkwise.stats.resamples import RESAMPLES, resampled_means
from chunkwise.stats.student import LEVEL, student
from chunkwise.stats.table import Table, checked

_FEW = 6
"""Groups of which fewer say so little that their resamples say nothing about how far others may lie."""
_BEYOND = 0.025
"""On either side of a 95 % interval."""

Statistic = Callable[[Table], NDArray[np.float64]]
"""One figure a row of counts, whatever all of them are multiplied with; NaN: these counts have none."""


def clustered_interval(
    counts: ArrayLike,
    statistic: Statistic,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """The figure of all groups together and its 95 % interval; groups × counts, None: there is no such figure.

    Items of one group are no independent witnesses: of 100 verdicts on 10 questions there are 10. A group without
    any count is none. Where all resamples are alike, or groups are few, the interval allows for others that were not
    seen, as that of a mean does.
    """
    table = checked(counts)
    table = table[table.sum(axis=1) > 0]
    if not len(table):
        return None
    value = float(statistic(table.sum(axis=0, keepdims=True))[0])
    if math.isnan(value):
        return None
    drawn = statistic(resampled_means(table, seed=seed, resamples=resamples))
    drawn = drawn[~np.isnan(drawn)]
    low = high = value
    if len(drawn) and len(table) > 1:
        low, high = _ends(drawn, len(table))
    if low == high or len(table) < _FEW:
        unseen = 1 - _BEYOND ** (1 / len(table))
        low, high = low + unseen * (bounds[0] - low), high + unseen * (bounds[1] - high)
    low, high = (float(f"{end:.12g}") for end in (low, high))
    return Interval(value, max(min(low, value), bounds[0]), min(max(high, value), bounds[1]))


def _ends(drawn: NDArray[np.float64], groups: int) -> tuple[float, float]:
    """The quantiles of 95 %; of few groups further out, since their resamples spread too little (Hesterberg 2015)."""
    outside = NormalDist().cdf(-math.sqrt(groups / (groups - 1)) * student(LEVEL, groups - 1))
    low, high = quantiles(drawn.reshape(-1, 1), None, np.array([[outside], [1 - outside]])).ravel()
    return float(low), float(high)
