"""What a number of questions can show: the least difference, and the questions that a difference needs."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from chunkwise.stats.student import LEVEL, student
from chunkwise.stats.table import spread

FEWEST = 6
"""Pairs. Of five all could point one way and the randomisation test would still say p = 0.0625."""
CORRELATION = 0.5
"""Assumed between the scores of two runs on the same questions, as long as there is only one run. The differences
then spread as much as the scores do; runs that are more alike show smaller differences."""
_MOST = 1_000_000_000
_POWER = NormalDist().inv_cdf(0.8)


def detectable(deviation: float | None, pairs: int) -> float | None:
    """The difference that is shown four times in five, at 5 % two-sided; None: none can be, or nothing is known.

    `deviation`: the standard one of the differences, question by question; None or 0: not known.
    """
    if not deviation or pairs < FEWEST:
        return None
    return (student(LEVEL, pairs - 1) + student(_POWER, pairs - 1)) * deviation / math.sqrt(pairs)


def questions_needed(difference: float, deviation: float | None) -> int | None:
    """The fewest questions that show a difference of this size; None: no number does, or nothing is known."""
    if not deviation or not difference:
        return None
    low, high = FEWEST, _MOST
    if _shows(low, difference, deviation):
        return low
    if not _shows(high, difference, deviation):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _shows(middle, difference, deviation) else (middle, high)
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
    return detectable(expected_spread(values), int((~np.isnan(values)).sum()))


def _shows(pairs: int, difference: float, deviation: float) -> bool:
    least = detectable(deviation, pairs)
    return least is not None and least <= abs(difference)
