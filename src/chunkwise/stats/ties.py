"""Several runs on the same questions: which is best, and which cannot be told from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.stats.detectable import questions_needed
from chunkwise.stats.holm import holm
from chunkwise.stats.paired import compare_all
from chunkwise.stats.resamples import RESAMPLES, resampled_means
from chunkwise.stats.table import Table, checked, mean

LEVEL = 0.05


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
    table = checked(scores)
    table = table[~np.isnan(table).any(axis=1)]
    if not table.size:
        return None
    # Adding 0 keeps a mean of 0 from being shown as -0.
    better = -table + 0.0 if lower_is_better else table
    means = [mean(column) for column in table.T]
    ranked = sorted(range(len(means)), key=lambda at: -mean(better[:, at]))
    best, others = ranked[0], ranked[1:]
    found = compare_all(
        np.repeat(table[:, [best]], len(others), axis=1), table[:, others], seed=seed, resamples=resamples
    )  # fmt: skip
    pairs = [pair for pair in found if pair is not None]
    alone, p = [1.0] * len(means), [1.0] * len(means)
    for at, pair, adjusted in zip(others, pairs, holm([pair.p for pair in pairs]), strict=True):
        alone[at], p[at] = pair.p, adjusted
    needed = questions_needed(pairs[0].difference.mean, pairs[0].known_spread) if pairs else None
    shares = _best_share(better, seed, resamples).tolist()
    return Ties(best, means, alone, p, [each > LEVEL for each in p], shares, len(table), needed)


def _best_share(better: Table, seed: int, resamples: int) -> NDArray[np.float64]:
    means = resampled_means(better, seed=seed, resamples=resamples, together=True)
    top = means == means.max(axis=1, keepdims=True)
    shares: NDArray[np.float64] = (top / top.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares
