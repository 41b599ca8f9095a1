"""Sums of token vectors in four bits a number: an eighth of the room, and a search finds the same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from random import Random

import numpy as np
from numpy.typing import NDArray

_MOST = 7
_ALL = slice(None)


@dataclass(frozen=True, slots=True, eq=False)
class QuantizedVectors:
    """The numbers of row `i`, times `scale[i]`, are about those of the vector `i` once it is `turned`."""

    packed: NDArray[np.uint8]
    """Two numbers a byte: those of a row's first half in the low bits, those of its second in the high ones."""
    scale: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: NDArray[np.float32]) -> QuantizedVectors:
        rows = rotated(vectors)
        scale = (np.abs(rows).max(axis=1, initial=0.0) / _MOST).astype(np.float32)
        rows /= np.where(scale > 0, scale, 1)[:, None]
        # The factor has fewer digits than the rows: the largest number may come out a little larger than it may be.
        low, high = np.hsplit(np.rint(rows).clip(-_MOST, _MOST).astype(np.int8), 2)
        return cls(((low & 15) | (high << 4)).view(np.uint8), scale)

    def __len__(self) -> int:
        return len(self.scale)

    def halves(
        self, rows: slice = _ALL, columns: slice = _ALL
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """The numbers of the first and of the second half of these rows; columns are counted within a half."""
        packed = self.packed[rows, columns].view(np.int8)
        return packed << 4 >> 4, packed >> 4

    def turned(self, rows: slice) -> NDArray[np.float32]:
        """About the vectors, turned: angles between them are as they were."""
        return np.hstack(self.halves(rows)) * self.scale[rows, None]


def packed_width(dimensions: int) -> int:
    """Bytes a row."""
    return (dimensions + 1) // 2


def rotated(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The same vectors looked at from elsewhere, an even number of dimensions: products of two stay as they are.

    Some models have a dimension or two that dwarf all others, which few bits would round to nothing. After the turn
    every number is a sum over all dimensions, and none stands out.
    """
    return vectors.astype(np.float64) @ _rotation(vectors.shape[1])


@lru_cache(maxsize=4)
def _rotation(dimensions: int) -> NDArray[np.float64]:
    """Rows of length 1, each at right angles to all others: cosines, half of them by chance the other way round."""
    even = 2 * packed_width(dimensions)
    across, down = np.meshgrid(np.arange(even), np.arange(dimensions))
    waves = np.cos(math.pi / even * (down + 0.5) * across) * math.sqrt(2 / even)
    waves[:, :1] /= math.sqrt(2)
    chance = Random(dimensions)
    signs = [chance.random() < 0.5 for _ in range(dimensions)]
    return np.where(np.array(signs, np.bool_)[:, None], -waves, waves)
