"""Where many passages stand in many documents, found in one walk through the documents."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.testsets.finding.folding import Folding, Tolerance, stripped
from chunkwise.testsets.finding.text_blocks import BETWEEN, TextBlock, blocks_of
from chunkwise.testsets.finding.window_hashes import HashSet, WindowHashes

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
