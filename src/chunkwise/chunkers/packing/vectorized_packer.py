"""Packers that find the chunks behind many cuts together instead of one after the other."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.packing.cuts import NONE, ArrayCuts, PagedCuts
from chunkwise.chunkers.packing.overlap import TRIES
from chunkwise.chunkers.packing.packer import PackedStretch, Packer, plain_pieces
from chunkwise.core import Piece

_LONG_STRETCH = 1 << 12
"""Characters from which on it may be worth the while to look at many cuts together."""
_CUTS_AHEAD = 1 << 13
"""Cuts that are looked at together."""
_PIECES_A_CHUNK = 16
"""Where chunks hold more pieces than this, most cuts would be looked at for nothing."""
_AT_ONCE = 256
"""Chunks that are counted together: behind one that is too large all are others."""
_FEW = 12
"""Chunks that are counted sooner one by one."""

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _ChunksAhead:
    """The chunk whose fresh text starts at each of many cuts, as long as the chunk before ends there."""

    low: int
    high: int
    """It was found for cuts from `low` to before `high`."""
    fresh: list[int]
    """The cuts; none where it is not worth the while."""
    earliest: list[int]
    """Where the chunk before has to start in front of: else less is repeated."""
    ends_before: list[int]
    """Where the chunk before has to end."""
    starts: Places
    stops: Places
    ends: list[int]
    """Where the text goes on."""
    following: list[int]
    """The number of that cut."""
    fits: list[bool]
    """Whether the first try makes it, but for its size; the others are looked at closely."""
    sizes: Places
    """Tokens of those that were counted; NONE: not yet."""


class _LookAheadPacker(Packer):
    """The chunk behind each of many cuts, as the first try makes it; what takes a second one is left to `Packer`."""

    def _look_ahead(self, frame: PackedStretch, fresh: int) -> _ChunksAhead:
        measure, limit, end = self._measure, self._limit, frame.end
        level = self._levels[frame.level]
        # What fits whole needs no cuts, and they are found only where they are asked about.
        if (
            self._reads_anew
            or not isinstance(level, ArrayCuts)
            or measure.reach(fresh, limit) >= end
        ):
            return _nothing_ahead(fresh, end)
        positions = level.positions
        low, behind = (int(positions.searchsorted(at)) for at in (fresh, end))
        high = min(low + _CUTS_AHEAD, behind)
        cuts = positions[low:high]
        reached = end if high == behind else int(positions[high])
        tokens = measure.before(reached) - measure.before(fresh)
        if not len(cuts) or tokens * _PIECES_A_CHUNK < limit * len(cuts):
            return _nothing_ahead(fresh, reached)
        fits = ~self._spaced(cuts)
        starts = earliest = ends_before = cuts
        if self._overlap_from is not None:
            after = np.append(cuts[1:], reached)
            before = np.append(positions[low - 1] if low else frame.floor, cuts[:-1])
            every = np.arange(len(cuts))
            ends_before = self._trimmed_each(before, cuts, every)
            fits &= ends_before > before
            room = measure.backs(self._trimmed_each(cuts, after, every), limit)
            earliest = np.maximum(np.maximum(self._overlap_from.each(cuts), frame.floor), room)
            starts = self._repeated_from(earliest, ends_before, cuts, after)
        # White space behind the last token is trimmed and takes no room.
        reach = self._characters.next_solid(measure.reaches(starts, limit))
        last = positions.searchsorted(reach, "right") - 1
        ends = np.where(reach >= end, end, positions.take(last, mode="clip"))
        following = np.where(reach >= end, behind, last) - low
        fits &= ends > cuts
        stops = self._trimmed_each(starts, ends, np.flatnonzero(fits))
        for places in (starts, stops, ends_before):
            kept = self._graphemes.keep(np.sort(places))
            if len(kept) < len(places):
                fits &= np.isin(places, kept, kind="sort")
        return _ChunksAhead(
            fresh, max(reached, fresh + 1), cuts.tolist(), earliest.tolist(), ends_before.tolist(),
            starts, stops, ends.tolist(), following.tolist(), fits.tolist(), np.full(len(cuts), NONE),
        )  # fmt: skip

    @property
    def _reads_anew(self) -> bool:
        """A tokenizer that reads every span anew is not to read more of them than there are chunks."""
        return self._measure.tokenizer.restart is None

    def _repeated_from(self, lows: Places, highs: Places, fresh: Places, after: Places) -> Places:
        """The first of `overlap_starts` that leaves room for the next piece; the fresh text where none does."""
        starts = fresh.copy()
        left = np.arange(len(fresh))
        levels = self._levels[:-1]
        if self._overlap_cuts is not None:
            levels = [self._overlap_cuts, *levels]
        for level in levels:
            assert isinstance(level, ArrayCuts | PagedCuts)
            tried = left
            places = lows[left] - 1
            for _ in range(TRIES):
                places = level.firsts(places, highs[tried])
                tried, places = tried[places != NONE], places[places != NONE]
                reach = self._characters.next_solid(self._measure.reaches(places, self._limit))
                room = reach >= after[tried]
                starts[tried[room]] = places[room]
                tried, places = tried[~room], places[~room]
                if not len(tried):
                    break
            left = left[starts[left] == fresh[left]]
            if not len(left):
                break
        return self._characters.next_solid(starts)

    def _take(self, known: _ChunksAhead, frame: PackedStretch, fresh: int) -> int:
        """Takes chunks as long as it is known what they hold; where the text goes on."""
        cuts, fits, following = known.fresh, known.fits, known.following
        at, count = bisect_left(cuts, fresh), len(cuts)
        if at == count or cuts[at] != fresh or not fits[at]:
            return fresh
        taken: list[int] = []
        if self._overlap_from is None:
            while at < count and fits[at] and len(taken) < _AT_ONCE:
                taken.append(at)
                at = following[at]
        elif self._pieces and fresh > frame.floor:
            start, stop = self._pieces[-1][:2]
            earliest, ends_before = known.earliest, known.ends_before
            while at < count and fits[at] and len(taken) < _AT_ONCE:
                if start >= earliest[at] or stop != ends_before[at]:
                    break
                taken.append(at)
                start, stop = int(known.starts[at]), int(known.stops[at])
                at = following[at]
        if not taken:
            return fresh
        self._count_taken(known, np.array(taken))
        starts, stops, sizes = known.starts[taken], known.stops[taken], known.sizes[taken]
        small = int(np.append(sizes > self._limit, True).argmax())
        if small < len(taken):
            fits[taken[small]] = False
        self._pieces.extend(plain_pieces(starts[:small], stops[:small], sizes[:small]))
        return known.ends[taken[small - 1]] if small else fresh

    def _count_taken(self, known: _ChunksAhead, taken: Places) -> None:
        left = taken[known.sizes[taken] == NONE]
        starts, stops = known.starts[left], known.stops[left]
        if len(left) < _FEW:
            spans = zip(left.tolist(), starts.tolist(), stops.tolist(), strict=True)
            for number, start, stop in spans:
                known.sizes[number] = self._measure.count(start, stop)
        else:
            known.sizes[left] = self._measure.counts(starts, stops)


class FlatPacker(_LookAheadPacker):
    """The chunks a flat `Packer` makes, sooner."""

    def pack(self, start: int, end: int, floor: int | None = None) -> list[Piece]:
        if end - start <= _LONG_STRETCH:
            return super().pack(start, end, floor)
        # Tokens before cuts: to find them takes most, and the less else is held.
        self._measure.before(end)
        if not self._looks_ahead:
            return super().pack(start, end, floor)
        pieces = self._pieces
        done, fresh = len(pieces), start
        frame = PackedStretch(end, 0, start if floor is None else floor)
        known: _ChunksAhead | None = None
        while True:
            fresh = self._solid(fresh, end)
            if fresh >= end:
                return pieces[done:]
            if known is None or not known.low <= fresh < known.high:
                known = self._look_ahead(frame, fresh)
            taken = self._take(known, frame, fresh) if known.fresh else fresh
            fresh = self._next_chunk(frame, fresh) if taken == fresh else taken

    @property
    def _looks_ahead(self) -> bool:
        levels = [*self._levels[:-1], *([self._overlap_cuts] if self._overlap_cuts else [])]
        plain = isinstance(levels[0], ArrayCuts) and all(
            isinstance(level, ArrayCuts | PagedCuts) for level in levels
        )
        return plain and not (self._nested or self._apart or self._keeps_indent or self._reads_anew)


class NestedPacker(_LookAheadPacker):
    """The chunks a nested `Packer` makes, sooner."""

    def pack(self, start: int, end: int, floor: int | None = None) -> list[Piece]:
        if self._overlap_from is not None or self._keeps_indent or self._apart:
            return super().pack(start, end, floor)
        text, levels, limit, pieces = self._text, self._levels, self._limit, self._pieces
        reach_from, count, last = self._measure.reach, self._measure.count, levels[0].last
        done, fresh, stop, level = len(pieces), start, end, 0
        frames: list[tuple[int, int]] = []
        ahead: dict[int, tuple[PackedStretch, _ChunksAhead]] = {}
        while True:
            if stop - fresh > _LONG_STRETCH:
                found = ahead.get(level)
                if (
                    found is None
                    or found[0].end != stop
                    or not found[1].low <= fresh < found[1].high
                ):
                    frame = PackedStretch(stop, level, fresh)
                    found = ahead[level] = frame, self._look_ahead(frame, fresh)
                frame, known = found
                if known.fresh:
                    fresh = self._take(known, frame, fresh)
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


def _nothing_ahead(low: int, high: int) -> _ChunksAhead:
    none = np.zeros(0, dtype=np.int64)
    return _ChunksAhead(low, max(high, low + 1), [], [], [], none, none, [], [], [], none)
