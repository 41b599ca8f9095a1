"""Questions drawn again with replacement: the same draws for every column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from chunkwise.stats.table import Table, on_grid

RESAMPLES = 10_000
_CELLS = 1 << 21
"""Of a block of draws, 16 MB: a product of matrices waits for all its threads, so there are to be few."""


_FEW = 7
"""Rows of which so few different resamples can be drawn that most of thousands are the same."""


def resampled_means(values: Table, *, seed: int, resamples: int, together: bool = False) -> Table:
    """Resamples × columns; NaN where a resample has no scored question. There is at least one row."""
    draws = _draws(len(values), seed, resamples)
    return _means(values, draws, resamples, together)


def distinct_means(
    values: Table, *, seed: int, resamples: int
) -> tuple[Table, NDArray[np.int64] | None]:
    """The same, each different resample once and how often it was drawn; None: each once."""
    if len(values) > _FEW:
        return resampled_means(values, seed=seed, resamples=resamples), None
    drawn = np.concatenate(list(_draws(len(values), seed, resamples)))
    # A resample as one number, its counts the digits.
    code = drawn.astype(np.int64) @ (len(values) + 1) ** np.arange(len(values))
    _, first, times = np.unique(code, return_index=True, return_counts=True)
    return _means(values, [drawn[first]], len(first)), times


def _means(values: Table, draws: Iterable[Table], resamples: int, together: bool = False) -> Table:
    missing = np.isnan(values)
    gaps = missing.any(axis=0)
    known = on_grid(np.where(missing, 0.0, values), together=together)
    # One product gives the sums, and of columns with gaps the number of scored questions.
    columns = np.hstack([known, ~missing[:, gaps]])
    found = np.empty((resamples, columns.shape[1]))
    done = 0
    for drawn in draws:
        np.matmul(drawn, columns, out=found[done : done + len(drawn)])
        done += len(drawn)
    width = values.shape[1]
    scored = np.full((resamples, width), float(len(values)))
    scored[:, gaps] = found[:, width:]
    means = np.full((resamples, width), np.nan)
    np.divide(found[:, :width], scored, out=means, where=scored > 0)
    return means


def _draws(rows: int, seed: int, resamples: int) -> Iterator[Table]:
    """Blocks of resamples: how often each row is in it."""
    rng = np.random.default_rng(seed)
    block = max(1, min(resamples, _CELLS // rows))
    for done in range(0, resamples, block):
        some = min(block, resamples - done)
        drawn = rng.integers(0, rows, (some, rows))
        drawn += np.arange(some)[:, None] * rows
        counts = np.bincount(drawn.ravel(), minlength=some * rows)
        yield counts.reshape(some, rows).astype(np.float64)
