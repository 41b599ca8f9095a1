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
# Tokens that follow each other within a piece stay the same whatever stands before and behind them,
# as long as the piece still starts or ends at one of them. So it does among letters, the last before
# the cut a small one (capitals may go with what follows them) and no contraction near; and among
# signs, if no letter follows at once that the first of them would be taken in with.
_SIGNS = r"!-&(-.:-@\[-`{-~"


def _within_pieces(signs: str) -> str:
    return rf"(?<=[A-Za-z]{{2}}[a-z])(?=[A-Za-z])|(?<=[{signs}])(?=[{signs}]{{2}})"


def _between(pattern: str) -> re.Pattern[bytes]:
    return re.compile(rf"(?<=[!-~])(?= )|{pattern}".encode())


SEAM = _within_pieces(_SIGNS)
"""Where a piece of the text may be parted without a change on either side, if two tokens meet there."""
_SEAM = _between(SEAM)
_SEAM_OF_ONE_LINE = _between(_within_pieces(_SIGNS + "/"))
"""The same where no line break is near: slashes behind one may belong to what stands before it."""

Encode = Callable[[bytes], NDArray[np.int32]]
"""How many bytes each token of a text has."""


def token_starts(data: bytes, encode: Encode) -> NDArray[np.int64]:
    """The byte at which each token of the whole UTF-8 text starts."""
    begin, end = 0, _character_start(data, _WINDOW)
    window = data[:end]
    lengths = encode(window)
    # As many places as there can be tokens: memory nobody writes to costs nothing, a copy of all would.
    starts = np.empty(len(data) if end < len(data) else len(lengths), dtype=np.int64)
    done = 0
    while end < len(data):
        _place(starts, done, begin, lengths)
        cut = _seam(data, window, starts, done, done + len(lengths))
        middle = int(starts[cut])
        end = _character_start(data, middle + _WINDOW) if cut > done else len(data)
        before, window = window, data[middle:end]
        # Megabytes of one sign are what the tokenizer reads slowest: no window is read twice in a row.
        following = lengths if window == before else encode(window)
        # Tokens of which every two neighbours would be cut as they are, by themselves, are the right ones.
        if cut > done and not _meet(data, int(starts[cut - 1]), middle, following, encode):
            cut, middle, end = done, begin, len(data)
            window = data[middle:]
            following = encode(window)
        done, begin, lengths = cut, middle, following
    _place(starts, done, begin, lengths)
    starts.resize(done + len(lengths), refcheck=False)
    return starts


def _place(starts: NDArray[np.int64], done: int, begin: int, lengths: NDArray[np.int32]) -> None:
    """Write down where the tokens of a window start, behind those written before."""
    if len(lengths):
        window = starts[done : done + len(lengths)]
        window[0] = 0
        np.cumsum(lengths[:-1], out=window[1:])
        window += begin


def _character_start(data: bytes, position: int) -> int:
    """The position, or the start of the character it lies in."""
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position -= 1
    return min(position, len(data))


def _seam(data: bytes, window: bytes, starts: NDArray[np.int64], done: int, end: int) -> int:
    """The last token of a window before the margin that starts at a seam; `done` if none behind it does."""
    seam = _SEAM if b"\n" in window or b"\r" in window else _SEAM_OF_ONE_LINE
    last = end - _MARGIN
    for index in range(last, max(last - _LOOK, done), -1):
        if seam.match(data, int(starts[index])):
            return index
    return done


def _meet(
    data: bytes, start: int, middle: int, following: NDArray[np.int32], encode: Encode
) -> bool:
    """Whether the token before the middle and the first behind it are cut as they are when they stand alone."""
    if len(following) < 2:
        return False
    before, behind = middle - start, int(following[0])
    try:
        alone = encode(data[start : middle + behind])
    except UnicodeDecodeError:  # one of them is part of a character
        return False
    return alone.tolist() == [before, behind]
