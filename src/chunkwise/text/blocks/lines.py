"""The lines of a text as arrays, with what a line scanner asks of each."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import NEWLINE, SPACE, CharacterArrays

_TAB_WIDTH = 4


class Lines:
    """Line `i` is `text[start[i]:end[i]]`, its line break left out; a final line break opens no line."""

    def __init__(self, characters: CharacterArrays) -> None:
        self.characters = characters
        points = characters.points
        ends = breaks = np.flatnonzero(characters.are(NEWLINE))
        nexts = breaks + 1
        if "\r" in characters.text:
            # CR LF is one break: it ends the line at CR and starts the next after LF.
            pair = (points[breaks[1:]] == 10) & (points[breaks[:-1]] == 13) & (np.diff(breaks) == 1)
            ends, nexts = breaks[np.append(True, ~pair)], nexts[np.append(~pair, True)]
        self.start: NDArray[np.int64] = np.concatenate(([0], nexts))
        self.end: NDArray[np.int64] = np.append(ends, len(points))
        if self.start[-1] == len(points):
            self.start, self.end = self.start[:-1], self.end[:-1]

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Position of each line's first character that is no white space or mark; its end if it is blank."""
        # Most lines start with something solid or are empty; only the others are searched.
        first = self.start.copy()
        kinds = self.characters.kinds
        spaced = np.flatnonzero((kinds[self.start] & np.uint16(SPACE) != 0) & (first < self.end))
        first[spaced] = np.minimum(self.characters.next_solid(first[spaced]), self.end[spaced])
        if self._marked:
            first[0] = min(int(self.characters.next_solid(np.array([1]))[0]), int(self.end[0]))
        return first

    @cached_property
    def outset(self) -> NDArray[np.int64]:
        """Where a block that opens with each line starts: a byte order mark belongs to the first."""
        if not self._marked or self.blank[0]:
            return self.first
        outset = self.first.copy()
        outset[0] = 0
        return outset

    @property
    def _marked(self) -> bool:
        return self.characters.text.startswith("\ufeff")

    @cached_property
    def blank(self) -> NDArray[np.bool_]:
        return self.first == self.end

    @cached_property
    def head(self) -> NDArray[np.uint32]:
        """First character that is no white space; 0 for a blank line."""
        return self.at(0)

    @cached_property
    def second(self) -> NDArray[np.uint32]:
        """The character behind the first; 0 beyond the line's end."""
        return self.at(1)

    def head_is(self, flags: int) -> NDArray[np.bool_]:
        """Whether each line's first character that is no white space is of one of these kinds."""
        kinds = self.characters.kinds[np.minimum(self.first, len(self.characters.kinds) - 1)]
        return ~self.blank & ((kinds & np.uint16(flags)) != 0)

    def at(self, offset: int, which: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.uint32]:
        """The character this far behind each line's first; 0 beyond the line's end. `which`: some lines only."""
        where = self.first[which] + offset
        return self.characters.points.take(where, mode="clip") * (where < self.end[which])

    @cached_property
    def indent(self) -> NDArray[np.int64]:
        """Columns of white space before the first character; a tab counts four."""
        width = self.first - self.start
        return width + (_TAB_WIDTH - 1) * self.count("\t", self.start, self.first)

    def count(
        self, characters: str, start: NDArray[np.int64], end: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """How many of these characters lie between each pair of positions."""
        if not any(char in self.characters.text for char in characters):
            return np.zeros(len(start), dtype=np.int64)
        found = np.flatnonzero(self._any_of(characters))
        counts: NDArray[np.int64] = found.searchsorted(end) - found.searchsorted(start)
        return counts

    def _any_of(self, characters: str) -> NDArray[np.bool_]:
        points = self.characters.points
        found = points == ord(characters[0])
        for char in characters[1:]:
            found |= points == ord(char)
        return found

    def holds(self, characters: str) -> NDArray[np.int64]:
        """How many of these characters each line has."""
        return self.count(characters, self.start, self.end)

    def consists_of(self, characters: str) -> NDArray[np.bool_]:
        """Whether a line has nothing but these characters and white space, and is not blank."""
        solid = self.characters.solid
        size = solid.searchsorted(self.end) - solid.searchsorted(self.start)
        return (size > 0) & (self.holds(characters) == size)

    def text(self, line: int) -> str:
        return self.characters.text[self.start[line] : self.end[line]]
