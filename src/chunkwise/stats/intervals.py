"""How sure a figure is: limits that hold for any scores, however few differ, and groups drawn again, seeded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.base.errors import InvalidParameter

ScoreMatrix = NDArray[np.float64]
"""Questions × columns; NaN: unscored."""

_LARGEST = 1e300
"""Beyond it the sum of a table could be no number any more."""
_BITS = 52


def checked_scores(values: ArrayLike) -> ScoreMatrix:
    """As floats with a column each; NaN stands for unscored, infinity for nothing."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise InvalidParameter(f"scores have {table.ndim} dimensions; expected questions × metrics")
    wrong = np.abs(table) > _LARGEST
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise InvalidParameter(
            f"score {row} of column {column} is {table[row, column]}; expected a finite "
            f"number, or NaN if unscored"
        )
    return table


def mean(values: NDArray[np.float64]) -> float:
    """Of at least one value, whatever order they come in; equal values are their own mean."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low
    return min(max(math.fsum(values.tolist()) / len(values), low), high)


def spread(values: NDArray[np.float64]) -> float:
    """Standard deviation of a sample, whatever order it comes in; 0 of fewer than two values."""
    if len(values) < 2:
        return 0.0
    squares = (values - mean(values)) ** 2
    return math.sqrt(math.fsum(squares.tolist()) / (len(values) - 1))


def on_grid(values: ScoreMatrix, *, together: bool = False) -> ScoreMatrix:
    """Rounded to multiples of a power of two, such that no sum of as many values is rounded any more.

    A product of matrices then gives the same bits on every machine and with any number of threads, and equal sums are
    equal. The step is under 1e-12 of the column's largest value (`together`: of the table's) for a thousand rows.
    """
    most = np.abs(values).max(axis=None if together else 0) * len(values)
    shift = _BITS - np.frexp(most)[1]
    rounded: ScoreMatrix = np.ldexp(np.rint(np.ldexp(values, shift)), -shift)
    return rounded


Column = NDArray[np.float64]
"""One number a column of a table."""

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
    result = np.empty(values.shape[1])
    for some in _blocks(values):
        result[some] = _limit(_Weighted(values[:, some], highest[some]), out[some])
    return result


def lower_limits(values: ScoreMatrix, lowest: Column, beyond: Column) -> Column:
    """What the mean is at least, in the same way."""
    return -upper_limits(-values, -lowest, beyond)


def shares_above(values: ScoreMatrix, highest: Column, at: float) -> Column:
    """Of all weightings of each column and its unseen value, those whose mean is above `at`.

    It is the `beyond` whose upper limit is `at`; never 0 where `highest` is above it. More than half of them count as
    all: nobody asks for limits on the other side of the mean.
    """
    result = np.empty(values.shape[1])
    for some in _blocks(values):
        result[some] = _share(_Weighted(values[:, some], highest[some]), at)
    return result


def _limit(table: _Weighted, out: Column) -> Column:
    place = _searched(lambda at: table.deviations(at) - out, len(out))
    return table.top - table.range * table.below_top(place)


def _share(table: _Weighted, value: float) -> Column:
    down = (table.top - value) / table.range
    place = _searched(lambda at: down - table.below_top(at), len(down))
    # Not by 1 - erf, which is 0 where a share is small.
    out = (table.deviations(place) / math.sqrt(2)).tolist()
    column: Column = np.maximum([math.erfc(each) / 2 for each in out], np.finfo(np.float64).tiny)
    column[down >= table.middle] = 1.0
    column[down <= 0] = 0.0
    return column


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
        column: Column = (weights * self.down).sum(axis=0) / weights.sum(axis=0)
        return column

    def deviations(self, at: Column) -> Column:
        """How far out that mean is on the normal curve; 0 where the search has no further to go."""
        weights = self.is_there / (at + self.down)
        tilted = weights * (self.is_there.sum(axis=0) / weights.sum(axis=0))
        tilted[self.is_there == 0] = 1.0
        root = np.sqrt(np.maximum(-2.0 * np.log(tilted).sum(axis=0), 0.0))
        spread = np.sqrt(((tilted - 1.0) ** 2).sum(axis=0))
        result = np.zeros(len(root))
        far = root > _FLAT
        result[far] = root[far] + np.log(spread[far] / root[far]) / root[far]
        return result


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
        values = gap(np.exp(at))
        is_near = values > 0
        low, high = np.where(is_near, at, low), np.where(is_near, high, at)
        gap_low, gap_high = np.where(is_near, values, gap_low), np.where(is_near, gap_high, values)
    place: Column = np.exp(at)
    return place


def _blocks(values: ScoreMatrix) -> list[slice]:
    rows, width = values.shape
    step = max(1, _CELLS // (rows + 1))
    return [slice(first, min(first + step, width)) for first in range(0, width, step)]


class Interval(NamedTuple):
    """A score with its interval, by default of 95%."""

    mean: float
    low: float
    high: float

    @property
    def leaves_out_zero(self) -> bool:
        """Whether there is shown to be something."""
        return self.low > 0 or self.high < 0


RESAMPLES = 10_000
_CELLS = 1 << 21
"""Of a block of draws, 16 MB: a product of matrices waits for all its threads, so there are to be few."""
OUTSIDE = 0.05
"""The chance that a mean is outside of its interval, on either side half of it."""


def resampled_means(
    values: ScoreMatrix, *, seed: int, resamples: int, together: bool = False
) -> ScoreMatrix:
    """Resamples × columns; NaN where a resample has no scored question. There is at least one row."""
    missing = np.isnan(values)
    gaps = missing.any(axis=0)
    known = on_grid(np.where(missing, 0.0, values), together=together)
    # One product gives the sums, and of columns with gaps the number of scored questions.
    columns = np.hstack([known, ~missing[:, gaps]])
    result = np.empty((resamples, columns.shape[1]))
    done = 0
    for drawn in _draws(len(values), seed, resamples):
        np.matmul(drawn, columns, out=result[done : done + len(drawn)])
        done += len(drawn)
    width = values.shape[1]
    scored = np.full((resamples, width), float(len(values)))
    scored[:, gaps] = result[:, width:]
    means = np.full((resamples, width), np.nan)
    np.divide(result[:, :width], scored, out=means, where=scored > 0)
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


def intervals(
    values: ArrayLike,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    outside: float | ArrayLike = OUTSIDE,
) -> list[Interval | None]:
    """Mean and interval of each column of questions × metrics; None: not one question is scored.

    NaN is unscored and left out of its own column only. `bounds` are those of a score: the interval allows for others
    within them that were not seen. `outside`: one chance for all columns, or one each.
    """
    table = checked_scores(values)
    scored = np.flatnonzero((~np.isnan(table)).any(axis=0))
    result: list[Interval | None] = [None] * table.shape[1]
    if not len(scored):
        return result
    own = table[:, scored]
    # Scores that are no shares are not known to end anywhere: they end where they were seen to.
    least = np.minimum(bounds[0], np.nanmin(own, axis=0))
    most = np.maximum(bounds[1], np.nanmax(own, axis=0))
    beyond = np.broadcast_to(np.asarray(outside, dtype=np.float64), table.shape[1])[scored] / 2
    low, high = lower_limits(own, least, beyond), upper_limits(own, most, beyond)
    for at, column, lowest, highest, *ends in zip(
        scored.tolist(), own.T, least, most, low.tolist(), high.tolist(), strict=True
    ):
        middle = mean(column[~np.isnan(column)])
        result[at] = _within(middle, ends, float(lowest), float(highest))
    return result


def _within(middle: float, ends: Sequence[float], least: float, most: float) -> Interval:
    # The last digits of a logarithm depend on the machine; no mean is beyond the bounds.
    low, high = (float(f"{end:.10g}") for end in ends)
    return Interval(middle, min(max(low, least), middle), max(min(high, most), middle))


def interval(values: ArrayLike, *, outside: float = OUTSIDE) -> Interval | None:
    """Of one metric alone."""
    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    return intervals(column, outside=outside)[0]


def unpaired_difference(first: Interval, second: Interval) -> Interval:
    """Second minus first of two means over other questions each; as sure as their intervals are.

    The distances to the ends are added as those of independent errors are (Zou and Donner 2008; for shares Newcombe
    1998). Questions that are in both make the true one narrower.
    """
    low = math.hypot(second.mean - second.low, first.high - first.mean)
    high = math.hypot(second.high - second.mean, first.mean - first.low)
    apart = second.mean - first.mean
    return Interval(apart, apart - low, apart + high)


Statistic = Callable[[ScoreMatrix], NDArray[np.float64]]
"""One figure a row of counts, whatever all of them are multiplied with; NaN: these counts have none."""


def clustered_interval(
    counts: ArrayLike,
    statistic: Statistic,
    *,
    worst: ArrayLike,
    best: ArrayLike,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """The figure of all groups together and its 95% interval; groups × counts, None: there is no such figure.

    Items of one group are no independent witnesses: of 100 verdicts on 10 questions there are 10. A group without
    any count is none. Groups are weighted at random, with one more that was not seen: `worst` and `best` are how it
    would be counted, in any unit, with the figure at its lowest and highest. It is as large as the others on average.
    """
    table = checked_scores(counts)
    sizes = table.sum(axis=1)
    table = table[sizes > 0]
    if not len(table):
        return None
    value = float(statistic(table.sum(axis=0, keepdims=True))[0])
    if math.isnan(value):
        return None
    ends = []
    for unseen, share in ((worst, OUTSIDE / 2), (best, 1 - OUTSIDE / 2)):
        row = np.asarray(unseen, dtype=np.float64)
        row = row * (sizes.sum() / len(table) / row.sum())
        drawn = statistic(_weighted(np.vstack([table, row]), seed, resamples))
        drawn = drawn[~np.isnan(drawn)]
        ends.append(float(f"{np.quantile(drawn, share):.10g}") if len(drawn) else value)
    return Interval(value, min(ends[0], value), max(ends[1], value))


def _weighted(table: ScoreMatrix, seed: int, resamples: int) -> ScoreMatrix:
    """Sums of the rows, each counted as often as an exponential number says."""
    rng = np.random.default_rng(seed)
    block = max(1, min(resamples, _CELLS // len(table)))
    parts = [
        rng.standard_exponential((min(block, resamples - done), len(table))) @ table
        for done in range(0, resamples, block)
    ]
    return np.concatenate(parts)


class Robustness(NamedTuple):
    """How much harder one group (a type of question) is than another."""

    easiest: str
    hardest: str
    drop: float
    """How far apart their figures are."""
    low: float
    high: float
    """95% interval of the drop, widened for all pairs of groups that these two were picked from."""
    pairs: int
    """Of groups; 1 where somebody named the two beforehand."""

    @property
    def is_shown(self) -> bool:
        """Whether the one is shown to be harder."""
        return self.low > 0


def robustness(
    scores: Mapping[str, Sequence[float]], *, lower_is_better: bool = False
) -> Robustness | None:
    """Of groups by name, from the easiest to the hardest; of two the easier comes first.

    None where there are not two groups. Of many two always lie apart: the interval is that of any two (Bonferroni).
    """
    if len(scores) < 2:
        return None
    pairs = len(scores) * (len(scores) - 1) // 2
    sign = -1.0 if lower_is_better else 1.0
    # One at a time: groups have other numbers of scores.
    result = {name: interval(own, outside=OUTSIDE / pairs) for name, own in scores.items()}
    known = {name: row for name, row in result.items() if row is not None}
    easiest = max(known, key=lambda name: sign * known[name].mean)
    hardest = min(known, key=lambda name: sign * known[name].mean)
    if easiest == hardest:
        hardest = next(name for name in known if name != easiest)
    apart = unpaired_difference(known[hardest], known[easiest])
    low, high = sorted((sign * apart.low, sign * apart.high))
    return Robustness(easiest, hardest, sign * apart.mean + 0.0, low, high, pairs)
