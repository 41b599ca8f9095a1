"""Tokens of a long text found a window at a time: one list of them all would take gigabytes and more time."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_WINDOW = 1 << 18
"""Bytes encoded together."""
_MARGIN = 32
"""Tokens at a window's end that may be others where the text goes on."""
_LOOK = 200
"""Tokens before the margin among which a place to part two windows is sought."""
_SEAM = re.compile(rb"(?<=[!-~])(?= )|(?<=[A-Za-z]{2}[a-z])(?=[A-Za-z])")
"""Where a piece of the text may be parted without a change on either side, if two tokens meet there."""

Encode = Callable[[bytes], NDArray[np.int64]]
"""The byte at which each token of a text starts."""


def token_starts(data: bytes, encode: Encode) -> NDArray[np.int64]:
    """What `encode` would return for the whole UTF-8 text."""
    found: list[NDArray[np.int64]] = []
    begin, end = 0, _character_start(data, _WINDOW)
    starts = encode(data[:end])
    while end < len(data):
        cut = _seam(data, begin, starts)
        middle = begin + int(starts[cut])
        end = _character_start(data, middle + _WINDOW) if cut else len(data)
        following = encode(data[middle:end])
        # Tokens of which every two neighbours would be cut as they are, by themselves, are the right ones.
        if cut and not _meet(data, begin + int(starts[cut - 1]), middle, following, encode):
            cut, middle, end = 0, begin, len(data)
            following = encode(data[middle:])
        starts += begin
        found.append(starts[:cut])
        begin, starts = middle, following
    starts += begin
    return np.concatenate((*found, starts))


def _character_start(data: bytes, position: int) -> int:
    """The position, or the start of the character it lies in."""
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position -= 1
    return min(position, len(data))


def _seam(data: bytes, begin: int, starts: NDArray[np.int64]) -> int:
    """Index of the last token before the margin that starts at a seam; 0 if none does."""
    last = len(starts) - _MARGIN
    for index in range(last, max(last - _LOOK, 0), -1):
        if _SEAM.match(data, begin + int(starts[index])):
            return index
    return 0


def _meet(
    data: bytes, start: int, middle: int, following: NDArray[np.int64], encode: Encode
) -> bool:
    """Whether the token before the middle and the first behind it are cut as they are when they stand alone."""
    if len(following) < 2:
        return False
    both = data[start : middle + int(following[1])]
    try:
        alone = encode(both)
    except UnicodeDecodeError:  # one of them is part of a character
        return False
    return alone.tolist() == [0, middle - start]
