"""Where Thai sentences start: a space alone parts them, and parts much else."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import CLOSER, SPACE, Characters

_FIRST, _LAST = 0x0E01, 0x0E5B
_GOES_ON = "ๆ ฯ และ หรือ ซึ่ง ได้แก่ คือ เป็น เช่น เพื่อ โดย กับ ของ ที่ ว่า".split()
"""And, or, which, namely, is, such as, for, by, with, of, that: no sentence starts with them."""
_BEGINS = (
    "เช่นเดียว เพื่อน โดยทั่วไป โดยสรุป กับข้าว กับดัก ของขวัญ ของกิน ของเล่น ของใช้"
    " ที่ประชุม ที่ผ่านมา ที่สำคัญ ที่นี่ ที่นั่น ว่าง ว่าย ว่าว"
).split()
"""Words that begin with one of those and are none."""
_NEVER_LAST = "นาย นาง นางสาว คุณ และ หรือ ได้แก่ คือ เช่น".split()
"""Mr, Mrs, Miss, and, or, namely, such as: what they announce follows."""
_AGAIN = "ๆ"
"""Repeats the word before it, and has a space on both sides wherever it stands."""


def thai_starts(characters: Characters) -> NDArray[np.int64]:
    """Behind spaces, unless the word before or behind says that the sentence goes on."""
    if characters.text.isascii():
        return np.zeros(0, dtype=np.int64)
    points = characters.points
    thai = (points >= _FIRST) & (points <= _LAST)
    if not thai.any():
        return np.zeros(0, dtype=np.int64)
    last = thai[:-1].copy()
    last[1:] |= characters.are(CLOSER)[1:-1] & thai[:-2]
    ends = np.flatnonzero(last & characters.are(SPACE)[1:]) + 1
    start = characters.next_solid(ends)
    parts = thai.take(start, mode="clip") & (start < len(points))
    ends, start = ends[parts], start[parts]
    apart = ~_stand_at(points, start, _GOES_ON) | _stand_at(points, start, _BEGINS)
    apart &= points[ends - 1] != ord(_AGAIN)
    for word in _NEVER_LAST:
        before = ends - len(word)
        whole = (before == 0) | ~thai.take(before - 1, mode="clip")
        apart &= ~(whole & _stand_at(points, before, [word]))
    return start[apart]


def _stand_at(
    points: NDArray[np.uint32], places: NDArray[np.int64], words: Iterable[str]
) -> NDArray[np.bool_]:
    """Whether one of the words stands at each place."""
    found = np.zeros(len(places), dtype=np.bool_)
    for word in words:
        left = np.flatnonzero((places >= 0) & (places + len(word) <= len(points)))
        for offset, letter in enumerate(word):
            left = left[points[places[left] + offset] == ord(letter)]
        found[left] = True
    return found
