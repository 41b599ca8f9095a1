"""How sure a mean over questions is: the percentile bootstrap, widened for few questions, seeded."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from chunkwise.stats.interval import Interval
from chunkwise.stats.resamples import RESAMPLES, resampled_means
from chunkwise.stats.student import LEVEL, student
from chunkwise.stats.table import checked, mean


def intervals(
    values: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES
) -> list[Interval | None]:
    """Mean and 95 % interval of each column of questions × metrics; None: not one question is scored.

    NaN is unscored and left out of its own column only; every column sees the same resamples.
    """
    table = checked(values)
    scored = [column[~np.isnan(column)] for column in table.T]
    # Of equal values every resample has the same mean.
    spread = [at for at, own in enumerate(scored) if len(own) and own.min() < own.max()]
    found = [_alone(float(own[0])) if len(own) else None for own in scored]
    if not spread:
        return found
    means = resampled_means(table[:, spread], seed=seed, resamples=resamples)
    for at, column in zip(spread, means.T, strict=True):
        own = scored[at]
        low, high = np.quantile(column[~np.isnan(column)], _ends(len(own)))
        middle = mean(own)
        # Digits that the grid of the resamples does not carry are left out; no mean is beyond the values.
        low, high = (float(f"{end:.12g}") for end in (low, high))
        low, high = max(low, float(own.min())), min(high, float(own.max()))
        found[at] = Interval(middle, min(low, middle), max(high, middle))
    return found


def interval(values: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES) -> Interval | None:
    """Of one metric alone."""
    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    return intervals(column, seed=seed, resamples=resamples)[0]


def _ends(count: int) -> tuple[float, float]:
    """The quantiles of 95 %; of few values further out, since their resamples spread too little (Hesterberg 2015)."""
    outside = NormalDist().cdf(-math.sqrt(count / (count - 1)) * student(LEVEL, count - 1))
    return outside, 1 - outside


def _alone(value: float) -> Interval:
    return Interval(value, value, value)
