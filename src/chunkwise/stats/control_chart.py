"""Whether runs over time are still what they were: a paired test against one run, and a control chart over many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.intervals import (
    Interval,
    ScoreMatrix,
    checked_scores,
    intervals,
    unpaired_difference,
)
from chunkwise.stats.paired import (
    FEWEST,
    SIGNIFICANCE,
    Z_80,
    Z_95,
    detectable,
    holm,
    paired_differences,
    student,
)

ALARM = 0.01
"""Chance of a false alarm a run, over all figures that are watched: half of it is the test's against one run, half that
of the charts. A weekly run that is looked at for years needs more than the 5% of a single comparison."""
FEWEST_RUNS = 8
"""Runs that the limits of a chart are learnt from, at least."""
MOST_RUNS = 20
"""Runs behind which limits stand: from there on a slow decay cannot move them along."""
WEIGHT = 0.3
"""Of the latest run in the moving average; those before it have 0.3 of what is left, each."""


class ControlPoint(NamedTuple):
    """One run on a chart."""

    average: float
    """The moving average (EWMA) at this run."""
    centre: float
    """The mean of the stable past."""
    low: float
    high: float
    """What the average stays within, but for the chance that was given."""
    is_usual: bool
    """Whether this run by itself is where 95% of runs are, as the first `FEWEST_RUNS` show them."""

    @property
    def is_below(self) -> bool:
        return self.average < self.low

    @property
    def is_above(self) -> bool:
        return self.average > self.high


class ControlChart:
    """An exponentially weighted moving average with its limits, run by run.

    Limits come from the runs before the one that is looked at: the first `MOST_RUNS` that are stable. Few runs know
    their own spread badly: Student's quantile allows for that.
    """

    def __init__(self, chance: float) -> None:
        """`chance` is that of a false alarm a run, on both sides together."""
        if not 0 < chance < 1:
            raise InvalidParameter(f"chance is {chance!r}; expected a share between 0 and 1")
        self._z = -NormalDist().inv_cdf(chance / 2)
        self._past: list[float] = []
        self._watched: list[float] = []
        """Runs since the first limits."""

    def look(self, value: float) -> ControlPoint | None:
        """Where the next run would be; None: still learning."""
        if not math.isfinite(value):
            raise InvalidParameter(f"a value is {value}; leave out runs without a value")
        past, watched = self._past, [*self._watched, value]
        count = len(past)
        if count < FEWEST_RUNS:
            return None
        centre, spread = _middle(past)
        average = centre
        for each in watched:
            average += WEIGHT * (each - average)
        # Of the average itself, and of the centre it is compared with.
        share = WEIGHT / (2 - WEIGHT) * (1 - (1 - WEIGHT) ** (2 * len(watched))) + 1 / count
        away = student(self._z, count - 1) * spread * math.sqrt(share)
        middle, own = _middle(past[:FEWEST_RUNS])
        usual = student(Z_95, FEWEST_RUNS - 1) * own * math.sqrt(1 + 1 / FEWEST_RUNS)
        is_usual = abs(value - middle) <= usual
        return ControlPoint(average, centre, centre - away, centre + away, is_usual)

    def add(self, value: float, *, is_stable: bool = True) -> ControlPoint | None:
        """The next run; what is beyond the limits of its time, or not stable for another reason, moves no limits."""
        point = self.look(value)
        if point is not None:
            self._watched.append(value)
        beyond = point is not None and (point.is_below or point.is_above)
        if is_stable and not beyond and len(self._past) < MOST_RUNS:
            self._past.append(value)
        return point


def _middle(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation."""
    centre = math.fsum(values) / len(values)
    squares = math.fsum((value - centre) ** 2 for value in values)
    return centre, math.sqrt(squares / (len(values) - 1))


class Fall(NamedTuple):
    """What one metric of a run is against that of another run."""

    before: float
    after: float
    difference: Interval
    """After minus before, with its 95% interval."""
    p: float | None
    """Of this metric alone; None: other questions."""
    pairs: int
    """0: other questions."""
    least: float
    """The least difference that so many questions of this spread can show."""
    is_shown: bool
    """That there is a difference, in whichever direction: at `ALARM` over all metrics."""
    is_likely: bool
    """The same at the 5% of a single comparison, over all metrics, too."""


