"""Where Thai sentences start: a space alone parts them, and parts much else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import CLOSER, NEWLINE, SPACE, Characters

_FIRST, _LAST = 0x0E01, 0x0E5B
_GOES_ON = "ๆ ฯลฯ และ หรือ ซึ่ง ได้แก่ คือ เป็น เช่น เพื่อ โดย กับ ของ ที่".split()
"""And so on, and, or, which, namely, is, such as, for, by, with, of, that: sentences rarely start with them."""
_BEGINS = (
    "เช่นเดียว เพื่อน โดยทั่วไป โดยสรุป โดยสาร กับข้าว กับดัก กับระเบิด เป็นไปได้"
    " ของขวัญ ของกิน ของเล่น ของใช้ ของหวาน ของฝาก ของเสีย"
    " ที่ประชุม ที่ผ่านมา ที่สำคัญ ที่นี่ ที่นั่น ที่ดิน ที่ปรึกษา ที่จริง ที่อยู่ ที่มา"
).split()
"""Words that begin with the letters of those and may start a sentence."""
_NEVER_LAST = "นาย นาง นางสาว คุณ ฯพณฯ และ หรือ ได้แก่ คือ เช่น".split()
"""Mr, Mrs, Miss, Khun, His Excellency, and, or, namely, such as: what they announce follows."""
_AGAIN = "ๆ"
"""Repeats the word before it, and has a space on both sides wherever it stands."""


def thai_starts(characters: Characters) -> NDArray[np.int64]:
    """Behind spaces, unless the word before or behind on the same line says that the sentence goes on."""
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
    goes_on = points[ends - 1] == ord(_AGAIN)
    goes_on |= _begin(points, start, _GOES_ON) & ~_begin(points, start, _BEGINS)
    goes_on |= _end(points, thai, ends, _NEVER_LAST)
    breaks = np.flatnonzero(characters.are(NEWLINE))
    goes_on &= breaks.searchsorted(ends) == breaks.searchsorted(start)
    return start[~goes_on]


def _begin(
    points: NDArray[np.uint32], places: NDArray[np.int64], words: Sequence[str]
) -> NDArray[np.bool_]:
    """Whether what starts at each place starts with one of the words."""
    found = np.zeros(len(places), dtype=np.bool_)
    may = np.flatnonzero(np.isin(points[places], [ord(word[0]) for word in words]))
    for word in words:
        left = may[places[may] + len(word) <= len(points)]
        for offset, letter in enumerate(word):
            left = left[points[places[left] + offset] == ord(letter)]
        found[left] = True
    return found


def _end(
    points: NDArray[np.uint32],
    thai: NDArray[np.bool_],
    places: NDArray[np.int64],
    words: Sequence[str],
) -> NDArray[np.bool_]:
    """Whether what ends at each place is one of the words and nothing more."""
    found = np.zeros(len(places), dtype=np.bool_)
    may = np.flatnonzero(np.isin(points[places - 1], [ord(word[-1]) for word in words]))
    for word in words:
        left = may[places[may] >= len(word)]
        before = places[left] - len(word)
        left = left[(before == 0) | ~thai[before - 1]]
        for offset, letter in enumerate(word, -len(word)):
            left = left[points[places[left] + offset] == ord(letter)]
        found[left] = True
    return found
