"""Where the words of a text are: runs of letters and digits, and pairs of characters where no space parts words."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.text.characters import DIGIT, JOINER, LETTER, MARK, CharacterArrays
from chunkwise.text.terms.counts import ranges

_RUN = LETTER | DIGIT | MARK | JOINER
_SOFT_HYPHEN = 0xAD
_LONGEST = 255
"""Characters of a word: a longer run is data, an image in base64 for example."""
_LOW = (1 << 21) - 1
"""Bits of a code point."""

# Thai and Lao; Burmese; Hangul is written with spaces, but particles cling to its words; Khmer; Han and kana.
_UNSPACED = (
    (0x0E01, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3041, 0x30FF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),
    (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0x1B000, 0x1B16F), (0x20000, 0x3FFFF),
)  # fmt: skip
_FIRST_UNSPACED = _UNSPACED[0][0]
_CLASS = "".join(f"{chr(low)}-{chr(high)}" for low, high in _UNSPACED)
_RUNS = regex.compile(f"([{_CLASS}]+)|[^{_CLASS}]+")
_SOLID = regex.compile(r"[\p{L}\p{N}]")


class WordSpans(NamedTuple):
    """Every word of a text in order; words do not overlap, neighbouring pairs share a character."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    number: NDArray[np.int64]
    """Which of the distinct words each is."""
    distinct: list[str]
    """As they are written."""


def words_of(characters: CharacterArrays) -> WordSpans:
    """The words of a text; both starts and ends increase."""
    inside, unspaced = _members(characters)
    if unspaced is None:
        return _spaced(characters, inside)
    words, pairs = _spaced(characters, inside & ~unspaced), _pairs(characters, unspaced)
    start = np.concatenate((words.start, pairs.start))
    order = np.argsort(start, kind="stable")
    end = np.concatenate((words.end, pairs.end))
    number = np.concatenate((words.number, pairs.number + len(words.distinct)))
    return WordSpans(start[order], end[order], number[order], words.distinct + pairs.distinct)


def _spaced(characters: CharacterArrays, inside: NDArray[np.bool_]) -> WordSpans:
    edge = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    start, end = edge[::2], edge[1::2]
    too_long = end - start > _LONGEST
    if too_long.any():
        inside = inside.copy()
        inside[ranges(start[too_long], end[too_long])] = False
        start, end = start[~too_long], end[~too_long]
    # One split of the text with everything else made a space: much faster than a slice a word.
    masked = np.where(inside, characters.points, np.uint32(ord(" ")))
    words = masked.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass").split()
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    number = np.fromiter(map(numbers.__getitem__, words), np.int64, len(words))
    return WordSpans(start, end, number, list(numbers))


def _pairs(characters: CharacterArrays, unspaced: NDArray[np.bool_]) -> WordSpans:
    """Each two neighbours of a run; a run of one character is a word by itself."""
    goes_on, follows = np.zeros((2, len(unspaced)), dtype=np.bool_)
    goes_on[:-1] = unspaced[1:]
    follows[1:] = unspaced[:-1]
    start = np.flatnonzero(unspaced & (goes_on | ~follows))
    two = goes_on[start]
    one, other = characters.points[start], characters.points.take(start + 1, mode="clip")
    key, number = np.unique(one.astype(np.uint64) << 21 | other * two, return_inverse=True)
    distinct = [
        chr(pair >> 21) + (chr(pair & _LOW) if pair & _LOW else "") for pair in key.tolist()
    ]
    return WordSpans(start, start + 1 + two, number, distinct)


def _members(characters: CharacterArrays) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
    """Which characters are part of a word, and which of those are written without spaces."""
    text, points = characters.text, characters.points
    inside = characters.are(_RUN)
    if "_" in text:
        inside |= points == ord("_")
    _join_numbers(characters, inside)
    if text.isascii():
        return inside, None
    inside |= points == _SOFT_HYPHEN
    if points.max(initial=0) < _FIRST_UNSPACED:
        return inside, None
    unspaced = np.zeros(len(points), dtype=np.bool_)
    for low, high in _UNSPACED:
        unspaced |= (points >= low) & (points <= high)
    unspaced &= inside & ~characters.are(DIGIT)
    return inside, unspaced


def _join_numbers(characters: CharacterArrays, inside: NDArray[np.bool_]) -> None:
    """4.2.1 and 1,000,000 are one word each; 1,2 is two."""
    points, last = characters.points, len(characters.points) - 1
    digit = characters.are(DIGIT)
    for mark in ".,":
        at = np.flatnonzero(points == ord(mark))
        at = at[(at > 0) & (at < last)]
        at = at[digit[at - 1] & digit[at + 1]]
        if mark == ",":
            at = at[at + 3 <= last]
            behind = (at + 3 == last) | ~digit.take(at + 4, mode="clip")
            at = at[digit[at + 2] & digit[at + 3] & behind]
        inside[at] = True


def pairs_of(word: str) -> list[str]:
    """A folded word, in pairs where folding has shown that it is written without spaces: ｶﾀｶﾅ, single jamo."""
    if word.isascii() and word.isalnum():
        return [word]
    if not _SOLID.search(word):
        return []
    if word.isascii() or len(word) <= 2:
        return [word]
    found = []
    for match in _RUNS.finditer(word):
        run = match[0]
        pairs = match[1] is not None and len(run) > 1
        found += [run[at : at + 2] for at in range(len(run) - 1)] if pairs else [run]
    return found
