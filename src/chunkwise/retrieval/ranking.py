"""Numbered things with scores, best first; ties break by number, so results never depend on luck."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Ranking(NamedTuple):
    """Chunk numbers and scores, best first."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float32]


def best(scores: NDArray[np.float32], depth: int) -> Ranking:
    """The `depth` highest of one question's scores; those of -inf are left out."""
    depth = min(depth, len(scores))
    if not depth:
        return Ranking(np.empty(0, np.int64), np.empty(0, np.float32))
    # All that tie with the last one in are looked at, so that the lower numbers stay.
    least = np.partition(scores, len(scores) - depth)[len(scores) - depth]
    numbers = np.flatnonzero(scores >= least)
    numbers = numbers[np.isfinite(scores[numbers])]
    order = np.lexsort((numbers, -scores[numbers]))[:depth]
    numbers = numbers[order].astype(np.int64)
    return Ranking(numbers, scores[numbers].astype(np.float32))
