"""Where a text may be cut without breaking what a reader sees as one character."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import JOINER, MARK, Characters, kind_of, kinds_of
from chunkwise.text.clusters import inside_clusters

_JOINING = MARK | JOINER
_FIRST_MARK = "\u0300"
"""No character below it joins another, but for line feed behind carriage return."""
_FIRST_CONSONANT = "\u0915"
"""The first of those that a virama joins to the one before it."""
_FLAG_A, _FLAG_Z = 0x1F1E6, 0x1F1FF


class Graphemes:
    """Positions inside grapheme clusters, kept as runs `[first, last]` of forbidden cuts.

    Most cuts lie between two characters that never join; the runs are found when one does not.
    """

    def __init__(self, characters: Characters) -> None:
        self._characters = characters
        self._text = characters.text
        # One character is found much quicker than two.
        has_pair = "\r" in self._text and "\r\n" in self._text
        self.trivial = self._text.isascii() and not has_pair
        """Every position may be cut."""

    @cached_property
    def _runs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return _forbidden_runs(self._characters)

    def _is_sure(self, position: int) -> bool:
        """Whether the two characters beside the position alone make it a break."""
        if self.trivial or position <= 0 or position >= len(self._text):
            return True
        before, after = self._text[position - 1], self._text[position]
        if before < _FIRST_MARK and after < _FIRST_MARK:
            return before != "\r" or after != "\n"
        if kind_of(before) & JOINER or kind_of(after) & _JOINING:
            return False
        if after >= _FIRST_CONSONANT and kind_of(before) & MARK:
            return False
        return not (_is_flag(before) and _is_flag(after))

    def _are_sure(self, cuts: NDArray[np.int64]) -> bool:
        cuts = cuts[(cuts > 0) & (cuts < len(self._text))]
        before, after = self._characters.points[cuts - 1], self._characters.points[cuts]
        if ((before == 13) & (after == 10)).any():
            return False
        rare = (before >= ord(_FIRST_MARK)) | (after >= ord(_FIRST_MARK))
        before, after = before[rare], after[rare]
        unsure = (kinds_of(after) & np.uint16(_JOINING)) | (kinds_of(before) & np.uint16(JOINER))
        indic = after >= ord(_FIRST_CONSONANT)
        unsure |= kinds_of(before) & np.uint16(MARK) * indic
        return not (unsure.any() or ((after >= _FLAG_A) & (after <= _FLAG_Z)).any())

    def is_break(self, position: int) -> bool:
        return self._is_sure(position) or self._run_around(position) is None

    def floor(self, position: int) -> int:
        """The nearest allowed cut at or before the position."""
        run = None if self._is_sure(position) else self._run_around(position)
        return position if run is None else run[0] - 1

    def ceil(self, position: int) -> int:
        """The nearest allowed cut at or after the position."""
        run = None if self._is_sure(position) else self._run_around(position)
        return position if run is None else run[1] + 1

    def floors(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """`floor` of each of the sorted positions, each once."""
        if len(self.keep(positions)) == len(positions):
            return positions
        return np.unique(np.array([self.floor(each) for each in positions.tolist()], np.int64))

    def _run_around(self, position: int) -> tuple[int, int] | None:
        first, last = self._runs
        run = int(first.searchsorted(position, "right")) - 1
        if run >= 0 and position <= last[run]:
            return int(first[run]), int(last[run])
        return None

    def keep(self, cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Only those of the sorted cuts that break no cluster."""
        if self.trivial or self._are_sure(cuts):
            return cuts
        first, last = self._runs
        run = first.searchsorted(cuts, "right") - 1
        return cuts[(run < 0) | (cuts > np.append(last, 0)[run])]


def _is_flag(char: str) -> bool:
    return _FLAG_A <= ord(char) <= _FLAG_Z


def _forbidden_runs(characters: Characters) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    points = characters.points
    if characters.text.isascii():
        inside = np.zeros(len(points) + 1, dtype=np.bool_)
        inside[1:-1] = (points[:-1] == 13) & (points[1:] == 10)
    else:
        inside = inside_clusters(points)
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1  # neither the start nor the end is inside
    return edges[::2], edges[1::2] - 1
