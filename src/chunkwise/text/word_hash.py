"""Which of many positions stand beside a word of a list: looked up as 64-bit numbers, all positions at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import Characters, lower

_BASE = 1_000_003
_MASK = (1 << 64) - 1
_LONGEST = 12
_AT_ONCE = 1 << 15
"""Words read together: the arrays for millions of them would take gigabytes."""


def _powers() -> NDArray[np.uint64]:
    """By which number each character of a word is multiplied, a column for each length; behind its end by none."""
    powers = np.zeros((_LONGEST + 1, _LONGEST + 2), dtype=np.uint64)
    for length in range(_LONGEST + 2):
        powers[:length, length] = [pow(_BASE, after, 1 << 64) for after in reversed(range(length))]
    return powers


_POWERS = _powers()


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
    values = np.empty(len(positions), dtype=np.uint64)
    lengths = np.empty(len(positions), dtype=np.int64)
    for start in range(0, len(positions), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        where = positions[part] + step * np.arange(_LONGEST + 1)[:, None]
        points = characters.points.take(where, mode="clip")
        member = characters.kinds.take(where, mode="clip") & np.uint16(flags) != 0
        for char in also:
            member |= points == ord(char)
        member &= (where >= 0) & (where < len(characters.text))
        length = np.logical_and.accumulate(member).sum(axis=0)
        lengths[part] = length
        np.sum(lower(points) * _POWERS.take(length, axis=1), axis=0, out=values[part])
    return values, lengths


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
