"""How sure a mean over questions is: the bootstrap, seeded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
_AT_ONCE = 500


class Interval(NamedTuple):
    mean: float
    low: float
    high: float

    @property
    def decided(self) -> bool:
        """Whether 0 lies outside."""
        return self.low > 0 or self.high < 0


def bootstrap(values: NDArray[np.float64], seed: int = 1) -> Interval:
    """Mean and 95 % interval; for a paired comparison give the differences, question by question."""
    rng = np.random.default_rng(seed)
    count = len(values)
    means = np.concatenate([
        values[rng.integers(0, count, (min(_AT_ONCE, RESAMPLES - done), count))].mean(axis=1)
        for done in range(0, RESAMPLES, _AT_ONCE)
    ])  # fmt: skip
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(values.mean()), float(low), float(high))
