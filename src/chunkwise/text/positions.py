"""Sorted positions of a text: several lists merged, one taken out of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def merge_sorted(*arrays: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every value of some sorted arrays once, sorted: the stable sort merges runs in linear time."""
    values = np.sort(np.concatenate(arrays), kind="stable")
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = values[1:] != values[:-1]
    return values[new]


def without(values: NDArray[np.int64], removed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of sorted positions, each there once, those that are not among the others, whatever order these are in."""
    at = values.searchsorted(removed)
    at = at[values.take(at, mode="clip") == removed] if len(values) else at[:0]
    if not len(at):
        return values
    kept = np.ones(len(values), dtype=np.bool_)
    kept[at] = False
    return values[kept]
