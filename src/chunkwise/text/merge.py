"""Sorted arrays put together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def merged(*arrays: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every value of some sorted arrays once, sorted: the stable sort merges runs in linear time."""
    values = np.sort(np.concatenate(arrays), kind="stable")
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = values[1:] != values[:-1]
    return values[new]
