"""Where a text may be cut, one level of preference at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.graphemes import Graphemes

NONE = -1


class Cuts(Protocol):
    """Positions at which a new piece may start."""

    def last(self, low: int, high: int) -> int:
        """The largest cut with `low < cut <= high`, or NONE."""

    def first(self, low: int, high: int) -> int:
        """The smallest cut with `low < cut < high`, or NONE."""


class ArrayCuts:
    """Sorted positions, found only when this level is reached."""

    def __init__(self, find: Callable[[], NDArray[np.int64]]) -> None:
        self._find = find

    @cached_property
    def positions(self) -> NDArray[np.int64]:
        return self._find()

    def last(self, low: int, high: int) -> int:
        index = int(self.positions.searchsorted(high, "right")) - 1
        cut = int(self.positions[index]) if index >= 0 else NONE
        return cut if cut > low else NONE

    def first(self, low: int, high: int) -> int:
        index = int(self.positions.searchsorted(low, "right"))
        cut = int(self.positions[index]) if index < len(self.positions) else high
        return cut if cut < high else NONE


class LiteralCuts:
    """Separators searched for in the text itself, only around the place that is cut."""

    def __init__(self, text: str, separators: Sequence[str], graphemes: Graphemes) -> None:
        self._text = text
        self._graphemes = graphemes
        self._given = separators
        self._next = [(0, NONE)] * len(separators)

    @cached_property
    def _separators(self) -> list[tuple[str, int]]:
        """Those that occur in the text at all, and how many of their characters precede the cut."""
        # White space goes to the next piece, where it is trimmed; a sign stays with what it ends.
        return [
            (separator, 0 if separator[0].isspace() else len(separator.rstrip()))
            for separator in self._given
            # One character that is not there is noticed much sooner than several.
            if all(char in self._text for char in separator) and separator in self._text
        ]

    def last(self, low: int, high: int) -> int:
        best = NONE
        for separator, shift in self._separators:
            stop = high
            while True:
                # The separator may reach beyond the cut: only its first `shift` characters precede it.
                limit = stop - shift + len(separator)
                found = self._text.rfind(separator, max(max(low, best) + 1 - shift, 0), limit)
                if found < 0:
                    break
                if self._graphemes.is_break(found + shift):
                    best = found + shift
                    break
                stop = found + shift - 1
        return best

    def first(self, low: int, high: int) -> int:
        nearest = high
        for number, (separator, shift) in enumerate(self._separators):
            sought, found = self._next[number]
            # Remembered, so that a separator that is far away is looked for once, not once a piece.
            if not sought <= low < found:
                found = self._after(separator, shift, low)
                self._next[number] = low, found
            nearest = min(nearest, found)
        return nearest if nearest < high else NONE

    def _after(self, separator: str, shift: int, low: int) -> int:
        start = max(low + 1 - shift, 0)
        while True:
            found = self._text.find(separator, start)
            if found < 0:
                return len(self._text) + 1
            if self._graphemes.is_break(found + shift):
                return found + shift
            start = found + 1


class GraphemeCuts:
    """The last resort: between any two characters a reader sees."""

    def __init__(self, graphemes: Graphemes) -> None:
        self._graphemes = graphemes

    def last(self, low: int, high: int) -> int:
        cut = self._graphemes.floor(high)
        return cut if cut > low else NONE

    def first(self, low: int, high: int) -> int:
        cut = self._graphemes.ceil(low + 1)
        return cut if cut < high else NONE
