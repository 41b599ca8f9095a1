"""Cuts that leave no fragment: no lead-in, fence or number of an item alone, no row of a CSV cut inside."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.packing.cuts import NONE, ArrayCuts, CutLevel, ManyCuts
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.blocks import gaps_in_text
from chunkwise.text.characters import DIGIT, SPACE, one_of
from chunkwise.text.sentences.enumerations import may_be_item

_BEHIND_NUMBER = re.compile(r"(?:^|[\s(（])(\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.):]$")
_BEHIND_NUMBERS, _ROMAN, _OPENING = ".):", "ivxIVX", "(（"
_LONGEST_NUMBER = 8
_MOST_SKIPPED = 64


class CutsWithoutFragments:
    """The cuts of a level but those that would leave a lead-in, a fence or the number of an item alone."""

    def __init__(self, level: CutLevel, fragments: Fragments) -> None:
        self._level = level
        self._bound = fragments.bound

    def last(self, low: int, high: int) -> int:
        cut = self._level.last(low, high)
        for _ in range(_MOST_SKIPPED):
            if cut == NONE or not (gap := self._bound(cut)):
                return cut
            cut = self._level.last(low, gap[0] - 1)
        return NONE

    def first(self, low: int, high: int) -> int:
        cut = self._level.first(low, high)
        for _ in range(_MOST_SKIPPED):
            if cut == NONE or not (gap := self._bound(cut)):
                return cut
            cut = self._level.first(gap[1], high)
        return NONE


class ManyCutsWithoutFragments(CutsWithoutFragments, ManyCuts):
    """The same of a level that is asked about many places at once."""

    def __init__(self, level: ManyCuts, fragments: Fragments) -> None:
        super().__init__(level, fragments)
        self._many = level
        self._may_bind = fragments.may_bind

    def within(self, low: int, high: int) -> NDArray[np.int64]:
        """With those that leave fragments."""
        return self._many.within(low, high)

    def lasts(self, lows: NDArray[np.int64], highs: NDArray[np.int64]) -> NDArray[np.int64]:
        cuts = self._many.lasts(lows, highs)
        for index in np.flatnonzero(self._may_bind(cuts)).tolist():
            if self._bound(int(cuts[index])):
                cuts[index] = self.last(int(lows[index]), int(highs[index]))
        return cuts

    def firsts(self, lows: NDArray[np.int64], highs: NDArray[np.int64]) -> NDArray[np.int64]:
        cuts = self._many.firsts(lows, highs)
        for index in np.flatnonzero(self._may_bind(cuts)).tolist():
            if self._bound(int(cuts[index])):
                cuts[index] = self.first(int(lows[index]), int(highs[index]))
        return cuts


class ArrayCutsWithoutFragments(CutsWithoutFragments, ManyCuts):
    """The same of sorted positions: which of them leave fragments is found out once."""

    def __init__(self, level: ArrayCuts, fragments: Fragments) -> None:
        super().__init__(level, fragments)
        self._array = level
        self._fragments = fragments
        self.behind = level.behind

    def within(self, low: int, high: int) -> NDArray[np.int64]:
        """With those that leave fragments."""
        return self._array.within(low, high)

    def lasts(self, lows: NDArray[np.int64], highs: NDArray[np.int64]) -> NDArray[np.int64]:
        positions = self._array.positions
        if not len(positions):
            return np.full(len(lows), NONE, dtype=np.int64)
        index = self._free.before[positions.searchsorted(highs, "right") - 1]
        cuts = positions.take(index, mode="clip")
        return np.where((index >= 0) & (cuts > lows), cuts, NONE)

    def firsts(self, lows: NDArray[np.int64], highs: NDArray[np.int64]) -> NDArray[np.int64]:
        positions = self._array.positions
        if not len(positions):
            return np.full(len(lows), NONE, dtype=np.int64)
        index = self._free.behind[positions.searchsorted(lows, "right")]
        cuts = positions.take(index, mode="clip")
        return np.where((index < len(positions)) & (cuts < highs), cuts, NONE)

    @cached_property
    def _free(self) -> _FreeCuts:
        return _free_cuts(self._array.positions, self._fragments)


class _FreeCuts(NamedTuple):
    """For each of some sorted cuts the number of the one that is taken instead: its own where it leaves no fragment."""

    before: NDArray[np.int64]
    """The last one up to it; -1 where there is none, which stands behind the last of them, too."""
    behind: NDArray[np.int64]
    """The first one from it on; how many there are where there is none, which stands behind the last of them, too."""


def _free_cuts(cuts: NDArray[np.int64], fragments: Fragments) -> _FreeCuts:
    count = len(cuts)
    before, behind = np.append(np.arange(count), NONE), np.arange(count + 1)
    bound = np.zeros(count + 1, dtype=np.bool_)
    for index in np.flatnonzero(fragments.may_bind(cuts)).tolist():
        if gap := fragments.bound(int(cuts[index])):
            bound[index] = True
            before[index] = cuts.searchsorted(gap[0]) - 1
            behind[index] = cuts.searchsorted(gap[1], "right")
    return _FreeCuts(_led_on(before, bound, NONE), _led_on(behind, bound, count))


def _led_on(step: NDArray[np.int64], bound: NDArray[np.bool_], none: int) -> NDArray[np.int64]:
    """Where the steps from each cut to another end: at the first that is free, or, after too many of them, at none."""
    at = step.copy()
    for _ in range(_MOST_SKIPPED - 2):
        left = np.flatnonzero(bound[at])
        if not len(left):
            return at
        at[left] = step[at[left]]
    at[bound[at]] = none
    return at


class Fragments:
    """Places of a text at which a cut would leave a fragment."""

    def __init__(self, document: Analyzed) -> None:
        self._analyzed = ref(document)  # which may keep these cuts
        self._text = document.text
        self._characters = document.characters
        self._is_table = document.document.format == "table"
        self._behind_numbers: dict[int, tuple[int, int] | None] = {}

    @property
    def _document(self) -> Analyzed:
        document = self._analyzed()
        assert document is not None, "it is there as long as something is cut"
        return document

    def bound(self, cut: int) -> tuple[int, int] | None:
        """The white space around a cut, where what follows it goes with what precedes it."""
        if self._is_table and (row := self._row(cut)):
            return row
        lows, highs = self._gaps
        index = bisect_left(highs, cut)
        if index < len(highs) and lows[index] <= cut:
            return lows[index], highs[index]
        if self._text[cut - 1] not in _BEHIND_NUMBERS:
            return None
        if cut not in self._behind_numbers:
            self._behind_numbers[cut] = self._behind_number(cut)
        return self._behind_numbers[cut]

    def _behind_number(self, cut: int) -> tuple[int, int] | None:
        """The white space behind a cut that is behind the number of an item."""
        text = self._text
        # Enumerations are sought only in texts that are cut behind something like a number of one.
        number = _BEHIND_NUMBER.search(text, max(cut - _LONGEST_NUMBER, 0), cut)
        if number and (not number[1].isascii() or may_be_item(text, number[1], cut)):
            texts = self._document.enumerations.texts
            index = int(texts.searchsorted(cut))
            if index < len(texts) and not text[cut : int(texts[index])].strip():
                return cut, int(texts[index])
        return None

    def may_bind(self, cuts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Of which of many cuts `bound` is to be asked; the others are not bound."""
        if self._is_table:
            return cuts != NONE
        lows, highest = self._gap_arrays
        before = lows.searchsorted(cuts, "right") - 1
        found = (before >= 0) & (highest.take(before, mode="clip") >= cuts) & (cuts != NONE)
        points = self._characters.points
        marked = np.flatnonzero(
            one_of(points.take(cuts - 1, mode="clip"), _BEHIND_NUMBERS) & (cuts > 0)
        )
        at = cuts[marked]
        # One sign alone, or the last of several that may be a number.
        last = points.take(at - 2, mode="clip")
        may = self._characters.have(at - 2, DIGIT) | one_of(last, _ROMAN)
        opening = points.take(at - 3, mode="clip")
        may |= self._characters.have(at - 3, SPACE) | one_of(opening, _OPENING) | (at < 3)
        found[marked[may]] = True
        return found

    def _row(self, cut: int) -> tuple[int, int] | None:
        """The inside of the row of a CSV in which a cut falls, line breaks in its cells too."""
        starts, ends = self._rows
        index = bisect_left(starts, cut) - 1
        return (starts[index] + 1, ends[index] - 1) if index >= 0 and cut < ends[index] else None

    @cached_property
    def _rows(self) -> tuple[list[int], list[int]]:
        spans = self._document.blocks.spans("header", "row")
        return spans[:, 0].tolist(), spans[:, 1].tolist()

    @cached_property
    def _gaps(self) -> tuple[list[int], list[int]]:
        document = self._document
        # Formats that declare their layout have it at hand; elsewhere finding it takes longer than cutting.
        if document.document.format != "code" and document.document.blocks is None:
            gaps = gaps_in_text(document.text)
            return [low for low, _ in gaps], [high for _, high in gaps]
        highs = document.characters.next_solid(document.fragment_starts)
        return document.characters.behind_solid(highs).tolist(), highs.tolist()

    @cached_property
    def _gap_arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each gap starts, and the furthest that any up to it reaches; nowhere where there is none."""
        lows, highs = (np.array(each or [NONE], dtype=np.int64) for each in self._gaps)
        return lows, np.maximum.accumulate(highs)


def without_fragments(document: Analyzed, levels: Sequence[CutLevel]) -> list[CutLevel]:
    """The levels without those of their cuts that leave fragments or cut rows."""
    fragments = Fragments(document)
    return [
        ArrayCutsWithoutFragments(level, fragments)
        if isinstance(level, ArrayCuts)
        else ManyCutsWithoutFragments(level, fragments)
        if isinstance(level, ManyCuts)
        else CutsWithoutFragments(level, fragments)
        for level in levels
    ]
