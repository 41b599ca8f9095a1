"""A passage found again, however it is spelled: white space, quotes and dashes, case, Markdown's marks."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document

_TOKEN = re.compile(
    r"\\[!-/:-@\[-`{-~]"
    r"|\*+|_+|`+|!?\["
    r'|\]\((?:[^()\s]|\([^()\s]*+\))*+(?:[ \t]++"[^"\n]*+")?\)'
    r"|\]\[[^\[\]\n]*+\]|\]"
    r"|\n[ \t]*+\n"
)
_LONGEST = 3
"""Stars that emphasise; more are a line."""
_FIRST_UNSPACED = 0x0E00
"""Behind it come the scripts without blanks between words: one may be emphasised, or found, inside a run of letters."""


class Mark(NamedTuple):
    """A stretch that does not show."""

    start: int
    end: int
    opens: bool
    """Whether it belongs to what comes behind it, else to what comes before."""


class Unmarked(NamedTuple):
    """A text without its marks, and where its characters come from."""

    text: str
    begin: NDArray[np.int64]
    """Of each character the offset in the original, from the marks that open before it."""
    end: NDArray[np.int64]
    """The offset behind it, and behind the marks that close there."""


def unmarked(text: str) -> Unmarked | None:
    """None where there is no mark."""
    marks = marks_of(text)
    if not marks:
        return None
    kept = np.ones(len(text), dtype=np.bool_)
    lead: dict[int, int] = {}
    tail: dict[int, int] = {}
    for start, end, opens in marks:
        kept[start:end] = False
        if opens:
            lead[end] = lead.pop(start, start)
    for start, end, opens in reversed(marks):
        if not opens:
            tail[start] = tail.pop(end, end)
    begin = np.arange(len(text) + 1)
    begin[list(lead)] = list(lead.values())
    behind = np.arange(len(text) + 1)
    behind[list(tail)] = list(tail.values())
    at = kept.nonzero()[0]
    parts, last = [], 0
    for start, end, _ in marks:
        parts.append(text[last:start])
        last = end
    return Unmarked("".join([*parts, text[last:]]), begin[at], behind[at + 1])


def marks_of(text: str) -> list[Mark]:
    """In their order, disjoint; only those that have their other half in the same paragraph."""
    marks: list[Mark] = []
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    for token in _TOKEN.finditer(text):
        sign, (start, end) = token[0], token.span()
        if sign[0] == "\n":
            waiting.clear()
        elif sign[0] == "\\":
            marks.append(Mark(start, start + 1, opens=True))
        elif sign[-1] == "[":
            waiting["["].append(start)
        elif sign[0] == "]":
            opening = waiting["["].pop() if waiting["["] else None
            if opening is not None and end - start > 1:
                bracket = text.index("[", opening) + 1
                marks += [Mark(opening, bracket, opens=True), Mark(start, end, opens=False)]
        elif sign[0] == "`" or end - start <= _LONGEST:
            _emphasis(text, start, end, waiting[sign], marks)
    return sorted(marks)


def _emphasis(text: str, start: int, end: int, waiting: list[int], marks: list[Mark]) -> None:
    """Pairs it with one that waits, or lets it wait; a star between two words or two blanks does neither."""
    before, behind = text[start - 1 : start], text[end : end + 1]
    is_code = text[start] == "`"
    closes = is_code or not (_is_blank(before) or _in_word(behind))
    if waiting and closes:
        opening = waiting.pop()
        marks += [Mark(opening, opening + end - start, opens=True), Mark(start, end, opens=False)]
    elif is_code or not (_is_blank(behind) or _in_word(before)):
        waiting.append(start)


def _is_blank(character: str) -> bool:
    return not character or character.isspace()


def _in_word(character: str) -> bool:
    return character.isalnum() and ord(character) < _FIRST_UNSPACED


Tolerance = Literal["exact", "signs", "case", "marks"]
"""What may differ: nothing; white space, quotes, dashes and normal form; upper and lower case, too; and Markdown's
marks of emphasis, code and links."""

TOLERANCES: tuple[Tolerance, ...] = ("exact", "signs", "case", "marks")

_SPACE = ord(" ")
_SIGNS = {
    **dict.fromkeys("“”„‟«»″〝〞〟＂❝❞", '"'),
    **dict.fromkeys("‘’‚‛‹›′ʼ`´＇❛❜", "'"),
    **dict.fromkeys("‐‑‒–—―−⁃﹣－﹘", "-"),
    # A page may be cut at them and be shown without.
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
}


class Folded(NamedTuple):
    """What is compared, and where it stands in the original."""

    points: NDArray[np.uint32]
    begin: NDArray[np.int64] | None
    """Of each point the offset of the character it comes from; None: points are the characters themselves."""
    end: NDArray[np.int64] | None
    """Of each point the offset behind what it stands for: a space may stand for a run of them."""

    def spans(
        self, start: NDArray[np.int64], end: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The original's offsets of ranges of points, none of them empty."""
        if self.begin is None or self.end is None:
            return start, end
        return self.begin[start], self.end[end - 1]


