"""A passage found again, however it is spelled: white space, quotes and dashes, case, Markdown's marks."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
    found: list[Mark] = []
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    for token in _TOKEN.finditer(text):
        sign, (start, end) = token[0], token.span()
        if sign[0] == "\n":
            waiting.clear()
        elif sign[0] == "\\":
            found.append(Mark(start, start + 1, opens=True))
        elif sign[-1] == "[":
            waiting["["].append(start)
        elif sign[0] == "]":
            opening = waiting["["].pop() if waiting["["] else None
            if opening is not None and end - start > 1:
                bracket = text.index("[", opening) + 1
                found += [Mark(opening, bracket, opens=True), Mark(start, end, opens=False)]
        elif sign[0] == "`" or end - start <= _LONGEST:
            _emphasis(text, start, end, waiting[sign], found)
    return sorted(found)


def _emphasis(text: str, start: int, end: int, waiting: list[int], found: list[Mark]) -> None:
    """Pairs it with one that waits, or lets it wait; a star between two words or two blanks does neither."""
    before, behind = text[start - 1 : start], text[end : end + 1]
    is_code = text[start] == "`"
    closes = is_code or not (_is_blank(before) or _in_word(behind))
    if waiting and closes:
        opening = waiting.pop()
        found += [Mark(opening, opening + end - start, opens=True), Mark(start, end, opens=False)]
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

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original's offsets of a range of points that is not empty."""
        if self.begin is None or self.end is None:
            return start, end
        return int(self.begin[start]), int(self.end[end - 1])


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
        becomes = [self._becomes(each) for each in characters]
        last = ord(characters[-1])
        # One row a code point of the text: where its points begin among all, and how many there are.
        size, first = np.zeros((2, last + 1), dtype=np.int32)
        codes = np.array([ord(each) for each in characters])
        size[codes] = [len(each) for each in becomes]
        first[codes] = np.cumsum([0, *(len(each) for each in becomes[:-1])])
        flat = np.array([point for each in becomes for point in each], dtype=np.uint32)
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
        return "".join(" " if each.isspace() else _SIGNS.get(each, each) for each in parts)


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


_ROOT = 0x9E3779B97F4A7C15 | 3
_INVERSE = pow(_ROOT, -1, 1 << 64)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_TABLE_BITS = 18
_STEP = 1 << 18
"""Powers are made in this step, so that few tables of them serve all texts."""


class WindowHashes:
    """A polynomial modulo 2^64 over the points of a text, as prefix sums."""

    def __init__(self, points: NDArray[np.uint32]) -> None:
        letters = (points.astype(np.uint64) + np.uint64(1)) * _MIX
        letters ^= letters >> np.uint64(29)
        self._size = len(points)
        self._prefix = np.zeros(len(points) + 1, dtype=np.uint64)
        np.cumsum(letters * _powers(_ROOT, len(points)), out=self._prefix[1:])

    def all(self, length: int) -> NDArray[np.uint64]:
        """Of every window of one length, in their order."""
        count = max(0, self._size - length + 1)
        return (self._prefix[length : length + count] - self._prefix[:count]) * _powers(
            _INVERSE, count
        )

    def at(self, start: NDArray[np.int64], length: NDArray[np.int64] | int) -> NDArray[np.uint64]:
        """Of windows that lie wholly in the text."""
        inverse = _powers(_INVERSE, self._size + 1)
        return (self._prefix[start + length] - self._prefix[start]) * inverse[start]


