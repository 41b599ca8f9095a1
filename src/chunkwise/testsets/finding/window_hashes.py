"""Hashes of any windows of a text, each a subtraction and a product: equal windows have equal hashes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_ROOT = 0x9E3779B97F4A7C15 | 3
_INVERSE = pow(_ROOT, -1, 1 << 64)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_TABLE_BITS = 18
_STEP = 1 << 18
"""Powers are made in this step, so that few tables of them serve all texts."""


class WindowHashes:
    """A polynomial modulo 2^64 over the points of a text, as prefix sums."""

    def __init__(self, points: NDArray[np.uint32]) -> None:
        letters = (points.astype(np.uint64) + np.uint64(1)) * _MIX
        letters ^= letters >> np.uint64(29)
        self._size = len(points)
        self._prefix = np.zeros(len(points) + 1, dtype=np.uint64)
        np.cumsum(letters * _powers(_ROOT, len(points)), out=self._prefix[1:])

    def all(self, length: int) -> NDArray[np.uint64]:
        """Of every window of one length, in their order."""
        count = max(0, self._size - length + 1)
        return (self._prefix[length : length + count] - self._prefix[:count]) * _powers(
            _INVERSE, count
        )

    def at(self, start: NDArray[np.int64], length: NDArray[np.int64] | int) -> NDArray[np.uint64]:
        """Of windows that lie wholly in the text."""
        inverse = _powers(_INVERSE, self._size + 1)
        return (self._prefix[start + length] - self._prefix[start]) * inverse[start]


class HashSet:
    """Looks up many hashes at once."""

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        """Of distinct keys in ascending order."""
        self.keys = keys
        self._table = np.zeros(1 << _TABLE_BITS, dtype=np.bool_)
        self._table[keys >> np.uint64(64 - _TABLE_BITS)] = True

    def find(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which hashes are keys, and which key each of those is."""
        # Nearly all fall through a table that fits a processor's cache; the others are searched for.
        at = np.flatnonzero(self._table[hashes >> np.uint64(64 - _TABLE_BITS)])
        key = self.keys.searchsorted(hashes[at])
        same = self.keys[np.minimum(key, len(self.keys) - 1)] == hashes[at]
        return at[same], key[same]


@lru_cache(maxsize=4)
def _all_powers(base: int, count: int) -> NDArray[np.uint64]:
    powers = np.full(count, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    return _all_powers(base, (count // _STEP + 1) * _STEP)[:count]