def points_of(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


class Folding:
    """Folds texts; what a character becomes is looked up once."""

    def __init__(self, tolerance: Tolerance) -> None:
        self.tolerance = tolerance
        self._known: dict[str, tuple[int, ...]] = {}

    def fold(self, text: str) -> Folded:
        plain = unmarked(text) if self.tolerance == "marks" else None
        if plain is None:
            return self._fold(text)
        points, begin, end = self._fold(plain.text)
        if begin is None or end is None:
            return Folded(points, plain.begin, plain.end)
        return Folded(points, plain.begin[begin], plain.end[end - 1])

    def _fold(self, text: str) -> Folded:
        points = points_of(text)
        if self.tolerance == "exact" or not text:
            return Folded(points, None, None)
        characters = sorted(set(text))
        becomes = [self._becomes(character) for character in characters]
        last = ord(characters[-1])
        # One row a code point of the text: where its points begin among all, and how many there are.
        size, first = np.zeros((2, last + 1), dtype=np.int32)
        codes = np.array([ord(character) for character in characters])
        size[codes] = [len(group) for group in becomes]
        first[codes] = np.cumsum([0, *(len(group) for group in becomes[:-1])])
        flat = np.array([point for group in becomes for point in group], dtype=np.uint32)
        if len(flat) == len(codes) and (size[codes] == 1).all():  # the usual case, and much faster
            return _one_space(flat[first[points]], np.arange(len(points)))
        counts = size[points]
        begin = np.repeat(np.arange(len(points)), counts)
        offset = np.arange(len(begin)) - np.repeat(np.cumsum(counts) - counts, counts)
        folded = flat[first[points[begin]] + offset] if len(begin) else flat[:0]
        return _one_space(folded, begin)

    def _becomes(self, character: str) -> tuple[int, ...]:
        known = self._known.get(character)
        if known is None:
            known = self._known[character] = tuple(map(ord, self._folded(character)))
        return known

    def _folded(self, character: str) -> str:
        if character.isspace():
            return " "
        if character in _SIGNS:
            return _SIGNS[character]
        # Taken apart, é is the same however it was written; most compatible forms are, too.
        parts = unicodedata.normalize("NFKD", character)
        if self.tolerance in ("case", "marks"):
            parts = unicodedata.normalize("NFKD", parts.casefold())
        return "".join(" " if part.isspace() else _SIGNS.get(part, part) for part in parts)


def _one_space(points: NDArray[np.uint32], begin: NDArray[np.int64]) -> Folded:
    """Every run of spaces as its first one."""
    if not len(points):  # signs that do not show, and nothing else
        return Folded(points, begin, begin)
    space = points == _SPACE
    kept = np.ones(len(points), dtype=np.bool_)
    kept[1:] = ~(space[1:] & space[:-1])
    at = kept.nonzero()[0]
    # Of a run, the last character tells where it ends.
    last = np.append(at[1:], len(points)) - 1
    return Folded(points[at], begin[at], begin[last] + 1)


def same_but_for_signs(one: str, other: str) -> bool:
    """Whether two texts differ in white space, quotes, dashes and normal form at most."""
    if one == other:
        return True
    folding = Folding("signs")
    return bool(
        np.array_equal(stripped(folding.fold(one).points), stripped(folding.fold(other).points))
    )


def stripped(points: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Without the spaces around it."""
    solid = (points != _SPACE).nonzero()[0]
    return points[solid[0] : solid[-1] + 1] if len(solid) else points[:0]


_KEY = 64
"""Characters of a passage that are looked for in all documents at once; the rest is compared where they are."""
_WORDLIKE = np.array([chr(point).isalnum() for point in range(_FIRST_UNSPACED)] + [False])
_FIRST_MARK = 0x300
_SURROGATE = re.compile("[\ud800-\udfff]")


class Occurrences(NamedTuple):
    """Of one passage in one document, in its order."""

    passage: int
    document: NDArray[np.int64]
    start: NDArray[np.int64]
    """In the document's own text, as `end`."""
    end: NDArray[np.int64]
    whole: NDArray[np.bool_]
    """Whether no word is cut at its ends: "ten" in "often" is not."""


def occurrences(
    passages: Sequence[str], documents: Sequence[Document], tolerance: Tolerance
) -> Iterator[Occurrences]:
    """Every place of every passage; work grows with the texts and what is found, not with their product."""
    from ahocorasick_rs import AhoCorasick

    folding = Folding(tolerance)
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for number, passage in enumerate(passages):
        points = folding.fold(passage).points
        text = _text_of(points if tolerance == "exact" else stripped(points))
        if text and not passage.isspace():
            numbers[text].append(number)
    patterns: defaultdict[str, list[str]] = defaultdict(list)
    for text in numbers:
        patterns[text[:_KEY]].append(text)
    if not patterns:
        return
    search, groups = AhoCorasick(patterns), list(patterns.values())
    for at, document in enumerate(documents):
        folded = folding.fold(document.text)
        text = _text_of(folded.points)
        places: defaultdict[str, list[int]] = defaultdict(list)
        for key, start, _ in search.find_matches_as_indexes(text, overlapping=True):
            for pattern in groups[key]:
                if len(pattern) <= _KEY or text.startswith(pattern, start):
                    places[pattern].append(start)
        if not places:
            continue
        borders = None if tolerance == "exact" else _borders(folded)
        cuts_word = _cuts_word(folded.points)
        for pattern, starts in places.items():
            first = np.array(starts)
            behind = first + len(pattern)
            if borders is not None:
                good = borders[first] & borders[behind] & ~_are_marks(folded.points, behind)
                first, behind = first[good], behind[good]
            start, end = folded.spans(first, behind)
            whole = ~(cuts_word[first] | cuts_word[behind])
            for number in numbers[pattern]:
                yield Occurrences(number, np.full(len(start), at), start, end, whole)


def _text_of(points: NDArray[np.uint32]) -> str:
    text = points.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _borders(folded: Folded) -> NDArray[np.bool_]:
    """Where a character of the original begins or ends: a ligature is several points, and one character."""
    begin = np.arange(len(folded.points)) if folded.begin is None else folded.begin
    return np.diff(begin, prepend=-1, append=-1) != 0


def _are_marks(points: NDArray[np.uint32], at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether what stands there belongs to the character before: the accent behind an e."""
    result = points.take(at, mode="clip") >= _FIRST_MARK
    for number in result.nonzero()[0].tolist():
        inside = at[number] < len(points)
        result[number] = inside and unicodedata.combining(chr(points[at[number]])) != 0
    return result


def _cuts_word(points: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Of each position whether letters or digits stand on both sides."""
    in_word = np.concatenate(([False], _WORDLIKE[np.minimum(points, _FIRST_UNSPACED)], [False]))
    return in_word[:-1] & in_word[1:]
