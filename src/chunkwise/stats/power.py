"""What a number of questions can show: the least difference, and the questions that a difference needs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from chunkwise.stats.intervals import Z_95, student
from chunkwise.stats.table import spread

FEWEST = 6
"""Pairs. Of five all could point one way and the randomisation test would still say p = 0.0625."""
CORRELATION = 0.5
"""Assumed between the scores of two runs on the same questions, as long as there is only one run. The differences
then spread as much as the scores do; runs that are more alike show smaller differences."""
_MOST = 1_000_000_000
_POWER = NormalDist().inv_cdf(0.8)
_COARSE: Mapping[int, float] = MappingProxyType({6: 1.26, 7: 1.05, 8: 1.03, 9: 1.02})
"""How much larger a difference of few pairs must be than Student's test would need it, by their number: the
randomisation test of six has no p between 0.03125 and 0.0625. From 20,000 samples of the normal curve each."""


def detectable(deviation: float | None, pairs: int) -> float | None:
    """The difference that is shown four times in five, at 5 % two-sided; None: none can be, or nothing is known.

    `deviation`: the standard one of the differences, question by question; None or 0: not known.
    """
    if not deviation or pairs < FEWEST:
        return None
    away = student(Z_95, pairs - 1) + student(_POWER, pairs - 1)
    return away * _COARSE.get(pairs, 1.0) * deviation / math.sqrt(pairs)


def questions_needed(difference: float, deviation: float | None) -> int | None:
    """The fewest questions that show a difference of this size; None: no number does, or nothing is known.

    `deviation`: None: not known; 0: all questions differ alike, and the fewest that can show anything show it.
    """
    if deviation is None or not difference:
        return None
    if deviation == 0:
        return FEWEST
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
