"""Every size votes for the atoms its best windows cover, wherever the windows were found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.fusion import scaled
from chunkwise.retrieval.multiscale.windows import spread


class Voice(NamedTuple):
    """The best windows of one size by one signal (words or vectors), best first."""

    first: NDArray[np.int64]
    """Number of each window's first atom."""
    behind: NDArray[np.int64]
    """The number behind its last."""
    score: NDArray[np.float32]
    weight: float = 1.0
    floor: float | None = None
    """The score that is worth nothing: 0 for words; None, for vectors: that of the last window here."""


def votes(voices: Iterable[Voice], atoms: int) -> NDArray[np.float64]:
    """For each atom the sum over the voices of its best window's share of the best score, times the weight."""
    total = np.zeros(atoms)
    for voice in voices:
        points = voice.weight * scaled(voice.score, voice.floor)
        total += spread(voice.first, voice.behind, points, atoms)
    return total
