"""The chunks that `Packer` makes, sooner: those behind many cuts are worked out together."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.packing.cuts import NONE, ArrayCuts, ManyCuts
from chunkwise.chunkers.packing.fragments import ArrayCutsWithoutFragments
from chunkwise.chunkers.packing.overlap import TRIES
from chunkwise.chunkers.packing.packer import PackedStretch, Packer
from chunkwise.core import Piece
from chunkwise.text.positions import merge_sorted

_LONG_STRETCH = 1 << 12
"""Characters from which on it may be worth the while to look at many cuts together."""
_CUTS_AHEAD = 1 << 13
"""Cuts that are looked at together."""
_PIECES_A_CHUNK = 16
"""Where chunks hold more pieces than this, most cuts would be looked at for nothing."""

_FEW_CUTS = (ArrayCuts, ArrayCutsWithoutFragments)
"""Levels of which all cuts may be looked at; clauses and words are too many."""

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _ChunksAhead:
    """The chunk of one level whose fresh text starts at each of many places, as the first try makes it."""

    low: int
    high: int
    """It was found for fresh text from `low` to before `high`."""
    fresh: memoryview
    """The places; none where it is not worth the while."""
    within: memoryview
    """The end of the stretch that each is taken to lie in."""
    after: memoryview
    """Where the next piece ends."""
    deeper: memoryview
    """The level that cuts the next piece where it is too large by itself; 0: it is not, or this is not known."""
    earliest: memoryview
    """Where the chunk before has to start in front of: else less is repeated."""
    ends_before: memoryview
    """Where the chunk before has to end."""
    starts: memoryview
    stops: memoryview
    sizes: memoryview
    goes_on: memoryview
    """Where the text behind it starts."""
    following: memoryview
    """The number of that place."""
    fits: memoryview
    """Whether the first try makes it; the others, and one behind the last, are looked at closely."""

    def number(self, fresh: int) -> int:
        """Of a place; behind the last one where it is none."""
        at = bisect_left(self.fresh, fresh)
        return at if at < len(self.fresh) and self.fresh[at] == fresh else len(self.fresh)


def _nothing_ahead(low: int, high: int) -> _ChunksAhead:
    none = np.zeros(1, dtype=np.int64).data
    return _ChunksAhead(low, max(high, low + 1), none[:0], *[none] * 11)


class _PackerAhead(Packer):
    """What takes a second try is left to `Packer`."""

    @cached_property
    def _looks_ahead(self) -> bool:
        levels = [*self._levels[:-1], *([self._overlap_cuts] if self._overlap_cuts else [])]
        # A tokenizer that reads every span anew is not to read more of them than there are chunks.
        reads_anew = self._measure.tokenizer.restart is None
        return not (self._apart or self._keeps_indent or reads_anew) and all(
            isinstance(level, ManyCuts) for level in levels
        )

    def _pack_ahead(self, start: int, end: int, floor: int) -> list[Piece]:
        """`pack`, taking chunks as long as it is known what they hold."""
        done = len(self._pieces)
        frame: PackedStretch | None = PackedStretch(end, 0, floor)
        fresh = self._solid(start, end)
        ahead: dict[int, _ChunksAhead] = {}
        while frame is not None:
            if fresh >= frame.end:
                frame = frame.outer
                continue
            known = ahead.get(frame.level)
            if known is None or not known.low <= fresh < known.high:
                known = ahead[frame.level] = self._look_ahead(frame, fresh, end)
            at = known.number(fresh)
            taken = self._take(known, at, frame) if known.fits[at] else NONE
            if taken != NONE:
                fresh = taken
            elif known.deeper[at] and known.within[at] == frame.end:
                frame = PackedStretch(known.after[at], known.deeper[at], frame.floor, frame)
            else:
                cut, frame = self._step(frame, fresh)
                fresh = self._solid(cut, end)
        return self._pieces[done:]

    def _take(self, known: _ChunksAhead, at: int, frame: PackedStretch) -> int:
        """Emit chunks of one stretch as long as it is known what they hold; where the text goes on, or NONE."""
        pieces, end, last = self._pieces, frame.end, NONE
        fits, within, following = known.fits, known.within, known.following
        starts, stops, sizes = known.starts, known.stops, known.sizes
        if self._overlap_from is None:
            while fits[at] and within[at] == end:
                pieces.append(Piece(starts[at], stops[at], "", sizes[at]))
                last, at = at, following[at]
        elif pieces and known.fresh[at] > frame.floor:
            start, stop = pieces[-1][:2]
            earliest, before = known.earliest, known.ends_before
            while fits[at] and within[at] == end and start < earliest[at] and stop == before[at]:
                start, stop = starts[at], stops[at]
                pieces.append(Piece(start, stop, "", sizes[at]))
                last, at = at, following[at]
        return NONE if last == NONE else known.goes_on[last]

    def _look_ahead(self, frame: PackedStretch, fresh: int, end: int) -> _ChunksAhead:
        """What is made of the next characters at this level, wherever fresh text may start in them."""
        measure, limit, characters = self._measure, self._limit, self._characters
        levels = [each for each in self._levels[: frame.level + 1] if isinstance(each, _FEW_CUTS)]
        # What fits whole needs no cuts, and they are found only where they are asked about.
        if len(levels) <= frame.level or measure.reach(fresh, limit) >= end:
            return _nothing_ahead(fresh, end)
        *coarser, level = levels
        high = level.behind(fresh, _CUTS_AHEAD, end)
        places = self._places(coarser, level, fresh, high)
        if not len(places):
            return _nothing_ahead(fresh, high)
        ends = np.full(len(places), end)
        for each in coarser:
            found = each.firsts(places, ends)
            ends = np.where(found == NONE, ends, found)
        # White space behind the last token is trimmed and takes no room.
        reach = characters.next_solid(measure.reaches(places, limit))
        last = level.lasts(places, reach)
        too_large = (reach < ends) & (last == NONE)
        after = level.firsts(places, ends)
        after = np.where(after == NONE, ends, after)
        deeper = np.zeros(len(places) + 1, dtype=np.int64)
        if self._nested:
            large = np.flatnonzero(too_large)
            deeper[large] = self._next_levels(frame.level, places[large], after[large])
        starts = earliest = ends_before = places
        if self._overlap_from is not None:
            ends_before = characters.behind_solid(places)
            room = measure.backs(characters.behind_solid(after), limit)
            earliest = np.maximum(np.maximum(self._overlap_from.each(places), frame.floor), room)
            starts = self._repeated_from(frame.level, earliest, ends_before, places, after)
            reach = characters.next_solid(measure.reaches(starts, limit))
            last = level.lasts(places, reach)
        cut = np.where(reach >= ends, ends, last)
        stops = characters.behind_solid(cut)
        goes_on = np.minimum(characters.next_solid(np.maximum(cut, 0)), end)
        fits = (cut != NONE) & ~too_large
        edges = np.stack((starts, stops, ends_before, goes_on))
        kept = self._graphemes.keep(np.sort(edges, axis=None))
        if len(kept) < edges.size:
            fits &= np.isin(edges, kept, kind="sort").all(axis=0)
        made, sizes = np.flatnonzero(fits), np.zeros(len(places), dtype=np.int64)
        sizes[made] = measure.counts(starts[made], stops[made])
        fits &= sizes <= limit
        following = places.searchsorted(goes_on)
        following[places.take(following, mode="clip") != goes_on] = len(places)
        return _ChunksAhead(
            fresh, max(high, fresh + 1), places.data, ends.data, after.data, deeper.data, earliest.data,
            ends_before.data, starts.data, stops.data, sizes.data, goes_on.data, following.data,
            np.append(fits, False).data,
        )  # fmt: skip

    def _places(self, coarser: Sequence[ManyCuts], level: ManyCuts, low: int, high: int) -> Places:
        """Where fresh text of a level may start: in the pieces of coarser ones that are too large by themselves."""
        measure, limit, next_solid = self._measure, self._limit, self._characters.next_solid
        bounds = merge_sorted(np.array([low, high]), *(each.within(low, high) for each in coarser))
        starts = next_solid(bounds[:-1])
        large = measure.reaches(starts, limit) < bounds[1:]
        tokens = np.diff(measure.befores(bounds))[large].sum()
        cuts = level.within(low, high)
        cuts = cuts[large[bounds.searchsorted(cuts, "right") - 1]]
        places = merge_sorted(starts[large], next_solid(cuts))
        worth = tokens * _PIECES_A_CHUNK >= limit * len(places)
        return places[(places < high) & worth]

    def _next_levels(self, number: int, fresh: Places, stops: Places) -> Places:
        """`_next_level` of each of many pieces."""
        found = np.full(len(fresh), len(self._levels) - 1)
        left = np.arange(len(fresh))
        for deeper in range(number + 1, len(self._levels) - 1):
            if not len(left):
                break
            level = self._levels[deeper]
            assert isinstance(level, ManyCuts)
            cuts = level.firsts(fresh[left], stops[left])
            found[left[cuts != NONE]] = deeper
            left = left[cuts == NONE]
        return found

    def _repeated_from(
        self, number: int, lows: Places, highs: Places, fresh: Places, after: Places
    ) -> Places:
        """The first of `overlap_starts` that leaves room for the next piece; the fresh text where none does."""
        starts = fresh.copy()
        left = np.flatnonzero(lows < highs)
        levels = self._levels[number:-1]
        if self._overlap_cuts is not None:
            levels = [self._overlap_cuts, *levels]
        for level in levels:
            assert isinstance(level, ManyCuts)
            tried = left
            places = lows[left] - 1
            for _ in range(TRIES):
                places = level.firsts(places, highs[tried])
                tried, places = tried[places != NONE], places[places != NONE]
                if not len(tried):
                    break
                reach = self._characters.next_solid(self._measure.reaches(places, self._limit))
                room = reach >= after[tried]
                starts[tried[room]] = places[room]
                tried, places = tried[~room], places[~room]
            left = left[starts[left] == fresh[left]]
            if not len(left):
                break
        return self._characters.next_solid(starts)


class FlatPacker(_PackerAhead):
    """The chunks a flat `Packer` makes, sooner."""

    def pack(self, start: int, end: int, floor: int | None = None) -> list[Piece]:
        if end - start <= _LONG_STRETCH:
            return super().pack(start, end, floor)
        # Tokens before cuts: to find them takes most, and the less else is held.
        self._measure.before(end)
        if not self._looks_ahead:
            return super().pack(start, end, floor)
        return self._pack_ahead(start, end, start if floor is None else floor)


class NestedPacker(_PackerAhead):
    """The chunks a nested `Packer` makes, sooner."""

    def pack(self, start: int, end: int, floor: int | None = None) -> list[Piece]:
        if end - start > _LONG_STRETCH and self._looks_ahead:
            return self._pack_ahead(start, end, start if floor is None else floor)
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
