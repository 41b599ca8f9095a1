"""Sums of vectors as small integers: a quarter of the room, and near enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST = 127


def small(sums: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Each row as whole numbers up to 127 and the factor that makes them large again."""
    scale = np.abs(sums).max(axis=1, initial=0.0) / np.float32(_MOST)
    rows = np.rint(sums / np.where(scale > 0, scale, 1)[:, None])
    return rows.astype(np.int8), scale.astype(np.float32)
