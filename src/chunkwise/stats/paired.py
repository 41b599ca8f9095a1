"""Two runs on the same questions: how large the difference is, and whether chance alone would make one as large."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from chunkwise.errors import InvalidParameter
from chunkwise.stats.bootstrap import intervals
from chunkwise.stats.interval import Interval
from chunkwise.stats.resamples import RESAMPLES
from chunkwise.stats.sign_flip import p_values
from chunkwise.stats.table import Table, checked, spread

_NOISE = 1e-12
"""Of the larger of the two scores: below it they differ by the order they were added up in."""
BOUNDS = (-1.0, 1.0)
"""Of a difference of two scores, which lie between 0 and 1."""


class Paired(NamedTuple):
    """What the second has over the first."""

    difference: Interval
    """Second minus first."""
    p: float
    """Of the paired randomisation test, two-sided."""
    pairs: int
    """Questions that both have a score for."""
    spread: float
    """Standard deviation of the differences; 0 of a single one."""

    @property
    def known_spread(self) -> float | None:
        """None of a single pair, which says nothing about it."""
        return self.spread if self.pairs > 1 else None


def compare(
    first: ArrayLike, second: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES
) -> Paired | None:
    """One metric, question by question; None: no question is scored in both."""
    columns = [np.asarray(values, dtype=np.float64).reshape(-1, 1) for values in (first, second)]
    return compare_all(*columns, seed=seed, resamples=resamples)[0]


def compare_all(
    first: ArrayLike, second: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES
) -> list[Paired | None]:
    """Many metrics at once, questions × metrics, on the same resamples."""
    table = differences(checked(first), checked(second))
    found: list[Paired | None] = []
    for column, difference, p in zip(
        table.T,
        intervals(table, seed=seed, resamples=resamples, bounds=BOUNDS),
        p_values(table, seed=seed, resamples=resamples),
        strict=True,
    ):
        own = column[~np.isnan(column)]
        if difference is not None and not own.any():
            difference = Interval(
                0.0, 0.0, 0.0
            )  # the same on every question: there is nothing to doubt
        found.append(None if difference is None else Paired(difference, p, len(own), spread(own)))
    return found


def differences(first: Table, second: Table) -> Table:
    """Second minus first; NaN where one of them is unscored."""
    if first.shape != second.shape:
        raise InvalidParameter(
            f"scores to be paired have the shapes {first.shape} and {second.shape}; "
            "a pair is one question by one metric in both"
        )
    found = second - first
    noise = np.abs(found) <= _NOISE * np.maximum(np.abs(first), np.abs(second))
    return np.where(noise, 0.0, found)
