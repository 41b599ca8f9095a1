"""How sure a mean over questions is: the percentile bootstrap, widened for few questions, seeded."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.stats.interval import Interval
from chunkwise.stats.quantiles import quantiles
from chunkwise.stats.resamples import RESAMPLES, distinct_means
from chunkwise.stats.student import LEVEL, student
from chunkwise.stats.table import checked, mean

_FEW = 6
"""Values of which fewer say so little that their resamples say nothing about how far others may lie. Of fewer pairs
the randomisation test shows no difference either: their interval is not to look as if it did."""
_BEYOND = 0.025
"""On either side of a 95 % interval."""
_AT_ONCE = 256
"""Columns whose resamples are held in memory together, 20 MB."""


def intervals(
    values: ArrayLike,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> list[Interval | None]:
    """Mean and 95 % interval of each column of questions × metrics; None: not one question is scored.

    NaN is unscored and left out of its own column only; every column sees the same resamples. `bounds` are those of a
    score: of equal values, and of fewer than six, the interval allows for others within them that were not seen.
    """
    table = checked(values)
    scored = [column[~np.isnan(column)] for column in table.T]
    # Of equal values every resample has the same mean.
    spread = [at for at, own in enumerate(scored) if len(own) and own.min() < own.max()]
    found = [_alike(own, bounds) if len(own) else None for own in scored]
    for low in range(0, len(spread), _AT_ONCE):
        some = spread[low : low + _AT_ONCE]
        means, times = distinct_means(table[:, some], seed=seed, resamples=resamples)
        ends = quantiles(means, times, np.array([_ends(len(scored[at])) for at in some]).T)
        for at, both in zip(some, ends.T.tolist(), strict=True):
            own = scored[at]
            seen = _within(mean(own), both, float(own.min()), float(own.max()))
            found[at] = seen if len(own) >= _FEW else _with_unseen(own, seen, bounds)
    return found


def _within(middle: float, ends: tuple[float, float], least: float, most: float) -> Interval:
    # Digits that the grid of the resamples does not carry are left out; no mean is beyond the values.
    low, high = (float(f"{end:.12g}") for end in ends)
    return Interval(middle, min(max(low, least), middle), max(min(high, most), middle))


def interval(values: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES) -> Interval | None:
    """Of one metric alone."""
    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    return intervals(column, seed=seed, resamples=resamples)[0]


def _ends(count: int) -> tuple[float, float]:
    """The quantiles of 95 %; of few values further out, since their resamples spread too little (Hesterberg 2015)."""
    outside = NormalDist().cdf(-math.sqrt(count / (count - 1)) * student(LEVEL, count - 1))
    return outside, 1 - outside


def _alike(scored: NDArray[np.float64], bounds: tuple[float, float]) -> Interval:
    value = float(scored[0])
    return _with_unseen(scored, Interval(value, value, value), bounds)


def _with_unseen(
    scored: NDArray[np.float64], seen: Interval, bounds: tuple[float, float]
) -> Interval:
    """Where the mean could be if some questions are not like those that were seen.

    As many as one would miss by chance in 2.5 % of all samples of this size: of 40 they are 9 %, of 5 half of them.
    For right and wrong that is the exact interval of a share (Clopper and Pearson), known as the rule of three; of
    equal differences it leaves out 0 from six pairs on, as the randomisation test does.
    """
    unseen = 1 - _BEYOND ** (1 / len(scored))
    # Scores that are no shares are not known to end anywhere: they end where they were seen to.
    least = min(bounds[0], float(scored.min()))
    most = max(bounds[1], float(scored.max()))
    ends = seen.low + unseen * (least - seen.low), seen.high + unseen * (most - seen.high)
    return _within(seen.mean, ends, least, most)