class HashSet:
    """Looks up many hashes at once."""

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        """Of distinct keys in ascending order."""
        self.keys = keys
        self._table = np.zeros(1 << _TABLE_BITS, dtype=np.bool_)
        self._table[keys >> np.uint64(64 - _TABLE_BITS)] = True

    def find(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which hashes are keys, and which key each of those is."""
        # Nearly all fall through a table that fits a processor's cache; the others are searched for.
        at = self._table[hashes >> np.uint64(64 - _TABLE_BITS)].nonzero()[0]
        key = self.keys.searchsorted(hashes[at])
        same = self.keys[np.minimum(key, len(self.keys) - 1)] == hashes[at]
        return at[same], key[same]


@lru_cache(maxsize=4)
def _all_powers(base: int, count: int) -> NDArray[np.uint64]:
    powers = np.full(count, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    return _all_powers(base, (count // _STEP + 1) * _STEP)[:count]


BETWEEN = 0x110000
"""Stands around every document; no character has this number."""
_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Points of several documents, with the way back."""

    points: NDArray[np.uint32]
    begin: NDArray[np.int64]
    """Of each point the offset of its character in its document; -1 between documents."""
    end: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Where each document begins in the block."""
    numbers: NDArray[np.int64]
    """Which document that is."""
    fresh: NDArray[np.int64]
    """Where each document's new points end: those behind are the first of the next block, too."""

    def document_of(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which entry of `numbers` each position lies in."""
        return self.starts.searchsorted(positions, "right") - 1


def blocks_of(documents: Sequence[Document], folding: Folding, longest: int) -> Iterator[TextBlock]:
    """All documents; anything up to `longest` points long lies whole in some block."""
    parts: list[tuple[int, Folded, int, int, int]] = []
    size = 0
    for number, document in enumerate(documents):
        folded = folding.fold(document.text)
        for low in range(0, max(1, len(folded.points)), _SIZE):
            fresh = min(low + _SIZE, len(folded.points))
            high = min(fresh + longest, len(folded.points))
            parts.append((number, folded, low, fresh, high))
            size += high - low
            if size >= _SIZE:
                yield _block(parts)
                parts, size = [], 0
    if parts:
        yield _block(parts)


def _block(parts: list[tuple[int, Folded, int, int, int]]) -> TextBlock:
    between = np.array([BETWEEN], dtype=np.uint32)
    nowhere = np.array([-1])
    points, begin, end = [between], [nowhere], [nowhere]
    for _, folded, low, _, high in parts:
        points += [folded.points[low:high], between]
        counted = np.arange(low, high) if folded.begin is None else folded.begin[low:high]
        begin += [counted, nowhere]
        end += [counted + 1 if folded.end is None else folded.end[low:high], nowhere]
    sizes = np.array([high - low + 1 for _, _, low, _, high in parts])
    starts = np.cumsum(sizes) - sizes + 1
    return TextBlock(
        np.concatenate(points),
        np.concatenate(begin),
        np.concatenate(end),
        starts,
        np.array([number for number, *_ in parts]),
        starts + [fresh - low for _, _, low, fresh, _ in parts],
    )


_FULL = 5
"""Windows of up to 2^5 points are looked for at every place; longer ones where those were found."""
_PAIRS_AT_ONCE = 1 << 21
_COMPARED = 1024
_COMPARED_LONG = 64
_COMPARED_POINTS = 1 << 24
_WORDLIKE = np.array([chr(point).isalnum() for point in range(_FIRST_UNSPACED)] + [False])
_FIRST_MARK = 0x300


class Occurrences(NamedTuple):
    """Of one passage in one block, in document order."""

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
    folding = Folding(tolerance)
    found: dict[bytes, list[int]] = {}
    for number, passage in enumerate(passages):
        points = folding.fold(passage).points
        points = points if tolerance == "exact" else stripped(points)
        if len(points) and not passage.isspace():
            found.setdefault(points.tobytes(), []).append(number)
    patterns = [np.frombuffer(each, dtype=np.uint32) for each in found]
    numbers = list(found.values())
    if not patterns:
        return
    search = _Search(patterns, within_characters=tolerance == "exact")
    for block in blocks_of(documents, folding, search.longest):
        for pattern, start, end in search.places(block):
            document = block.document_of(start)
            for number in numbers[pattern]:
                yield Occurrences(
                    number, block.numbers[document], block.begin[start], block.end[end - 1],
                    ~_cuts_word(block.points, start, end),
                )  # fmt: skip


class _Search:
    """Passages by the hash of their first 1, 2, 4, 8 … points: as many as fit into each."""

    def __init__(self, patterns: list[NDArray[np.uint32]], *, within_characters: bool) -> None:
        self._patterns = patterns
        self._within_characters = within_characters
        self._length = np.array([len(each) for each in patterns])
        self.longest = int(self._length.max())
        joined = WindowHashes(np.concatenate(patterns))
        first = np.cumsum(self._length) - self._length
        self._hash = joined.at(first, self._length)
        level = np.frexp(self._length)[1].astype(np.int64) - 1
        self._levels: dict[int, tuple[HashSet, NDArray[np.int64], NDArray[np.int64]]] = {}
        for each in range(int(level.max()) + 1):
            # Long passages are met on every level from the fifth, until they are decided on their own.
            members = ((level == each) | ((level > each) & (each >= _FULL))).nonzero()[0]
            if not len(members):
                continue
            hashes = joined.at(first[members], 1 << each)
            keys, key = np.unique(hashes, return_inverse=True)
            decided = level[members] == each
            order = np.argsort(key[decided], kind="stable")
            group = np.searchsorted(key[decided][order], np.arange(len(keys) + 1))
            self._levels[each] = HashSet(keys), members[decided][order], group

    def places(
        self, block: TextBlock
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Of each pattern that is in the block: where its places begin and end."""
        hashes = WindowHashes(block.points)
        patterns, starts = [], []
        alive = np.zeros(0, dtype=np.int64)
        for level, (keys, members, group) in self._levels.items():
            if level <= _FULL:
                at, key = keys.find(hashes.all(1 << level))
            else:
                alive = alive[alive + (1 << level) <= len(block.points)]
                which, key = keys.find(hashes.at(alive, 1 << level))
                at = alive[which]
            # What the next block has again is left to it.
            fresh = at < block.fresh[block.document_of(at)]
            at, key = at[fresh], key[fresh]
            alive = at
            for pattern, start in self._decided(hashes, block, at, key, members, group):
                patterns.append(pattern)
                starts.append(start)
        if not patterns:
            return
        pattern, start = np.concatenate(patterns), np.concatenate(starts)
        end = start + self._length[pattern]
        if not self._within_characters:
            good = _at_borders(block, start, end)
            pattern, start, end = pattern[good], start[good], end[good]
        order = np.lexsort((start, pattern))
        pattern, start, end = pattern[order], start[order], end[order]
        distinct, low = np.unique(pattern, return_index=True)
        high = np.append(low, len(pattern))[1:]
        for number, here, behind in zip(
            distinct.tolist(), low.tolist(), high.tolist(), strict=True
        ):
            same = self._verified(number, block.points, start[here:behind])
            yield number, start[here:behind][same], end[here:behind][same]

    def _verified(
        self, pattern: int, points: NDArray[np.uint32], start: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Hashes can be made to collide: the places that may be told of are compared point by point."""
        wanted = self._patterns[pattern]
        same = np.ones(len(start), dtype=np.bool_)
        most = min(_COMPARED, max(_COMPARED_LONG, _COMPARED_POINTS // len(wanted)))
        for number, at in enumerate(start[:most].tolist()):
            same[number] = np.array_equal(points[at : at + len(wanted)], wanted)
        return same

    def _decided(
        self,
        hashes: WindowHashes,
        block: TextBlock,
        at: NDArray[np.int64],
        key: NDArray[np.int64],
        members: NDArray[np.int64],
        group: NDArray[np.int64],
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Every place with every pattern of its group, kept where the whole of the pattern stands there."""
        count = group[key + 1] - group[key]
        if not count.any():
            return
        cuts = np.searchsorted(np.cumsum(count), np.arange(0, count.sum(), _PAIRS_AT_ONCE), "left")
        for low, high in zip(cuts, [*cuts[1:], len(at)], strict=True):
            size = count[low:high]
            start = np.repeat(at[low:high], size)
            rank = np.arange(len(start)) - np.repeat(np.cumsum(size) - size, size)
            pattern = members[np.repeat(group[key[low:high]], size) + rank]
            inside = start + self._length[pattern] <= len(block.points)
            start, pattern = start[inside], pattern[inside]
            same = hashes.at(start, self._length[pattern]) == self._hash[pattern]
            yield pattern[same], start[same]


def _at_borders(
    block: TextBlock, start: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether both ends are ends of characters: the e of é is none, and neither is the f of a ligature."""
    begin = block.begin
    whole = (begin[start] != begin[start - 1]) & (begin[end] != begin[end - 1])
    behind = block.points[end]
    for at in ((behind >= _FIRST_MARK) & (behind != BETWEEN)).nonzero()[0].tolist():
        whole[at] &= not unicodedata.combining(chr(behind[at]))
    return whole


def _cuts_word(
    points: NDArray[np.uint32], start: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.bool_]:
    return (_are_in_words(points[start - 1]) & _are_in_words(points[start])) | (
        _are_in_words(points[end - 1]) & _are_in_words(points[end])
    )


def _are_in_words(points: NDArray[np.uint32]) -> NDArray[np.bool_]:
    return _WORDLIKE[np.minimum(points, _FIRST_UNSPACED)]
