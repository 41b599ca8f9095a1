"""Where a text may be cut without breaking what a reader sees as one character."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.text.characters import JOINER, MARK, Characters, kind_of

_CLUSTER = regex.compile(r"\X")
_JOINING = MARK | JOINER
_FIRST_MARK = "\u0300"
"""No character below it joins another, but for line feed behind carriage return."""
_FLAG_A, _FLAG_Z = 0x1F1E6, 0x1F1FF
_LOW_CONTROLS = [0xAD, 0x61C, 0x180E]
"""Control characters below U+2000 outside the two control blocks: soft hyphen, Arabic and Mongolian marks."""


class Graphemes:
    """Positions inside grapheme clusters, kept as runs `[first, last]` of forbidden cuts.

    Most cuts lie between two characters that never join; the runs are found when one does not.
    """

    def __init__(self, characters: Characters) -> None:
        self._characters = characters
        self._text = characters.text
        self.trivial = self._text.isascii() and "\r\n" not in self._text
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
        return not (kind_of(before) | kind_of(after)) & _JOINING and not (
            _is_flag(before) and _is_flag(after)
        )

    def _are_sure(self, cuts: NDArray[np.int64]) -> bool:
        cuts = cuts[(cuts > 0) & (cuts < len(self._text))]
        kinds, points = self._characters.kinds, self._characters.points
        unsure = ((kinds[cuts] | kinds[cuts - 1]) & np.uint16(_JOINING)) != 0
        unsure |= (points[cuts - 1] == 13) & (points[cuts] == 10)
        unsure |= (points[cuts] >= _FLAG_A) & (points[cuts] <= _FLAG_Z)
        return not unsure.any()

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
    text = characters.text
    points = characters.points
    forbidden = np.zeros(len(points) + 1, dtype=np.bool_)
    forbidden[1:-1] = (points[:-1] == 13) & (points[1:] == 10)
    if not text.isascii():
        _mark_clusters(characters, forbidden)
        _mark_flags(characters, forbidden)
    edges = np.flatnonzero(np.diff(forbidden.view(np.int8), prepend=0, append=0))
    return edges[::2], edges[1::2] - 1


def _mark_clusters(characters: Characters, forbidden: NDArray[np.bool_]) -> None:
    """A mark joins what precedes it; only stretches with joining characters need the full rules."""
    joining = characters.are(MARK | JOINER)
    forbidden[1:-1] |= joining[1:]
    edges = np.flatnonzero(np.diff(joining.view(np.int8), prepend=0, append=0))
    joiners = np.concatenate(([0], np.cumsum(characters.are(JOINER))))
    settle = joiners[edges[1::2]] > joiners[edges[::2]]
    # A control character takes no mark; the few marks after one are settled by the rules as well.
    before = characters.points[np.maximum(edges[::2] - 1, 0)]
    settle |= (before < 32) | ((before >= 0x7F) & (before < 0xA0)) | (before >= 0x2000)
    settle |= np.isin(before, _LOW_CONTROLS)
    first, after = edges[::2][settle], edges[1::2][settle]
    apart = first[1:] - 1 > after[:-1]  # stretches that share a neighbour are settled together
    first = first[np.concatenate(([True], apart))] if len(first) else first
    after = after[np.concatenate((apart, [True]))] if len(after) else after
    breaks: list[int] = []
    for lo, hi in zip((first - 1).tolist(), (after + 1).tolist(), strict=True):
        # Neither neighbour of the stretch joins by itself, so it can be segmented alone.
        lo, hi = max(lo, 0), min(hi, len(joining))
        forbidden[lo + 1 : hi] = True
        clusters = _CLUSTER.finditer(characters.text, lo, hi)
        breaks += [end for match in clusters if (end := match.end()) < hi]
    forbidden[np.array(breaks, dtype=np.int64)] = False


def _mark_flags(characters: Characters, forbidden: NDArray[np.bool_]) -> None:
    """Of a run of regional indicators every second one joins the one before it."""
    points = characters.points
    flag = np.flatnonzero((points >= _FLAG_A) & (points <= _FLAG_Z))
    if len(flag):
        new = np.concatenate(([True], np.diff(flag) > 1))
        first = np.maximum.accumulate(np.where(new, flag, 0))
        forbidden[flag[(flag - first) % 2 == 1]] = True
