"""Runs on the same questions: how large a difference is, whether chance would make one as large, and who is tied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.intervals import RESAMPLES, Interval, intervals, resampled_means
from chunkwise.stats.power import questions_needed
from chunkwise.stats.table import ScoreMatrix, checked_scores, mean, on_grid, spread

_DRAWS = 2_000
"""The share found is then off by a few per cent, however small it is."""
_CELLS = 1 << 21
_STEPS = 60


def rare_shares(own: ScoreMatrix, bounds: Sequence[float], *, seed: int) -> list[float]:
    """Of all assignments of signs to a column's values, those whose sum is as far from 0 as its bound; never 0.

    Signs are drawn such that their sum is at the bound on average (exponential tilting), and every draw that reaches
    it counts as often as it would come up among even ones. Thus 1e-30 is told as well as 0.001.
    """
    sizes = np.abs(own)
    leaning = [_leaning(column, bound) for column, bound in zip(sizes.T, bounds, strict=True)]
    found = np.zeros(len(leaning))
    # Another stream than those of the bootstrap and of even signs of the same seed.
    rng = np.random.default_rng([seed, 2])
    block = max(1, _CELLS // len(own))
    for done in range(0, _DRAWS, block):
        drawn = rng.random((min(block, _DRAWS - done), len(own)))
        for at, lean in enumerate(leaning):
            if lean is not None:
                found[at] += _counted(drawn, sizes[:, at], bounds[at], lean)
    return [
        _all_alike(column) if lean is None else _rounded(2.0 * total / _DRAWS, column)
        for column, lean, total in zip(sizes.T, leaning, found.tolist(), strict=True)
    ]


def _leaning(sizes: NDArray[np.float64], bound: float) -> float | None:
    """The lean at which the sum is at the bound on average; None: only all signs alike reach it."""
    own = sizes[sizes > 0]
    if bound > own.sum() - 2 * own.min():
        return None
    low, high = 0.0, 1.0 / float(own.max())
    while _on_average(own, high) < bound:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _on_average(own, middle) < bound else (low, middle)
    return (low + high) / 2


def _on_average(sizes: NDArray[np.float64], lean: float) -> float:
    return float((sizes * np.tanh(lean * sizes)).sum())


def _counted(drawn: ScoreMatrix, sizes: NDArray[np.float64], bound: float, lean: float) -> float:
    up = drawn < 1.0 / (1.0 + np.exp(-2.0 * lean * sizes))
    sums = 2.0 * (up.astype(np.float64) @ sizes) - sizes.sum()
    reached = sums[sums >= bound]
    # log cosh, also where cosh is beyond any number.
    even = (lean * sizes + np.log1p(np.exp(-2.0 * lean * sizes)) - math.log(2)).sum()
    return math.fsum(np.exp(even - lean * reached).tolist())


def _all_alike(sizes: NDArray[np.float64]) -> float:
    """Two of all assignments; of more than a thousand pairs the smallest number there is."""
    return max(2.0 ** (1 - int((sizes > 0).sum())), float(np.finfo(np.float64).tiny))


def _rounded(share: float, sizes: NDArray[np.float64]) -> float:
    """Digits that another machine's exponential function may change are left out."""
    return min(1.0, max(float(f"{share:.6g}"), _all_alike(sizes)))


EXACT = 15
"""Up to so many pairs that differ every assignment of signs is looked at."""
_FEW = 50
"""Draws as far as what was seen. A share told by fewer is off by more than a seventh, and the least that even draws
can tell would be no difference after the correction for some hundred tests."""


def p_values(differences: ScoreMatrix, *, seed: int, resamples: int) -> list[float]:
    """Two-sided, one a column; NaN is no pair. Never 0: what was seen is one of the assignments."""
    table = np.where(np.isnan(differences), 0.0, differences)
    nonzero = (table != 0).sum(axis=0)
    found = [
        _exact(column[column != 0]) if count <= EXACT else 0.0
        for column, count in zip(table.T, nonzero.tolist(), strict=True)
    ]
    many = np.flatnonzero(nonzero > EXACT)
    if len(many):
        drawn = _drawn(table[:, many], seed, resamples)
        for at, p in zip(many.tolist(), drawn.tolist(), strict=True):
            found[at] = p
    return found


def _exact(values: NDArray[np.float64]) -> float:
    """The share of all assignments whose sum is as far from 0 as the one seen."""
    if not len(values):
        return 1.0
    own = on_grid(values[:, None])
    # A sum and its mirror image are equally far: the first sign can stay.
    numbers = np.arange(1 << (len(values) - 1))[:, None]
    signs = 1.0 - 2.0 * ((numbers >> np.arange(len(values))) & 1)
    sums = np.abs(signs @ own)
    return float((sums >= _as_far(own)).mean())


def _drawn(table: ScoreMatrix, seed: int, resamples: int) -> NDArray[np.float64]:
    # Another stream than that of the bootstrap of the same seed.
    rng = np.random.default_rng([seed, 1])
    own = on_grid(table)
    total, bound = own.sum(axis=0), _as_far(own)
    rows = len(own)
    block = max(1, min(resamples, _CELLS // rows))
    count = np.zeros(own.shape[1])
    for done in range(0, resamples, block):
        some = min(block, resamples - done)
        bits = np.frombuffer(rng.bytes(-(-some * rows // 8)), dtype=np.uint8)
        up = np.unpackbits(bits, count=some * rows).reshape(some, rows).astype(np.float64)
        count += (np.abs(2.0 * (up @ own) - total) >= bound).sum(axis=0)
    shares: NDArray[np.float64] = (1.0 + count) / (1.0 + resamples)
    few = np.flatnonzero(count < _FEW)
    if len(few):
        shares[few] = rare_shares(own[:, few], bound[few].tolist(), seed=seed)
    return shares


def _as_far(own: ScoreMatrix) -> NDArray[np.float64]:
    """What a sum must reach; sums that differ by less than the rounding of their values are the same."""
    rounding = np.abs(own).max(axis=0) * len(own) ** 2 * 2.0**-51
    least: NDArray[np.float64] = np.abs(own.sum(axis=0)) - rounding
    return least


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
