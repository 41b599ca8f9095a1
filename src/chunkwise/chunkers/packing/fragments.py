"""Cuts that leave no fragment: no lead-in, fence or number of an item alone, no row of a CSV cut inside."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from weakref import ref

from chunkwise.chunkers.packing.cuts import NONE, CutLevel
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.blocks import fence_edges, is_led_in, opens_by_mark
from chunkwise.text.sentences.enumerations import adjacent_numbers

_NUMBER = re.compile(r"(?:^|[\s(（])(\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.):]$")
_BEHIND_NUMBERS, _BEHIND_LEAD_IN, _ROMAN = ".):", ":：*_", "ivxIVX"
_SOLID = re.compile(r"\S")
_LONGEST_NUMBER = 8
_LONGEST_GAP = 200
"""Characters of white space before or behind an edge; more of it parts what is around it."""
_MOST_SKIPPED = 64


class CutsWithoutFragments:
    """The cuts of a level but those that would leave a lead-in, a fence or the number of an item alone."""

    def __init__(self, level: CutLevel, fragments: Fragments) -> None:
        self._last, self._first = level.last, level.first
        self._bound = fragments.bound

    def last(self, low: int, high: int) -> int:
        cut, skipped = self._last(low, high), 0
        while cut != NONE and (gap := self._bound(cut)):
            skipped += 1
            cut = self._last(low, gap[0] - 1) if skipped < _MOST_SKIPPED else NONE
        return cut

    def first(self, low: int, high: int) -> int:
        cut, skipped = self._first(low, high), 0
        while cut != NONE and (gap := self._bound(cut)):
            skipped += 1
            cut = self._first(gap[1], high) if skipped < _MOST_SKIPPED else NONE
        return cut


class Fragments:
    """Places of a text at which a cut would leave a fragment."""

    def __init__(self, document: Analyzed) -> None:
        self._analyzed = ref(document)  # which may keep these cuts
        self._text = document.text
        self._is_table = document.document.format == "table"
        # Formats that declare their layout have it at hand; elsewhere finding it takes longer than cutting.
        self._has_marks_alone = (
            document.document.format != "code" and document.document.blocks is None
        )
        self._gap = self._paragraph = (0, 0)

    @property
    def _document(self) -> Analyzed:
        document = self._analyzed()
        assert document is not None, "it is there as long as something is cut"
        return document

    def bound(self, cut: int) -> tuple[int, int] | None:
        """The white space around a cut, where what follows it goes with what precedes it."""
        text = self._text
        before = text[cut - 1]
        if before in _BEHIND_NUMBERS:
            # Most full stops end a word, in Markdown also code and links.
            is_word = text[cut - 3 : cut - 1].isalpha() and text[cut - 2] not in _ROMAN
            if not is_word and text[cut - 2].isalnum() and (result := self._behind_number(cut)):
                return result
        elif before.isspace():
            before = text[cut - 2]  # inside a blank line, mostly
        if (before in _BEHIND_LEAD_IN or before.isspace()) and self._has_marks_alone:
            gap = self._space_before_mark(cut)
            if is_led_in(text, *gap):
                return gap
        if edges := self._edges:
            index = bisect_left(edges, cut - _LONGEST_GAP)
            if index < len(edges) and edges[index] <= cut + _LONGEST_GAP:
                low, high = _space_around(text, cut)
                index = bisect_left(edges, low, index)
                if index < len(edges) and edges[index] <= high:
                    return low, high
        return self._row(cut) if self._is_table else None

    def _space_before_mark(self, cut: int) -> tuple[int, int]:
        """The white space around a cut; where no list, table or code follows, only that behind it."""
        low, high = self._gap  # looked through once, however long it is
        if not low <= cut < high:
            solid = _SOLID.search(self._text, cut)
            low, high = cut, solid.start() if solid else len(self._text)
            if opens_by_mark(self._text, high):
                while low and self._text[low - 1].isspace():
                    low -= 1
            self._gap = low, high
        return low, high

    def _behind_number(self, cut: int) -> tuple[int, int] | None:
        """The white space behind a cut that is behind the number of an item."""
        number = _NUMBER.search(self._text, max(cut - _LONGEST_NUMBER, 0), cut)
        # Enumerations are sought only in texts that are cut behind an item.
        if number and ("_items" in self.__dict__ or self._has_neighbor(number[1], cut)):
            solid = _SOLID.search(self._text, cut)
            if solid and solid.start() in self._items:
                return cut, solid.start()
        return None

    def _has_neighbor(self, number: str, cut: int) -> bool:
        """Whether the paragraph may have the number before this one, or the second where this is the first."""
        text, (low, high) = self._text, self._paragraph
        if not low < cut <= high:
            low, high = max(text.rfind("\n\n", 0, cut), 0), text.find("\n\n", cut)
            low, high = self._paragraph = low, high if high >= 0 else len(text)
        return any(
            text.find(neighbor + text[cut - 1], *((low, cut) if is_before else (cut, high))) >= 0
            for neighbor, is_before in adjacent_numbers(number)
        )

    @cached_property
    def _items(self) -> frozenset[int]:
        return frozenset(self._document.enumerations.texts.tolist())

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
    def _edges(self) -> list[int]:
        """Places whose white space parts nothing: beside fences, and before what goes with what precedes it."""
        if self._has_marks_alone:
            return fence_edges(self._text)
        document = self._document
        return document.characters.next_solid(document.fragment_starts).tolist()


def _space_around(text: str, at: int) -> tuple[int, int]:
    low = high = at
    while low > 0 and at - low < _LONGEST_GAP and text[low - 1].isspace():
        low -= 1
    while high < len(text) and high - at < _LONGEST_GAP and text[high].isspace():
        high += 1
    return low, high


def without_fragments(document: Analyzed, levels: Sequence[CutLevel]) -> list[CutLevel]:
    """The levels without those of their cuts that leave fragments or cut rows."""
    fragments = Fragments(document)
    return [CutsWithoutFragments(level, fragments) for level in levels]
