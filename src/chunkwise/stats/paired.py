"""Runs on the same questions: how large a difference is, whether it is shown or could be, and who is tied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.intervals import (
    OUTSIDE,
    RESAMPLES,
    Column,
    Interval,
    ScoreMatrix,
    checked_scores,
    lower_limits,
    mean,
    resampled_means,
    shares_above,
    spread,
    upper_limits,
)

FEWEST = 6
"""Pairs. Of five all could point one way, as far as they can, and p would still be 0.0625."""
CORRELATION = 0.5
"""Assumed between the scores of two runs on the same questions, as long as there is only one run. The differences
then spread as much as the scores do; runs that are more alike show smaller differences."""
Z_95 = NormalDist().inv_cdf(0.975)
"""Of 95%, two-sided, on the normal curve."""
_MOST = 1_000_000_000
Z_80 = NormalDist().inv_cdf(0.8)
"""Of a difference that is shown four times in five."""
_COARSE = 12.0
"""How much larger a difference of few pairs must be than the normal curve has it, over the square of their number."""


def student(z: float, freedom: int) -> float:
    """Student's quantile from the normal one (Cornish and Fisher): to 0.2% from five degrees of freedom on."""
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def detectable(deviation: float | None, pairs: int, reach: float = 1.0) -> float | None:
    """The difference that is shown four times in five, at 5% two-sided; None: none can be, or nothing is known.

    `deviation`: the standard one of the differences, question by question; None or 0: not known. `reach`: how far
    apart two runs may be on one question. It is about right: simulated from 8 pairs on, it is off by less than a tenth.
    """
    return _least(deviation, pairs, reach) if deviation else None


def _least(deviation: float, pairs: int, reach: float) -> float | None:
    if pairs < FEWEST:
        return None
    # One question that was not seen counts against the difference with all it can.
    unseen, error = reach / pairs, deviation / math.sqrt(pairs)
    away = unseen + student(Z_95, pairs - 1) * math.hypot(error, unseen)
    away += student(Z_80, pairs - 1) * error
    return min(away * (1 + _COARSE / pairs**2), reach)


def questions_needed(difference: float, deviation: float | None, reach: float = 1.0) -> int | None:
    """The fewest questions that show a difference of this size; None: no number does, or nothing is known.

    `deviation`: None: not known; 0: all questions differ alike.
    """
    if deviation is None or not difference:
        return None
    low, high = FEWEST, _MOST
    if _shows(low, difference, deviation, reach):
        return low
    if not _shows(high, difference, deviation, reach):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        shown = _shows(middle, difference, deviation, reach)
        low, high = (low, middle) if shown else (middle, high)
    return high


