"""How sure a figure is: percentile bootstrap intervals, widened for few questions or groups, seeded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.stats.table import ScoreMatrix, checked_scores, mean, on_grid


class Interval(NamedTuple):
    """A figure with its 95 % interval."""

    mean: float
    low: float
    high: float


Z_95 = NormalDist().inv_cdf(0.975)
"""Of 95 %, two-sided, on the normal curve."""


def student(z: float, freedom: int) -> float:
    """Student's quantile from the normal one (Cornish and Fisher): to 0.2 % from five degrees of freedom on."""
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def quantiles(values: ScoreMatrix, times: NDArray[np.int64] | None, at: ScoreMatrix) -> ScoreMatrix:
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


def _picked(
    ranked: ScoreMatrix, behind: NDArray[np.int64] | None, number: NDArray[np.int64]
) -> ScoreMatrix:
    """The values with these numbers in each column's order."""
    if behind is None:
        return np.take_along_axis(ranked, number, axis=0)
    row = np.array([(behind <= each).sum(axis=0) for each in number])
    return np.take_along_axis(ranked, row, axis=0)


RESAMPLES = 10_000
_CELLS = 1 << 21
"""Of a block of draws, 16 MB: a product of matrices waits for all its threads, so there are to be few."""


_FEW_ROWS = 7
"""Rows of which so few different resamples can be drawn that most of thousands are the same."""


def resampled_means(
    values: ScoreMatrix, *, seed: int, resamples: int, together: bool = False
) -> ScoreMatrix:
    """Resamples × columns; NaN where a resample has no scored question. There is at least one row."""
    draws = _draws(len(values), seed, resamples)
    return _means(values, draws, resamples, together)


def distinct_means(
    values: ScoreMatrix, *, seed: int, resamples: int
) -> tuple[ScoreMatrix, NDArray[np.int64] | None]:
    """The same, each different resample once and how often it was drawn; None: each once."""
    if len(values) > _FEW_ROWS:
        return resampled_means(values, seed=seed, resamples=resamples), None
    drawn = np.concatenate(list(_draws(len(values), seed, resamples)))
    # A resample as one number, its counts the digits.
    code = drawn.astype(np.int64) @ (len(values) + 1) ** np.arange(len(values))
    _, first, times = np.unique(code, return_index=True, return_counts=True)
    return _means(values, [drawn[first]], len(first)), times


def _means(
    values: ScoreMatrix, draws: Iterable[ScoreMatrix], resamples: int, together: bool = False
) -> ScoreMatrix:
    missing = np.isnan(values)
    gaps = missing.any(axis=0)
    known = on_grid(np.where(missing, 0.0, values), together=together)
    # One product gives the sums, and of columns with gaps the number of scored questions.
    columns = np.hstack([known, ~missing[:, gaps]])
    found = np.empty((resamples, columns.shape[1]))
    done = 0
    for drawn in draws:
        np.matmul(drawn, columns, out=found[done : done + len(drawn)])
        done += len(drawn)
    width = values.shape[1]
    scored = np.full((resamples, width), float(len(values)))
    scored[:, gaps] = found[:, width:]
    means = np.full((resamples, width), np.nan)
    np.divide(found[:, :width], scored, out=means, where=scored > 0)
    return means


def _draws(rows: int, seed: int, resamples: int) -> Iterator[ScoreMatrix]:
    """Blocks of resamples: how often each row is in it."""
    rng = np.random.default_rng(seed)
    block = max(1, min(resamples, _CELLS // rows))
    for done in range(0, resamples, block):
        some = min(block, resamples - done)
        drawn = rng.integers(0, rows, (some, rows))
        drawn += np.arange(some)[:, None] * rows
        counts = np.bincount(drawn.ravel(), minlength=some * rows)
        yield counts.reshape(some, rows).astype(np.float64)


_FEW_VALUES = 6
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
    table = checked_scores(values)
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
            found[at] = seen if len(own) >= _FEW_VALUES else _with_unseen(own, seen, bounds)
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
    outside = NormalDist().cdf(-math.sqrt(count / (count - 1)) * student(Z_95, count - 1))
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


_FEW_GROUPS = 6
"""Groups of which fewer say so little that their resamples say nothing about how far others may lie."""

Statistic = Callable[[ScoreMatrix], NDArray[np.float64]]
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
    table = checked_scores(counts)
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
        low, high = _ends_of_groups(drawn, len(table))
    if low == high or len(table) < _FEW_GROUPS:
        unseen = 1 - _BEYOND ** (1 / len(table))
        low, high = low + unseen * (bounds[0] - low), high + unseen * (bounds[1] - high)
    low, high = (float(f"{end:.12g}") for end in (low, high))
    return Interval(value, max(min(low, value), bounds[0]), min(max(high, value), bounds[1]))


def _ends_of_groups(drawn: NDArray[np.float64], groups: int) -> tuple[float, float]:
    """The quantiles of 95 %; of few groups further out, since their resamples spread too little (Hesterberg 2015)."""
    outside = NormalDist().cdf(-math.sqrt(groups / (groups - 1)) * student(Z_95, groups - 1))
    low, high = quantiles(drawn.reshape(-1, 1), None, np.array([[outside], [1 - outside]])).ravel()
    return float(low), float(high)
