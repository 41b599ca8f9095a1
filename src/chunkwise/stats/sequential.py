"""A mean that may be looked at after every observation: intervals that hold at all times at once, and when to stop.

By betting (Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, JRSS B 2024): against
every mean that might be true somebody bets, with stakes fixed before each observation. Against the true one nobody gets
rich: the chance that the capital ever reaches 20 times the stake is at most 1/20 (Ville). The means nobody got rich
against are the interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import as_set

_GRID = 2001
"""Means that are bet against, both ends and the middle among them."""
_MOST_STAKE = 0.75
"""Share of the capital that is risked at most."""
_BLOCK = 512
_FORECAST_LIMIT = 100_000_000

State = Literal["higher", "lower", "alike", "open"]


@dataclass(frozen=True, slots=True)
class SequentialMean:
    """The mean after each observation, with an interval that holds for all of them at once."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p: NDArray[np.float64]
    """Against a mean of zero; valid whenever one looks, and never rises."""
    level: float

    def __len__(self) -> int:
        return len(self.mean)

    def state(self, at: int = -1, tolerance: float = 0.0) -> State:
        """What is shown after an observation: higher or lower than zero, nearer to it than `tolerance`, or nothing."""
        if not len(self):
            return "open"
        if self.low[at] > 0:
            return "higher"
        if self.high[at] < 0:
            return "lower"
        return "alike" if -tolerance <= self.low[at] and self.high[at] <= tolerance else "open"

    def decided_at(self, tolerance: float = 0.0) -> int | None:
        """How many observations it took until something was shown; None: nothing is yet."""
        shown = (self.low > 0) | (self.high < 0)
        shown |= (self.low >= -tolerance) & (self.high <= tolerance)
        return int(shown.argmax()) + 1 if shown.any() else None

    def more_needed(self, tolerance: float = 0.0) -> int | None:
        """About how many more observations will show something, if they go on like this; None: that cannot be said."""
        count = len(self)
        if count < 2 or self.decided_at(tolerance) is not None:
            return None
        mean, width = float(self.mean[-1]), float(self.high[-1] - self.low[-1]) / 2
        # Either the mean stays where it is and the interval leaves zero, or it shrinks into the tolerance.
        target = max(abs(mean), tolerance - abs(mean))
        if target <= 0:
            return None
        later = count
        while later < _FORECAST_LIMIT:
            later = max(later + 1, int(later * 1.05))
            if width * math.sqrt(count * math.log(later + 1) / (later * math.log(count + 1))) <= target:  # fmt: skip
                return later - count
        return None


def sequential_mean(
    values: Sequence[float] | NDArray[np.float64],
    *,
    bounds: tuple[float, float] = (-1.0, 1.0),
    level: float = 0.95,
) -> SequentialMean:
    """Of values in the order in which they came, each within the bounds; their mean is not to drift."""
    low, high = bounds
    scaled, alpha = _scaled(values, bounds), 1 - level
    if not 0 < level < 1:
        raise InvalidParameter(
            f"level is {level!r}; expected a number between 0 and 1, such as 0.95"
        )
    stakes = _stakes(scaled, alpha)
    grid = np.linspace(0.0, 1.0, _GRID)
    lows, highs = np.empty(len(scaled)), np.empty(len(scaled))
    best = np.full(_GRID, -np.inf)
    """The largest capital that was ever won against each mean, in logarithms."""
    before = np.zeros((2, _GRID))
    for start in range(0, len(scaled), _BLOCK):
        part = slice(start, start + _BLOCK)
        capital, before = _capital(scaled[part], stakes[part], grid, before)
        reached = np.maximum.accumulate(np.maximum(capital, best), axis=0)
        best = reached[-1]
        lows[part], highs[part] = _ends(reached < -math.log(alpha), grid)
    means = np.cumsum(scaled) / np.arange(1, len(scaled) + 1)
    p = anytime_p(values, bounds=bounds, level=level)
    reach = high - low
    return SequentialMean(low + reach * means, low + reach * lows, low + reach * highs, p, level)


def anytime_p(
    values: Sequence[float] | NDArray[np.float64],
    *,
    bounds: tuple[float, float] = (-1.0, 1.0),
    level: float = 0.95,
) -> NDArray[np.float64]:
    """After each value, against a mean of zero: the chance that it ever gets as small is no larger than it."""
    scaled = _scaled(values, bounds)
    zero = np.array([-bounds[0] / (bounds[1] - bounds[0])])
    capital, _ = _capital(scaled, _stakes(scaled, 1 - level), zero, np.zeros((2, 1)))
    return np.exp(-np.maximum.accumulate(np.maximum(capital[:, 0], 0.0)))


def _scaled(
    values: Sequence[float] | NDArray[np.float64], bounds: tuple[float, float]
) -> NDArray[np.float64]:
    """From 0 to 1."""
    low, high = bounds
    own = np.asarray(values, dtype=np.float64)
    if own.ndim != 1 or not np.isfinite(own).all() or ((own < low) | (own > high)).any():
        raise InvalidParameter(f"a value is NaN or outside of {as_set(low)} to {as_set(high)}")
    return (own - low) / (high - low)


def _stakes(values: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Each by what came before it alone."""
    count = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (count + 1)
    spread = (0.25 + np.cumsum((values - means) ** 2)) / (count + 1)
    known = np.concatenate(([0.25], spread[:-1]))
    return np.sqrt(2 * math.log(2 / alpha) / (known * count * np.log(count + 1)))


def _capital(
    values: NDArray[np.float64],
    stakes: NDArray[np.float64],
    means: NDArray[np.float64],
    before: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """In logarithms, of bets on more and on less than each mean with half of the stake each; and both as they end."""
    away = values[:, None] - means
    with np.errstate(divide="ignore"):
        most_up, most_down = _MOST_STAKE / means, _MOST_STAKE / (1 - means)
    up = before[0] + np.cumsum(np.log1p(np.minimum(stakes[:, None], most_up) * away), axis=0)
    down = before[1] + np.cumsum(np.log1p(-np.minimum(stakes[:, None], most_down) * away), axis=0)
    last = np.stack((up[-1], down[-1])) if len(values) else before
    return np.maximum(up, down) - math.log(2), last


def _ends(
    kept: NDArray[np.bool_], grid: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of the means that are kept, up to the next ones that are not: between them nobody has bet."""
    first = kept.argmax(axis=1)
    last = kept.shape[1] - 1 - kept[:, ::-1].argmax(axis=1)
    low, high = grid[np.maximum(first - 1, 0)], grid[np.minimum(last + 1, len(grid) - 1)]
    gone = ~kept.any(axis=1)
    low[gone], high[gone] = 0.0, 1.0
    return low, high