def expected_spread(scores: ArrayLike, correlation: float = CORRELATION) -> float | None:
    """Of the differences to a run that does not exist yet; None where all scores are the same or fewer than two."""
    values = np.asarray(scores, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if len(values) < 2 or values.min() == values.max():
        return None
    return spread(values) * math.sqrt(2 * (1 - correlation))


def detectable_by(scores: ArrayLike) -> float | None:
    """The least difference to another run that these questions can show; of one metric, NaN = unscored."""
    values = np.asarray(scores, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    reach = max(float(values.max()), 0.0) - min(float(values.min()), 0.0)
    return detectable(expected_spread(values), len(values), reach or 1.0)


def _shows(pairs: int, difference: float, deviation: float, reach: float) -> bool:
    least = _least(deviation, pairs, reach)
    return least is not None and least <= abs(difference)


SIGNIFICANCE = OUTSIDE
"""What is outside of an interval that leaves out 0 is shown: p and interval are two ways to say one thing."""


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given: one under 0.05 is shown, whatever the number of comparisons."""
    for value in p:
        if not 0 <= value <= 1:
            raise InvalidParameter(f"a p-value is {value}; expected 0 to 1")
    result = [0.0] * len(p)
    highest = 0.0
    for place, at in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        highest = max(highest, min(1.0, (len(p) - place) * p[at]))
        result[at] = highest
    return result


def holm_shares(p: Sequence[float]) -> list[float]:
    """By how much each p-value must be undercut, in the order given: 0.05 of one test, 0.05 / 3 of the first of three.

    An interval with as much outside leaves out 0 when Holm's procedure shows a difference, and only then. Those it
    shows have the share of their step, all others that of the step at which it ends.
    """
    adjusted, shares = holm(p), [0.0] * len(p)
    left = len(p)
    for at in sorted(range(len(p)), key=p.__getitem__):
        shares[at] = SIGNIFICANCE / left
        if adjusted[at] <= SIGNIFICANCE:
            left -= 1
    return shares


class PairedDifference(NamedTuple):
    """What the second has over the first."""

    difference: Interval
    """Second minus first."""
    p: float
    """Two-sided: how much an interval must leave outside to reach just to 0."""
    pairs: int
    """Questions that both have a score for."""
    spread: float
    """Standard deviation of the differences; 0 of a single one."""
    reach: float = 1.0
    """How far apart two runs may be on a question that was not seen."""

    @property
    def known_spread(self) -> float | None:
        """None of a single pair, which says nothing about it."""
        return self.spread if self.pairs > 1 else None


def paired_difference(
    first: ArrayLike, second: ArrayLike, *, outside: float = OUTSIDE
) -> PairedDifference | None:
    """One metric, question by question; None: no question is scored in both."""
    columns = [np.asarray(values, dtype=np.float64).reshape(-1, 1) for values in (first, second)]
    return paired_differences(*columns, outside=outside)[0]


def paired_differences(
    first: ArrayLike, second: ArrayLike, *, outside: float | ArrayLike = OUTSIDE
) -> list[PairedDifference | None]:
    """Many metrics at once, questions × metrics; `outside`: what intervals leave out, one for all or one each.

    One more question, not seen, is allowed for: one run may miss it and the other answer it as well as any that was
    seen (Gaffke 2005). So a large difference on few questions is covered when none of them was drawn, and the interval
    has a width where all questions are the same in both. Of right and wrong, p is that of the exact sign test.
    """
    one, other = checked_scores(first), checked_scores(second)
    table = differences(one, other)
    paired = np.flatnonzero((~np.isnan(table)).any(axis=0))
    result: list[PairedDifference | None] = [None] * table.shape[1]
    if not len(paired):
        return result
    own, reach = table[:, paired], _reaches(one[:, paired], other[:, paired])
    shares = np.broadcast_to(np.asarray(outside, dtype=np.float64), table.shape[1])[paired]
    p = two_sided(own, reach)
    low = lower_limits(own, -reach, shares / 2)
    high = upper_limits(own, reach, shares / 2)
    for at, column, reached, share, own_p, *ends in zip(
        paired.tolist(), own.T, reach.tolist(), shares.tolist(), p, low.tolist(), high.tolist(), strict=True
    ):  # fmt: skip
        values = column[~np.isnan(column)]
        apart = _agreeing(mean(values), ends, own_p <= share, reached)
        result[at] = PairedDifference(apart, own_p, len(values), spread(values), reached)
    return result


def two_sided(own: ScoreMatrix, reach: Column) -> list[float]:
    """p of each column of differences, none of which is further from 0 than its reach; never 0."""
    ahead = np.sign(np.nansum(own, axis=0))
    # Against what the column says: with an unseen question at the other end, how often its mean would be there.
    against = shares_above(-own * np.where(ahead == 0, 1.0, ahead), reach, 0.0)
    # The last digits depend on the machine's logarithm.
    return [min(1.0, float(f"{2 * each:.10g}")) for each in against.tolist()]


def equivalence(first: ArrayLike, second: ArrayLike, margin: float) -> list[float | None]:
    """p of each metric that the two differ by the margin or more, either way; small: they are as good as equal.

    Two one-sided tests (Schuirmann 1987), each as `paired_differences` tests; p is the larger of the two. None: fewer
    pairs than any difference could be shown by.
    """
    if not margin > 0:
        raise InvalidParameter(f"the margin is {margin}; expected a number above 0")
    one, other = checked_scores(first), checked_scores(second)
    table = differences(one, other)
    paired = np.flatnonzero((~np.isnan(table)).sum(axis=0) >= FEWEST)
    result: list[float | None] = [None] * table.shape[1]
    if not len(paired):
        return result
    own, reach = table[:, paired], _reaches(one[:, paired], other[:, paired])
    above = shares_above(own, reach, margin), shares_above(-own, reach, margin)
    for at, p in zip(paired.tolist(), np.maximum(*above).tolist(), strict=True):
        result[at] = max(float(f"{p:.10g}"), float(np.finfo(np.float64).tiny))
    return result


def _agreeing(middle: float, ends: Sequence[float], is_shown: bool, reach: float) -> Interval:
    """Within the reach; where rounding would have interval and p disagree about 0, p is right."""
    low, high = (float(f"{end:.10g}") for end in ends)
    low, high = min(max(low, -reach), middle), max(min(high, reach), middle)
    if not is_shown:
        return Interval(middle, min(low, 0.0), max(high, 0.0))
    least = abs(middle) * _NOISE
    if middle > 0:
        return Interval(middle, max(low, least), high)
    return Interval(middle, low, min(high, -least))


def _reaches(first: ScoreMatrix, second: ScoreMatrix) -> Column:
    """As far as any score seen is from another or from 0; at least 1 where a run scores all questions alike.

    Not as far as any difference seen: thirty small ones do not rule out a large one in thirty-one. Scores all alike do
    not show how far scores go.
    """
    gaps = np.isnan(first) | np.isnan(second)
    runs = np.where(gaps, np.nan, [first, second])
    lowest, highest = np.nanmin(runs, axis=1), np.nanmax(runs, axis=1)
    column: Column = highest.max(axis=0, initial=0.0) - lowest.min(axis=0, initial=0.0)
    return np.where((lowest < highest).all(axis=0), column, np.maximum(column, 1.0))


_NOISE = 1e-12
"""Of the larger of the two scores: below it they differ by the order they were added up in."""


def differences(first: ScoreMatrix, second: ScoreMatrix) -> ScoreMatrix:
    """Second minus first; NaN where one of them is unscored."""
    if first.shape != second.shape:
        raise InvalidParameter(
            f"scores to be paired have the shapes {first.shape} and {second.shape}; expected the "
            "same questions and metrics in both"
        )
    result = second - first
    noise = np.abs(result) <= _NOISE * np.maximum(np.abs(first), np.abs(second))
    return np.where(noise, 0.0, result)


class Ties(NamedTuple):
    """Of each run, in the order given; on the questions that all of them have a score for."""

    best: int
    """The highest mean; of equal ones the first."""
    means: list[float]
    alone: list[float]
    """p against the best, as if it were the only test; 1 for the best itself."""
    p: list[float]
    """The same after Holm."""
    tied: list[bool]
    """Not shown to be worse than the best; the best is tied with itself."""
    best_share: list[float]
    """Of the resamples, those in which it is best; runs that are equal there share one."""
    questions: int
    needed: int | None
    """Questions that would about separate the best from the second; None: they are the same, or nothing is known."""


def ties(
    scores: ArrayLike, *, lower_is_better: bool = False, seed: int = 0, resamples: int = RESAMPLES
) -> Ties | None:
    """Questions × runs; None where no question has a score in every run, or there is no run."""
    table = checked_scores(scores)
    table = table[~np.isnan(table).any(axis=1)]
    if not table.size:
        return None
    # Adding 0 keeps a mean of 0 from being shown as -0.
    better = -table + 0.0 if lower_is_better else table
    means = [mean(column) for column in table.T]
    ranked = sorted(range(len(means)), key=lambda at: -mean(better[:, at]))
    best, others = ranked[0], ranked[1:]
    result = paired_differences(np.repeat(table[:, [best]], len(others), axis=1), table[:, others])
    pairs = [pair for pair in result if pair is not None]
    alone, p = [1.0] * len(means), [1.0] * len(means)
    for at, pair, adjusted in zip(others, pairs, holm([pair.p for pair in pairs]), strict=True):
        alone[at], p[at] = pair.p, adjusted
    needed = None
    if pairs:
        first = pairs[0]
        needed = questions_needed(first.difference.mean, first.known_spread, first.reach)
    shares = _best_share(better, seed, resamples).tolist()
    return Ties(
        best, means, alone, p, [value > SIGNIFICANCE for value in p], shares, len(table), needed
    )


def _best_share(better: ScoreMatrix, seed: int, resamples: int) -> NDArray[np.float64]:
    means = resampled_means(better, seed=seed, resamples=resamples, together=True)
    top = means == means.max(axis=1, keepdims=True)
    shares: NDArray[np.float64] = (top / top.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares
