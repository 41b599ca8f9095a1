"""A text as arrays: its code points and, for each, what kind of character it is."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

Points = NDArray[np.unsignedinteger[Any]]
"""Code points, in whatever width holds them."""

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
_KNOWN = 1 << 14
_SHORT_GAP = 6
"""White space behind most words and before most lines: passed a step at a time, all positions at once."""
_FEW = 1000
"""So few longer gaps are searched one by one; for more it pays to find all of them."""
_FEW_OF = 64
"""One of so many characters is looked up by itself; for more it pays to look all of them up."""
_LARGE = 1 << 24
"""Characters of a text from which on their kinds are looked up each time: keeping them takes two bytes a character."""
_BLOCK = 1 << 17
"""Characters looked up together: what is made on the way stays small."""

FINALS = "。！？｡।॥؟۔։።፧፨។៕။᠃᠉꘎꘏꛳꛷꡶꡷⳹⳺⳻"
ENDERS = "!?…‼‽⁇⁈⁉\u037e"
_CLOSER = frozenset("\"'”’»›)]}」』）】》〉］｝＂＇*_“«‹")
_OPENER = frozenset("\"'“‘„«‹([{「『（【《〈［｛¿¡*_‚")
NEWLINES = "\n\r\v\f\x85\u2028\u2029"
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
        (FINAL, FINALS), (ENDER, ENDERS), (CLOSER, _CLOSER), (OPENER, _OPENER), (NEWLINE, NEWLINES),
    ):  # fmt: skip
        if char in members:
            kind |= flag
    if char == ".":
        kind |= FULL_STOP
    if point > 0x7F:
        if _JOINERS.match(char):
            kind |= JOINER
        elif _MARKS.match(char):
            kind |= MARK
        if _IDEOGRAPH.match(char):
            kind |= IDEOGRAPH
    return kind


@cache
def kind_of(char: str) -> int:
    """The kinds of one character."""
    point = ord(char)
    if not _table[point]:
        _learn([point])
    return int(_table[point])


def distinct(points: Points) -> list[int]:
    """Each code point once, in order."""
    # Marks are set quicker than millions are sorted.
    met = np.zeros(int(points.max(initial=0)) + 1, dtype=np.bool_)
    met[points] = True
    return met.nonzero()[0].tolist()


def _learn(points: list[int]) -> None:
    for point in points:
        _table[point] = _classify(point)


def kinds_of(points: Points) -> NDArray[np.uint16]:
    """The kinds of each of many characters."""
    kinds = _table.take(points)
    if not kinds.all():
        _learn(distinct(points[kinds == 0]))
        kinds = _table.take(points)
    return kinds


@cache
def _latin_kinds() -> NDArray[np.uint16]:
    """The kinds of each character of one byte."""
    return kinds_of(np.arange(256, dtype=np.uint8))


@cache
def _latin_flags(flags: int) -> NDArray[np.bool_]:
    """For each character of one byte whether it has any of these kinds."""
    return _latin_kinds() & np.uint16(flags) != 0


@cache
def _bytes_with(flags: int) -> bytes:
    return _latin_flags(flags).tobytes()


@cache
def _bytes_of(characters: str) -> bytes:
    """For each character of one byte whether it is one of these."""
    return bytes(chr(point) in characters for point in range(256))


def one_of(values: Points, characters: str) -> NDArray[np.bool_]:
    """Whether each code point is one of these few characters: `np.isin` takes ten times as long."""
    result: NDArray[np.bool_] = values == ord(characters[0])
    for char in characters[1:]:
        result |= values == ord(char)
    return result


def _each_block(size: int, find: Callable[[int, int], NDArray[np.int64]]) -> NDArray[np.int64]:
    """The positions that `find` has in each stretch of a text: nothing is made that is as long as all of it."""
    if size <= _BLOCK:
        return find(0, size)
    # Grows as it is filled: pieces put together at the end would be there twice.
    result = array("q")
    for start in range(0, size, _BLOCK):
        result.frombytes(find(start, min(start + _BLOCK, size)).tobytes())
    return np.frombuffer(result, np.int64) if result else np.zeros(0, dtype=np.int64)


class CharacterArrays:
    """Code points and their kinds, one array element a character, in as few bytes as the text's characters need."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def points(self) -> Points:
        if self.text.isascii():
            return self._ended[:-1]
        # NumPy copies a text sooner than it is encoded.
        points = np.array([self.text]).view(np.uint32)
        return points.astype(np.min_scalar_type(points.max()), copy=False)

    @cached_property
    def _latin(self) -> bytes | None:
        """The characters as a byte each, and one of no kind behind them; None where some need more."""
        if self.text.isascii():
            return self.text.encode("ascii") + b"\0"
        return self.points.tobytes() + b"\0" if self.points.dtype == np.uint8 else None

    @cached_property
    def _ended(self) -> Points:
        return np.frombuffer(self._latin or b"", dtype=np.uint8)

    @cached_property
    def _not_ascii(self) -> frozenset[str]:
        """Each character beyond ASCII once: signs of other scripts are not sought in vain."""
        blocks = (self.points[at : at + _BLOCK] for at in range(0, len(self.text), _BLOCK))
        return frozenset(chr(point) for some in blocks for point in distinct(some[some > 127]))

    def has_between(self, first: int, last: int) -> bool:
        """Whether a character beyond ASCII has a code point from one to another."""
        return not self.text.isascii() and any(
            first <= ord(item) <= last for item in self._not_ascii
        )

    @cached_property
    def _kinds(self) -> NDArray[np.uint16]:
        kinds = np.empty(len(self.points), dtype=np.uint16)
        for start in range(0, len(kinds), _BLOCK):
            kinds[start : start + _BLOCK] = kinds_of(self.points[start : start + _BLOCK])
        return kinds

    def kinds_at(self, positions: NDArray[np.int64]) -> NDArray[np.uint16]:
        """The kinds of the character at each position; outside the text those of its first or last."""
        if self._latin is not None:
            return _latin_kinds().take(self.points.take(positions, mode="clip"))
        many = len(positions) * _FEW_OF > len(self.text)
        if "_kinds" in self.__dict__ or (many and len(self.text) <= _LARGE):
            return self._kinds.take(positions, mode="clip")
        return kinds_of(self.points.take(positions, mode="clip"))

    def next_solid(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first character at or after each position that is no white space; the text's length if none."""
        if not self.text:
            return np.zeros_like(positions)
        result = positions.copy()
        left = np.arange(len(result))
        for _ in range(_SHORT_GAP):
            left = left[self.have(result[left], SPACE)]
            if not len(left):
                return result
            result[left] += 1
        left = left[self.have(result[left], SPACE)]
        if len(left) > _FEW:
            result[left] = self._gap_ends[self._gap_ends.searchsorted(result[left])]
            return result
        low = high = -1
        for index in left.tolist():
            if not low <= result[index] <= high:  # else a gap that was searched already
                low = int(result[index])
                match = _SOLID.search(self.text, low)
                high = match.start() if match else len(self.text)
            result[index] = high
        return result

    def behind_solid(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the white space before each position starts; the position itself if there is none."""
        result = positions.copy()
        left = np.arange(len(result))
        for _ in range(_SHORT_GAP):
            left = left[(result[left] > 0) & self.have(result[left] - 1, SPACE)]
            if not len(left):
                return result
            result[left] -= 1
        left = left[(result[left] > 0) & self.have(result[left] - 1, SPACE)]
        if len(left):
            result[left] = self._gap_starts[self._gap_starts.searchsorted(result[left]) - 1]
        return result

    def have(self, positions: NDArray[np.int64], flags: int) -> NDArray[np.bool_]:
        """Whether the character at each position has any of these kinds; behind the text none has."""
        if self._latin is not None:
            return _latin_flags(flags).take(self._ended.take(positions, mode="clip"))
        inside = positions < len(self.text)
        return inside & (self.kinds_at(positions) & np.uint16(flags) != 0)

    @cached_property
    def _gap_starts(self) -> NDArray[np.int64]:
        """Where each longer stretch of white space starts."""
        space = self.are(SPACE)
        starts = space.copy()
        starts[1:] &= ~space[:-1]
        for ahead in (1, _SHORT_GAP // 2, _SHORT_GAP - 1):
            starts[:-ahead] &= space[ahead:]
        return starts.nonzero()[0]

    @cached_property
    def _gap_ends(self) -> NDArray[np.int64]:
        """Where each longer stretch of white space ends."""
        space = self.are(SPACE)
        last = space.copy()
        last[:-1] &= ~space[1:]
        for back in (1, _SHORT_GAP // 2, _SHORT_GAP - 1):
            last[back:] &= space[:-back]
        return last.nonzero()[0] + 1

    def are(self, flags: int, start: int = 0, end: int | None = None) -> NDArray[np.bool_]:
        """Whether each character, of all or of a stretch, has any of these kinds; not to be written to."""
        end = len(self.text) if end is None else min(end, len(self.text))
        if self._latin is not None:
            return np.frombuffer(self._latin[start:end].translate(_bytes_with(flags)), np.bool_)
        result = np.empty(max(end - start, 0), dtype=np.bool_)
        kept = "_kinds" in self.__dict__ or (len(result) == len(self.text) <= _LARGE)
        for low in range(start, end, _BLOCK):
            high = min(low + _BLOCK, end)
            kinds = self._kinds[low:high] if kept else kinds_of(self.points[low:high])
            result[low - start : high - start] = (kinds & np.uint16(flags)) != 0
        return result

    def places(self, characters: str, start: int = 0, end: int | None = None) -> NDArray[np.int64]:
        """The position of every one of these characters, in all of the text or in a stretch."""

        def find(low: int, high: int) -> NDArray[np.int64]:
            low, high = low + start, high + start
            if self._latin is None:
                values = one_of(self.points[low:high], wanted)
            else:
                told = self._latin[low:high].translate(_bytes_of(characters))
                values = np.frombuffer(told, np.bool_)
            return values.nonzero()[0] + low

        end = len(self.text) if end is None else min(end, len(self.text))
        wanted = "".join(
            character
            for character in characters
            if character.isascii() or character in self._not_ascii
        )
        return _each_block(max(end - start, 0), find) if wanted else np.zeros(0, dtype=np.int64)

    @cached_property
    def word_starts(self) -> NDArray[np.int64]:
        """Where words start: runs without white space, each Han or kana character by itself."""
        return _each_block(len(self.text), self.word_starts_within)

    def word_starts_within(self, start: int, end: int) -> NDArray[np.int64]:
        """Those of them from one position to before another."""
        before = max(start - 1, 0)
        space = self.are(SPACE, before, end)
        starts = ~space
        if self._latin is not None:
            starts[1:] &= space[:-1]
        else:
            alone = self.are(IDEOGRAPH, before, end)
            starts[1:] &= space[:-1] | alone[1:] | alone[:-1]
        starts[: start - before] = False
        return starts.nonzero()[0] + before
