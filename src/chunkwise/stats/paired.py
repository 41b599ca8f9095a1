"""Runs on the same questions: how large a difference is, whether chance makes one as large, and which are tied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.intervals import RESAMPLES, Interval, intervals, resampled_means
from chunkwise.stats.power import questions_needed
from chunkwise.stats.randomisation import p_values
from chunkwise.stats.table import ScoreMatrix, checked_scores, mean, spread


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given: one under 0.05 is shown, whatever the number of comparisons."""
    for value in p:
        if not 0 <= value <= 1:
            raise InvalidParameter(f"a p-value is {value}; it lies between 0 and 1")
    found = [0.0] * len(p)
    highest = 0.0
    for place, at in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        highest = max(highest, min(1.0, (len(p) - place) * p[at]))
        found[at] = highest
    return found


_NOISE = 1e-12
"""Of the larger of the two scores: below it they differ by the order they were added up in."""
BOUNDS = (-1.0, 1.0)
"""Of a difference of two scores, which lie between 0 and 1."""


class PairedDifference(NamedTuple):
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


def paired_difference(
    first: ArrayLike, second: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES
) -> PairedDifference | None:
    """One metric, question by question; None: no question is scored in both."""
    columns = [np.asarray(values, dtype=np.float64).reshape(-1, 1) for values in (first, second)]
    return paired_differences(*columns, seed=seed, resamples=resamples)[0]


def paired_differences(
    first: ArrayLike, second: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES
) -> list[PairedDifference | None]:
    """Many metrics at once, questions × metrics, on the same resamples."""
    table = differences(checked_scores(first), checked_scores(second))
    found: list[PairedDifference | None] = []
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
        found.append(
            None if difference is None else PairedDifference(difference, p, len(own), spread(own))
        )
    return found


def differences(first: ScoreMatrix, second: ScoreMatrix) -> ScoreMatrix:
    """Second minus first; NaN where one of them is unscored."""
    if first.shape != second.shape:
        raise InvalidParameter(
            f"scores to be paired have the shapes {first.shape} and {second.shape}; "
            "a pair is one question by one metric in both"
        )
    found = second - first
    noise = np.abs(found) <= _NOISE * np.maximum(np.abs(first), np.abs(second))
    return np.where(noise, 0.0, found)


SIGNIFICANCE = 0.05


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
    found = paired_differences(
        np.repeat(table[:, [best]], len(others), axis=1), table[:, others], seed=seed, resamples=resamples
    )  # fmt: skip
    pairs = [pair for pair in found if pair is not None]
    alone, p = [1.0] * len(means), [1.0] * len(means)
    for at, pair, adjusted in zip(others, pairs, holm([pair.p for pair in pairs]), strict=True):
        alone[at], p[at] = pair.p, adjusted
    needed = questions_needed(pairs[0].difference.mean, pairs[0].known_spread) if pairs else None
    shares = _best_share(better, seed, resamples).tolist()
    return Ties(
        best, means, alone, p, [each > SIGNIFICANCE for each in p], shares, len(table), needed
    )


def _best_share(better: ScoreMatrix, seed: int, resamples: int) -> NDArray[np.float64]:
    means = resampled_means(better, seed=seed, resamples=resamples, together=True)
    top = means == means.max(axis=1, keepdims=True)
    shares: NDArray[np.float64] = (top / top.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares
