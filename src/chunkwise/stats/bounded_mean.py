"""Limits for the mean of values that lie between two bounds, and how far out a value of that mean would be.

The limits hold for any such values, be they right and wrong, mostly equal, or spread evenly: one more value that was
not seen is put at the bound, and all are weighted at random, as if each had an exponential number of twins (Gaffke
2005; Learned-Miller and Thomas 2019). Of 0 and 1 alone they are the exact limits of Clopper and Pearson; of the
differences -1, 0 and 1 they leave out 0 when the exact sign test does. The share of such weightings is found by its
saddlepoint (Barndorff-Nielsen 1986), to a few parts in a hundred however small it is: nothing is drawn, and nothing
needs a seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from chunkwise.stats.table import ScoreMatrix

Column = NDArray[np.float64]
"""One number a column of a table."""

_CELLS = 1 << 19
"""Of a table that is worked on at once, 4 MB."""
_NEAREST, _FURTHEST = -80.0, 8.0
"""Of the logarithm that is searched: how far outside of the values the saddlepoint stands, in their range."""
_HALVED = 14
_ALONG = 4
"""Steps of a search: first the range of it is halved, then a straight line is followed."""
_FLAT = 1e-9
"""A root so near 0 is rounding: the mean is in the middle."""


def upper_limits(values: ScoreMatrix, highest: Column, beyond: Column) -> Column:
    """What the mean of each column is at most, but for a chance of `beyond`; no value is above `highest`.

    NaN is no value; each column has one at least.
    """
    out = np.array([-NormalDist().inv_cdf(float(share)) for share in beyond])
    found = np.empty(values.shape[1])
    for some in _blocks(values):
        found[some] = _limit(_Weighted(values[:, some], highest[some]), out[some])
    return found


def lower_limits(values: ScoreMatrix, lowest: Column, beyond: Column) -> Column:
    """What the mean is at least, in the same way."""
    return -upper_limits(-values, -lowest, beyond)


def shares_above(values: ScoreMatrix, highest: Column, at: float) -> Column:
    """Of all weightings of each column and its unseen value, those whose mean is above `at`.

    It is the `beyond` whose upper limit is `at`; never 0 where `highest` is above it. More than half of them count as
    all: nobody asks for limits on the other side of the mean.
    """
    found = np.empty(values.shape[1])
    for some in _blocks(values):
        found[some] = _share(_Weighted(values[:, some], highest[some]), at)
    return found


def _limit(table: _Weighted, out: Column) -> Column:
    place = _searched(lambda at: table.deviations(at) - out, len(out))
    return table.top - table.range * table.below_top(place)


def _share(table: _Weighted, value: float) -> Column:
    down = (table.top - value) / table.range
    place = _searched(lambda at: down - table.below_top(at), len(down))
    # Not by 1 - erf, which is 0 where a share is small.
    out = (table.deviations(place) / math.sqrt(2)).tolist()
    found: Column = np.maximum([math.erfc(each) / 2 for each in out], np.finfo(np.float64).tiny)
    found[down >= table.middle] = 1.0
    found[down <= 0] = 0.0
    return found


class _Weighted:
    """Columns with their unseen value, measured downwards from the highest in units of the range."""

    def __init__(self, values: ScoreMatrix, highest: Column) -> None:
        # In order, so that the order of the questions changes no digit.
        ranked = np.sort(np.vstack([values, highest[None, :]]), axis=0)
        self.is_there = (~np.isnan(ranked)).astype(np.float64)
        self.top: Column = np.nanmax(ranked, axis=0)
        apart = self.top - np.nanmin(ranked, axis=0)
        self.range: Column = np.where(apart > 0, apart, 1.0)
        self.down = np.where(self.is_there > 0, (self.top - ranked) / self.range, 0.0)
        self.middle = self.down.sum(axis=0) / self.is_there.sum(axis=0)

    def below_top(self, at: Column) -> Column:
        """How far below the highest the mean lies whose saddlepoint stands `at` above it."""
        weights = self.is_there / (at + self.down)
        found: Column = (weights * self.down).sum(axis=0) / weights.sum(axis=0)
        return found

    def deviations(self, at: Column) -> Column:
        """How far out that mean is on the normal curve; 0 where the search has no further to go."""
        weights = self.is_there / (at + self.down)
        tilted = weights * (self.is_there.sum(axis=0) / weights.sum(axis=0))
        tilted[self.is_there == 0] = 1.0
        root = np.sqrt(np.maximum(-2.0 * np.log(tilted).sum(axis=0), 0.0))
        spread = np.sqrt(((tilted - 1.0) ** 2).sum(axis=0))
        found = np.zeros(len(root))
        far = root > _FLAT
        found[far] = root[far] + np.log(spread[far] / root[far]) / root[far]
        return found


def _searched(gap: Callable[[Column], Column], width: int) -> Column:
    """Where the gap, which falls with the distance, is nothing: a column each, whatever stands beside it."""
    low, high = np.full(width, _NEAREST), np.full(width, _FURTHEST)
    for _ in range(_HALVED):
        middle = (low + high) / 2
        is_near = gap(np.exp(middle)) > 0
        low, high = np.where(is_near, middle, low), np.where(is_near, high, middle)
    # So near to each other, the gap between the two is a straight line.
    gap_low, gap_high = gap(np.exp(low)), gap(np.exp(high))
    for _ in range(_ALONG):
        falls = gap_low - gap_high
        share = np.full(width, 0.5)
        np.divide(gap_low, falls, out=share, where=falls > 0)
        at = low + np.clip(share, 0.0, 1.0) * (high - low)
        found = gap(np.exp(at))
        is_near = found > 0
        low, high = np.where(is_near, at, low), np.where(is_near, high, at)
        gap_low, gap_high = np.where(is_near, found, gap_low), np.where(is_near, gap_high, found)
    place: Column = np.exp(at)
    return place


def _blocks(values: ScoreMatrix) -> list[slice]:
    rows, width = values.shape
    step = max(1, _CELLS // (rows + 1))
    return [slice(first, min(first + step, width)) for first in range(0, width, step)]
