"""Nested levels packed in one loop: where nothing overlaps, nearly every chunk fits at the first try."""

from __future__ import annotations

from chunkwise.chunkers.cuts import NONE
from chunkwise.chunkers.pack import Packer
from chunkwise.core import Piece


class NestedPacker(Packer):
    """The chunks a nested `Packer` makes, sooner; what takes a second try is left to it."""

    def pack(self, start: int, end: int, floor: int | None = None) -> list[Piece]:
        if self._overlap_from is not None or self._keeps_indent or self._apart:
            return super().pack(start, end, floor)
        text, levels, limit, pieces = self._text, self._levels, self._limit, self._pieces
        reach_from, count, last = self._measure.reach, self._measure.count, levels[0].last
        done, fresh, stop, level = len(pieces), start, end, 0
        frames: list[tuple[int, int]] = []
        while True:
            if fresh < end and text[fresh].isspace():
                fresh = self._solid(fresh, end)
            if fresh >= stop:
                if not frames:
                    return pieces[done:]
                stop, level = frames.pop()
                last = levels[level].last
                continue
            reach = reach_from(fresh, limit)
            if reach < stop and text[reach].isspace():  # which is trimmed and takes no room
                reach = self._behind_gap(reach)
            cut = stop if reach >= stop else last(fresh, reach)
            if cut != NONE:
                trimmed = cut if not text[cut - 1].isspace() else self._trimmed(fresh, cut)
                size = count(fresh, trimmed)
                if size <= limit:
                    pieces.append(Piece(fresh, trimmed, "", size))
                else:
                    cut = self._fill(level, fresh, fresh, stop)
            if cut != NONE:
                fresh = cut
            elif level + 1 == len(levels):
                fresh = self._force(fresh, stop)
            else:  # the next piece of this level is too large by itself
                frames.append((stop, level))
                first = levels[level].first(fresh, stop)
                stop = stop if first == NONE else first
                level = self._next_level(level, fresh, stop)
                last = levels[level].last
