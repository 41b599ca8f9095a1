"""Values of many questions by many columns, checked, and put where sums of them are exact."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.base.errors import InvalidParameter

ScoreMatrix = NDArray[np.float64]
"""Questions × columns; NaN: unscored."""

_LARGEST = 1e300
"""Beyond it the sum of a table could be no number any more."""
_BITS = 52


def checked_scores(values: ArrayLike) -> ScoreMatrix:
    """As floats with a column each; NaN stands for unscored, infinity for nothing."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise InvalidParameter(
            f"scores have {table.ndim} dimensions; wanted are two, questions and metrics"
        )
    wrong = np.abs(table) > _LARGEST
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise InvalidParameter(
            f"score {row} of column {column} is {table[row, column]}; "
            "a score is a finite number, an unscored question has NaN"
        )
    return table


def mean(values: NDArray[np.float64]) -> float:
    """Of at least one value, whatever order they come in; equal values are their own mean."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low
    return min(max(math.fsum(values.tolist()) / len(values), low), high)


def spread(values: NDArray[np.float64]) -> float:
    """Standard deviation of a sample, whatever order it comes in; 0 of fewer than two values."""
    if len(values) < 2:
        return 0.0
    squares = (values - mean(values)) ** 2
    return math.sqrt(math.fsum(squares.tolist()) / (len(values) - 1))


def on_grid(values: ScoreMatrix, *, together: bool = False) -> ScoreMatrix:
    """Rounded to multiples of a power of two, such that no sum of as many values is rounded any more.

    A product of matrices then gives the same bits on every machine and with any number of threads, and equal sums are
    equal. The step is under 1e-12 of the column's largest value (`together`: of the table's) for a thousand rows.
    """
    most = np.abs(values).max(axis=None if together else 0, keepdims=True) * len(values)
    shift = _BITS - np.frexp(most)[1]
    rounded: ScoreMatrix = np.ldexp(np.rint(np.ldexp(values, shift)), -shift)
    return rounded