def paired_falls(
    first: ArrayLike, second: ArrayLike, *, family: int | None = None
) -> list[Fall | None]:
    """Questions × metrics of the same questions in two runs; None: no question has both scores.

    `family`: metrics that are watched together, where several runs with so many each stand side by side; None: all.
    """
    one, other = checked_scores(first), checked_scores(second)
    pairs = paired_differences(one, other)
    step = family or max(len(pairs), 1)
    adjusted = iter([
        value
        for at in range(0, len(pairs), step)
        for value in holm([pair.p for pair in pairs[at : at + step] if pair is not None])
    ])  # fmt: skip
    falls: list[Fall | None] = []
    for at, pair in enumerate(pairs):
        if pair is None:
            falls.append(None)
            continue
        both = ~np.isnan(one[:, at]) & ~np.isnan(other[:, at])
        before = math.fsum(one[both, at].tolist()) / pair.pairs
        least = detectable(pair.known_spread, pair.pairs, pair.reach)
        falls.append(
            Fall(
                before, before + pair.difference.mean, pair.difference, pair.p, pair.pairs,
                # So few questions show nothing; many that all move alike show whatever they move by.
                pair.reach if pair.pairs < FEWEST else least or 0.0,
                (own := next(adjusted)) <= ALARM, own <= SIGNIFICANCE,
            )
        )  # fmt: skip
    return falls


def unpaired_falls(
    first: Sequence[ArrayLike], second: Sequence[ArrayLike], *, family: int | None = None
) -> list[Fall | None]:
    """The same of other questions: scores of each metric in both runs; None: one of them has none."""
    tables = [_columns(run) for run in (first, second)]
    one, other = (intervals(table) for table in tables)
    metrics = family or max(len(first), 1)
    sure, likely = (
        [intervals(table, outside=level / metrics) for table in tables]
        for level in (ALARM, SIGNIFICANCE)
    )
    falls: list[Fall | None] = []
    for at, (before, after) in enumerate(zip(one, other, strict=True)):
        if before is None or after is None:
            falls.append(None)
            continue
        apart = unpaired_difference(before, after)
        # Half of the interval is shown every second time; more than that, four times in five.
        least = max(apart.mean - apart.low, apart.high - apart.mean) * (1 + Z_80 / Z_95)
        shown = [_leaves_out_zero(level[0][at], level[1][at]) for level in (sure, likely)]
        falls.append(Fall(before.mean, after.mean, apart, None, 0, least, *shown))
    return falls


def _leaves_out_zero(before: Interval | None, after: Interval | None) -> bool:
    return bool(before and after and unpaired_difference(before, after).leaves_out_zero)


def _columns(scores: Sequence[ArrayLike]) -> ScoreMatrix:
    """Side by side, the shorter ones filled up with what is no score."""
    columns = [np.asarray(score, dtype=np.float64).ravel() for score in scores]
    table = np.full((max(map(len, columns), default=0), len(columns)), np.nan)
    for at, own in enumerate(columns):
        table[: len(own), at] = own
    return table


Alarm = Literal["fall", "decay"]


def alarm_of(
    fall: Fall, point: ControlPoint | None, *, tolerance: float | None = None, lower_is_better: bool = False
) -> Alarm | None:  # fmt: skip
    """fall: shown against the reference, at least the tolerance, and not where runs have been since the reference;
    decay: the chart is beyond its limits, and a difference to the reference is shown.

    `tolerance`: None is the least difference that the questions can show.
    """
    sign = 1 if lower_is_better else -1
    down = sign * fall.difference.mean
    if down <= 0:
        return None
    # A reference that was lucky is not the fault of every run behind it.
    is_usual = point is not None and point.is_usual
    if fall.is_shown and not is_usual and down >= (fall.least if tolerance is None else tolerance):
        return "fall"
    beyond = point is not None and (point.is_above if lower_is_better else point.is_below)
    # Documents that change move scores for good, and a chart by itself would take every such step for a decay.
    return "decay" if beyond and fall.is_likely and down >= (tolerance or 0.0) else None
