"""What a number of questions can show: the least difference, and the questions that a difference needs."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from chunkwise.stats.table import spread

FEWEST = 6
"""Pairs. Of five all could point one way, as far as they can, and p would still be 0.0625."""
CORRELATION = 0.5
"""Assumed between the scores of two runs on the same questions, as long as there is only one run. The differences
then spread as much as the scores do; runs that are more alike show smaller differences."""
Z_95 = NormalDist().inv_cdf(0.975)
"""Of 95 %, two-sided, on the normal curve."""
_MOST = 1_000_000_000
_POWER = NormalDist().inv_cdf(0.8)
_COARSE = 12.0
"""How much larger a difference of few pairs must be than the normal curve has it, over the square of their number."""


def student(z: float, freedom: int) -> float:
    """Student's quantile from the normal one (Cornish and Fisher): to 0.2 % from five degrees of freedom on."""
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def detectable(deviation: float | None, pairs: int, reach: float = 1.0) -> float | None:
    """The difference that is shown four times in five, at 5 % two-sided; None: none can be, or nothing is known.

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
    away += student(_POWER, pairs - 1) * error
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
