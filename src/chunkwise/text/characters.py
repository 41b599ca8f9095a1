"""A text as arrays: its code points and, for each, what kind of character it is."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property, lru_cache

import numpy as np
import regex
from numpy.typing import NDArray

SPACE = 1
LETTER = 2
LOWER = 4
UPPER = 8
DIGIT = 16
FULL_STOP = 32
ENDER = 64
"""Ends a sentence where white space follows: ! ? the Greek question mark and the ellipsis."""
FINAL = 128
"""Ends a sentence wherever it stands: the full stops of scripts that write without spaces, the danda …"""
CLOSER = 256
"""Belongs to the sentence it follows: closing quotes and brackets."""
OPENER = 512
MARK = 1024
"""Joins what stands before it in one grapheme cluster, unless that is a control character."""
JOINER = 8192
"""May join what follows it: emoji joiners, jamo, signs before a number; settled by `clusters`."""
IDEOGRAPH = 2048
"""Is a word by itself: Han, kana."""
NEWLINE = 4096
SEMICOLON = 16384
"""Ends a sentence behind a Greek letter, as a question mark does elsewhere."""
_KNOWN = 1 << 15
_SHORT_GAP = 6
"""White space behind most words and before most lines: passed a step at a time, all positions at once."""
_FEW = 1000
"""So few longer gaps are searched one by one; for more it pays to find all that is solid."""

_FINAL = frozenset("。！？｡।॥؟۔։።፧፨។៕။᠃᠉꘎꘏꛳꛷꡶꡷⳹⳺⳻")
_ENDER = frozenset("!?…‼‽⁇⁈⁉\u037e")
_CLOSER = frozenset("\"'”’»›)]}」』）】》〉］｝＂＇*_“«‹")
_OPENER = frozenset("\"'“‘„«‹([{「『（【《〈［｛¿¡*_‚")
_NEWLINE = frozenset("\n\r\v\f\x85\u2028\u2029")
_JOINERS = regex.compile(
    r"[\p{GCB=ZWJ}\p{GCB=Prepend}\p{GCB=L}\p{GCB=V}\p{GCB=T}\u1cf5\u1cf6\U00011a3a]"
)
_MARKS = regex.compile(r"[\p{GCB=Extend}\p{GCB=SpacingMark}]")
_SOLID = re.compile(r"\S")
SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a surrogate pair: text Python can hold and no encoder takes."""
_IDEOGRAPH = regex.compile(r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]")

# Filled as characters are met: asking Unicode about all 1.1 million takes longer than most documents.
_table: NDArray[np.uint16] = np.zeros(0x110000, dtype=np.uint16)
_lower: NDArray[np.uint32] = np.zeros(0x110000, dtype=np.uint32)


def _classify(point: int) -> int:
    char = chr(point)
    category = unicodedata.category(char)
    kind = _KNOWN
    if char.isspace():
        kind |= SPACE
    if category[0] == "L":
        kind |= LETTER
        if category in ("Lu", "Lt"):
            kind |= UPPER
        elif category == "Ll":
            kind |= LOWER
    elif category[0] == "N":
        kind |= DIGIT
    for flag, members in (
        (FINAL, _FINAL), (ENDER, _ENDER), (CLOSER, _CLOSER), (OPENER, _OPENER), (NEWLINE, _NEWLINE),
    ):  # fmt: skip
        if char in members:
            kind |= flag
    if char == ".":
        kind |= FULL_STOP
    if char == ";":
        kind |= SEMICOLON
    if point > 0x7F:
        if _JOINERS.match(char):
            kind |= JOINER
        elif _MARKS.match(char):
            kind |= MARK
        if _IDEOGRAPH.match(char):
            kind |= IDEOGRAPH
    return kind


def kind_of(char: str) -> int:
    """The kinds of one character."""
    point = ord(char)
    if not _table[point]:
        _learn([point])
    return int(_table[point])


def distinct(points: NDArray[np.uint32]) -> list[int]:
    """Each code point once, in order."""
    met = np.zeros(0x110000, dtype=np.bool_)  # marks are set quicker than millions are sorted
    met[points] = True
    return met.nonzero()[0].tolist()


def _learn(points: list[int]) -> None:
    for point in points:
        _table[point] = _classify(point)
        _lower[point] = ord(chr(point).lower()[0])


def kinds_of(points: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """The kinds of each of many characters."""
    kinds = _table.take(points)
    if not kinds.all():
        _learn(distinct(points[kinds == 0]))
        kinds = _table.take(points)
    return kinds


@lru_cache(maxsize=1)
def _pairs() -> NDArray[np.uint32]:
    """The kinds of two ASCII characters for the number that their bytes are: half as many to look up."""
    kinds = kinds_of(np.arange(128, dtype=np.uint32))
    pairs = np.zeros((256, 256, 2), dtype=np.uint16)
    pairs[:128, :128, 0], pairs[:128, :128, 1] = kinds, kinds[:, None]
    return pairs.view(np.uint32).ravel()


def lower(points: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Small letters for capitals; of characters whose kinds were asked for."""
    return _lower.take(points)


def one_of(values: NDArray[np.uint32], characters: str) -> NDArray[np.bool_]:
    """Whether each code point is one of these few characters: `np.isin` takes ten times as long."""
    found = values == ord(characters[0])
    for char in characters[1:]:
        found |= values == ord(char)
    return found


class CharacterArrays:
    """Code points and their kinds, one array element a character."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def points(self) -> NDArray[np.uint32]:
        return np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)

    @cached_property
    def kinds(self) -> NDArray[np.uint16]:
        if not self.text.isascii():
            return kinds_of(self.points)
        pairs = np.frombuffer(f"{self.text} "[: len(self.text) + 1 & ~1].encode(), dtype=np.uint16)
        return _pairs().take(pairs).view(np.uint16)[: len(self.text)]

    @property
    def solid(self) -> NDArray[np.int64]:
        """Positions of all characters that are no white space."""
        return self._solid_or_end[:-1]

    def next_solid(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first character at or after each position that is no white space; the text's length if none."""
        if not self.text:
            return np.zeros_like(positions)
        found = positions.copy()
        left = np.arange(len(found))
        for _ in range(_SHORT_GAP):
            left = left[self.have(found[left], SPACE)]
            if not len(left):
                return found
            found[left] += 1
        if len(left) > _FEW:
            found[left] = self._solid_or_end[self.solid.searchsorted(found[left])]
            return found
        low = high = -1
        for index in left.tolist():
            if not low <= found[index] <= high:  # else a gap that was searched already
                low = int(found[index])
                match = _SOLID.search(self.text, low)
                high = match.start() if match else len(self.text)
            found[index] = high
        return found

    def have(self, positions: NDArray[np.int64], flags: int) -> NDArray[np.bool_]:
        """Whether the character at each position has any of these kinds; behind the text none has."""
        kinds = self.kinds.take(positions, mode="clip")
        return (kinds & np.uint16(flags) != 0) & (positions < len(self.text))

    @cached_property
    def _solid_or_end(self) -> NDArray[np.int64]:
        return np.append(np.flatnonzero(~self.are(SPACE)), len(self.text))

    def are(self, flags: int) -> NDArray[np.bool_]:
        """Whether each character has any of these kinds."""
        return (self.kinds & np.uint16(flags)) != 0

    @cached_property
    def word_starts(self) -> NDArray[np.int64]:
        """Where words start: runs without white space, each Han or kana character by itself."""
        space, alone = self.are(SPACE), self.are(IDEOGRAPH)
        starts = ~space
        starts[1:] &= space[:-1] | alone[1:] | alone[:-1]
        return np.flatnonzero(starts)
