"""A distribution of sizes in bounded memory: counts per size, coarser only where sizes are huge."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from chunkwise.profile.results import Bin, SizeSummary

_EXACT = 4096
_STEPS = 256
"""Bins a doubling above the exact range: 0.3 % wide."""

EDGES = (25, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1200, 1600, 3200, 6400, 12800)
"""Of the histogram shown; the sizes whose fit is told are among them."""


class Sizes:
    """Counts of whole numbers from 0 up; grows with the largest value's magnitude, never with their number."""

    def __init__(self) -> None:
        self._counts: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.total = 0
        self.longest = 0

    def add(self, values: NDArray[np.int64]) -> None:
        if not len(values):
            return
        self.total += int(values.sum())
        self.longest = max(self.longest, int(values.max()))
        self._add_counts(np.bincount(_bins(values)))

    def merge(self, other: Sizes) -> None:
        self.total += other.total
        self.longest = max(self.longest, other.longest)
        self._add_counts(other._counts)

    def _add_counts(self, counts: NDArray[np.int64]) -> None:
        if len(counts) > len(self._counts):
            self._counts = np.pad(self._counts, (0, len(counts) - len(self._counts)))
        self._counts[: len(counts)] += counts

    @property
    def count(self) -> int:
        return int(self._counts.sum())

    def at_most(self, limit: int) -> int:
        """How many values are no larger; exact for limits below the exact range."""
        return (
            int(self._counts[: limit + 1].sum()) if limit < _EXACT else self._at_most_large(limit)
        )

    def _at_most_large(self, limit: int) -> int:
        if limit >= self.longest:
            return self.count
        return int(self._counts[: int(_bins(np.array([limit]))[0]) + 1].sum())

    def quantile(self, share: float) -> int:
        """The smallest value that at least this share of all values do not exceed; 0 without values."""
        count = self.count
        if not count:
            return 0
        # Rounded first: 0.95 * 20 is a hair above 19 in binary.
        rank = max(math.ceil(round(share * count, 6)), 1)
        index = int(np.cumsum(self._counts).searchsorted(rank))
        if rank == count:
            return self.longest
        return min(_value(index), self.longest)

    def summary(self, *, histogram: bool = False) -> SizeSummary:
        count = self.count
        mean = self.total / count if count else 0.0
        bins = self._histogram() if histogram and count else ()
        return SizeSummary(
            count, self.total, mean, self.quantile(0.5), self.quantile(0.95), self.longest, bins
        )

    def _histogram(self) -> tuple[Bin, ...]:
        below = [self.at_most(edge) for edge in EDGES]
        lows, highs = (0, *EDGES), (*EDGES, None)
        counts = np.diff([0, *below, self.count]).tolist()
        return tuple(Bin(*values) for values in zip(lows, highs, counts, strict=True))


def _bins(values: NDArray[np.int64]) -> NDArray[np.int64]:
    if int(values.max()) < _EXACT:
        return values
    large = np.log2(np.maximum(values, _EXACT) / _EXACT) * _STEPS
    return np.where(values < _EXACT, values, _EXACT + large.astype(np.int64))


def _value(index: int) -> int:
    """The smallest value of a bin."""
    if index < _EXACT:
        return index
    return math.ceil(_EXACT * 2 ** ((index - _EXACT) / _STEPS))
