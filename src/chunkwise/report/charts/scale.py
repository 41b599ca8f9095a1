"""Where a value stands between the ends of an axis, and the round numbers that stand beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`, which are ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high one; never beyond them."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def at(self, value: float) -> str:
        """The same as a percentage, for an attribute."""
        return f"{100 * self.share(value):.4g}%"


def scale_of(values: Iterable[float | None], most: int = 5, *, zero: bool = False) -> Scale:
    """Ends around all values that are numbers, at most `most` steps between them; `zero` is always on it."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    known += [0.0] if zero or not known else []
    low, high = min(known), max(known)
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    rough = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    # Ends that are ticks may need one step more than lies between the values.
    step = next(unit * each for each in _STEPS if unit * each >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(number * step, 12) for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)
