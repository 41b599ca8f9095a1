"""Which of many positions stand beside a word of a list: looked up as 64-bit numbers, all positions at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import Characters, lower

_BASE = 1_000_003
_MASK = (1 << 64) - 1
_LONGEST = 12


def hash_words(words: Iterable[str], *, backwards: bool) -> NDArray[np.uint64]:
    """The hashes of lower-case words, sorted; backwards as `hash_beside` reads to the left."""
    hashes = []
    for word in words:
        value = 0
        for char in reversed(word) if backwards else word:
            value = (value * _BASE + ord(char)) & _MASK
        hashes.append(value)
    return np.unique(np.array(hashes, dtype=np.uint64))


def hash_beside(
    characters: Characters, positions: NDArray[np.int64], flags: int, also: str, step: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hash and length of the word at each position, read one way over characters of some kinds.

    A word longer than any listed gets a length beyond the longest and a hash that matches nothing.
    """
    size = len(characters.text)
    value = np.zeros(len(positions), dtype=np.uint64)
    length = np.zeros(len(positions), dtype=np.int64)
    alive = np.arange(len(positions))
    where, hashed = positions, value
    extra = [ord(char) for char in also]
    for read in range(1, _LONGEST + 2):
        points = characters.points.take(where, mode="clip")
        member = (characters.kinds.take(where, mode="clip") & np.uint16(flags)) != 0
        for point in extra:
            member |= points == point
        member &= (where >= 0) & (where < size)
        alive, where = alive[member], where[member] + step
        if not len(alive):
            break
        hashed = hashed[member] * np.uint64(_BASE) + lower(points[member])
        value[alive], length[alive] = hashed, read
    return value, length


def hash_endings(
    characters: Characters, positions: NDArray[np.int64], size: int
) -> NDArray[np.uint64]:
    """Hash of as many characters up to each position, read backwards; what precedes the text is its first."""
    where = positions - np.arange(size)[:, None]
    value = np.zeros(len(positions), dtype=np.uint64)
    for letters in lower(characters.points.take(where, mode="clip")):
        value = value * np.uint64(_BASE) + letters
    return value


def listed(values: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether each hash is in the sorted list."""
    index = np.minimum(hashes.searchsorted(values), len(hashes) - 1)
    return hashes[index] == values
