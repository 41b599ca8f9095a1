"""64-bit fingerprints of many spans of one text at once, blind to white space."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import Characters

_ROOT = 0x9E3779B97F4A7C15 | 3
_INVERSE = pow(_ROOT, -1, 1 << 64)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_MIX_AGAIN = np.uint64(0x94D049BB133111EB)


def fingerprints(characters: Characters, spans: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Equal for spans with the same characters in the same order; different ones collide by accident only."""
    if not len(spans):
        return np.zeros(0, dtype=np.uint64)
    solid = characters.solid
    letters = _scattered(characters.points[solid].astype(np.uint64))
    # A polynomial modulo 2^64: prefix sums make every span's value a subtraction and a product.
    prefix = np.zeros(len(solid) + 1, dtype=np.uint64)
    np.cumsum(letters * _powers(_ROOT, len(solid)), out=prefix[1:])
    first, last = solid.searchsorted(spans[:, 0]), solid.searchsorted(spans[:, 1])
    values = (prefix[last] - prefix[first]) * _powers(_INVERSE, len(solid) + 1)[first]
    return _scattered(values + (last - first).astype(np.uint64))


@lru_cache(maxsize=8)
def _all_powers(base: int, count: int) -> NDArray[np.uint64]:
    powers = np.full(count, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    # Sizes in steps of four: nearly all documents find their powers made already.
    made = max(1 << 14, 4 ** math.ceil(math.log(max(count, 1), 4)))
    return _all_powers(base, made)[:count]


def _scattered(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finishing steps of splitmix64: neighbours end up far apart."""
    values = (values ^ (values >> np.uint64(30))) * _MIX
    values = (values ^ (values >> np.uint64(27))) * _MIX_AGAIN
    return values ^ (values >> np.uint64(31))
