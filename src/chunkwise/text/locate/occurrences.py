"""Where many passages stand in many documents, found in one walk by hashes of windows."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.text.locate.folding import Folded, Folding, Tolerance, stripped

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
        at = np.flatnonzero(self._table[hashes >> np.uint64(64 - _TABLE_BITS)])
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
_FIRST_UNSPACED = 0x0E00
"""Behind it come the scripts in which a letter beside a letter is no word cut in two."""
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
            members = np.flatnonzero((level == each) | ((level > each) & (each >= _FULL)))
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
    for at in np.flatnonzero((behind >= _FIRST_MARK) & (behind != BETWEEN)).tolist():
        whole[at] &= not unicodedata.combining(chr(behind[at]))
    return whole


def _cuts_word(
    points: NDArray[np.uint32], start: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.bool_]:
    return (_in_word(points[start - 1]) & _in_word(points[start])) | (
        _in_word(points[end - 1]) & _in_word(points[end])
    )


def _in_word(points: NDArray[np.uint32]) -> NDArray[np.bool_]:
    return _WORDLIKE[np.minimum(points, _FIRST_UNSPACED)]
