"""The one algorithm behind all strategies that fill chunks with pieces: greedy, exact, linear, many cuts at once."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.packing.cell_cuts import cells_of_like_size
from chunkwise.chunkers.packing.cuts import (
    NONE,
    ArrayCuts,
    CellCuts,
    CutLevel,
    GraphemeCuts,
    PagedCuts,
)
from chunkwise.chunkers.packing.overlap import TRIES, OverlapFrom, overlap_starts
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.characters import SPACE
from chunkwise.text.tokens.measure import TokenMeasure

_SOLID = re.compile(r"\S")
_DEEPEST_INDENT = 200
_SHORT_GAP = 4
"""White space behind most paragraphs; longer gaps are looked at one by one."""
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


class PackedStretch(NamedTuple):
    """A stretch being filled with pieces of one level."""

    end: int
    level: int
    floor: int
    """Overlap reaches back no further than this."""


def plain_pieces(
    starts: NDArray[np.int64], ends: NDArray[np.int64], sizes: NDArray[np.int64]
) -> Iterator[Piece]:
    """Pieces that are nothing but a span and its size, made without a call for each."""
    rest = map(repeat, (Piece._field_defaults[name] for name in Piece._fields[4:]))
    rows = zip(starts.tolist(), ends.tolist(), repeat(""), sizes.tolist(), *rest)
    return map(partial(tuple.__new__, Piece), rows)


class Packer:
    """Fills chunks up to a limit, cutting at the best level that has a cut within reach.

    Levels are ordered from the most to the least preferred cut; between graphemes is always the last.
    With `nested` a piece too large for its level is split by itself, and what is left of it is not
    filled up with the next piece, as recursive splitting does. Pieces of the first `apart` levels are
    never put together: a section is whole or divided, but not half of a chunk.
    """

    def __init__(
        self,
        document: Analyzed,
        measure: TokenMeasure,
        limit: int,
        levels: Sequence[CutLevel],
        *,
        nested: bool = False,
        apart: int = 0,
        overlap_from: OverlapFrom | None = None,
        overlap_cuts: CutLevel | None = None,
    ) -> None:
        self._text = document.text
        self._characters = document.characters
        self._graphemes = document.graphemes
        self._measure = measure
        self._limit = limit
        self._levels: list[CutLevel] = []
        for cuts in levels:
            if isinstance(cuts, CellCuts):
                self._levels.append(cells_of_like_size(document, measure, limit, overlap_from))
            self._levels.append(cuts)
        self._levels.append(GraphemeCuts(document.graphemes))
        self._nested = nested
        self._apart = apart
        # Code is read with its indentation: a chunk starts where its first line does.
        self._keeps_indent = document.document.format == "code"
        self._overlap_from = overlap_from
        self._overlap_cuts = overlap_cuts
        self._pieces: list[Piece] = []
        self._gap = (0, 0)

    def pack(self, start: int, end: int, floor: int | None = None) -> list[Piece]:
        """Chunks of one stretch that no chunk may leave, but for overlap down to `floor`."""
        done = len(self._pieces)
        frames = [PackedStretch(end, 0, start if floor is None else floor)]
        fresh = start
        while frames:
            frame = frames[-1]
            fresh = self._solid(fresh, end)
            if fresh >= frame.end:
                frames.pop()
                continue
            cut = self._next_chunk(frame, fresh)
            if cut != NONE:
                fresh = cut
            else:  # the next piece of this level is too large by itself
                stop = self._levels[frame.level].first(fresh, frame.end)
                stop = frame.end if stop == NONE else stop
                # Sections share nothing; paragraphs and what is smaller repeat each other's ends.
                floor = fresh if frame.level < self._apart else frame.floor
                frames.append(
                    PackedStretch(stop, self._next_level(frame.level, fresh, stop), floor)
                )
        return self._pieces[done:]

    def pack_each(self, starts: NDArray[np.int64], floors: NDArray[np.int64]) -> list[Piece]:
        """Chunks of all stretches that these starts part, each with its floor: what fits is taken whole."""
        pieces = self._pieces
        first = len(pieces)
        ends = np.append(starts[1:], len(self._text))
        stops, fits = self._whole(starts, ends, floors)
        sizes = self._measure.counts(starts[fits], stops[fits])
        fits[fits] = small = sizes <= self._limit
        whole = plain_pieces(starts[fits], stops[fits], sizes[small])
        done = 0
        for index in np.flatnonzero(~fits).tolist():
            pieces.extend(islice(whole, index - done))
            self.pack(int(starts[index]), int(ends[index]), int(floors[index]))
            done = index + 1
        pieces.extend(whole)
        return pieces[first:]

    def _whole(
        self, starts: NDArray[np.int64], ends: NDArray[np.int64], floors: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Where stretches end without white space, and which of them `pack` would take whole at once."""
        if self._keeps_indent or self._apart:
            return ends, np.zeros(len(ends), dtype=np.bool_)
        alone = floors >= starts if self._overlap_from is not None else True
        fits = alone & ~self._spaced(starts)
        stops = self._trimmed_each(starts, ends, np.flatnonzero(fits))
        fits &= self._measure.reaches(starts, self._limit) >= stops
        kept = self._graphemes.keep(stops)
        if len(kept) < len(stops):
            fits &= np.isin(stops, kept, kind="sort")
        return stops, fits

    def _trimmed_each(
        self, starts: NDArray[np.int64], ends: NDArray[np.int64], left: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """`_trimmed` of those of many stretches that are `left` to be, be it inside a grapheme."""
        stops = ends.copy()
        for _ in range(_SHORT_GAP):
            left = left[self._spaced(stops[left] - 1)]
            stops[left] -= 1
        for index in left[self._spaced(stops[left] - 1)].tolist():
            stops[index] = self._trimmed(int(starts[index]), int(stops[index]))
        return stops

    def _spaced(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        return self._characters.have(positions, SPACE)

    def _next_level(self, level: int, fresh: int, stop: int) -> int:
        """The next level that has a cut in this stretch; the last one always has."""
        level += 1
        while level + 1 < len(self._levels) and self._levels[level].first(fresh, stop) == NONE:
            level += 1
        return level

    def _next_chunk(self, frame: PackedStretch, fresh: int) -> int:
        """Emit a chunk that takes in text from `fresh` on; its end, or NONE if only a deeper level can."""
        last = len(self._levels) - 1
        reach = self._reach(fresh)
        for level in range(frame.level, frame.level + 1 if self._nested else last + 1):
            # What is repeated takes room: without it a chunk reaches as far as it ever does.
            is_short = reach < frame.end and level >= self._apart
            if is_short and self._levels[level].last(fresh, reach) == NONE:
                continue
            for start in self._starts(frame, level, fresh):
                cut = self._fill(level, start, fresh, frame.end)
                if cut != NONE:
                    return cut
        return self._force(fresh, frame.end) if level == last else NONE

    def _starts(self, frame: PackedStretch, level: int, fresh: int) -> Iterator[int]:
        """Where a chunk with fresh text may start, what repeats most of the one before first; at `fresh` last."""
        within = self._pieces and fresh > frame.floor and level >= self._apart
        if self._overlap_from is not None and within:
            # Starts increase: a chunk never takes in all of the one before it.
            before = self._pieces[-1]
            low = max(self._overlap_from(fresh), frame.floor, before.start + 1)
            # What is repeated leaves room for the next piece, which is whole.
            following = self._levels[level].first(fresh, frame.end)
            following = frame.end if following == NONE else following
            room = self._measure.back(self._trimmed(fresh, following), self._limit)
            levels = self._levels[level:-1]
            if self._overlap_cuts is not None:
                levels = [self._overlap_cuts, *levels]
            for start in overlap_starts(levels, max(low, room), before.end):
                if self._reach(start) >= following:
                    yield self._solid(start, fresh)
        yield fresh

    def _fill(self, level: int, start: int, fresh: int, end: int) -> int:
        """Emit the longest chunk from `start` that ends at a cut of this level and holds to the limit."""
        reach = self._reach(start)
        if level < self._apart:
            single = self._levels[level].first(fresh, end)
            end = end if single == NONE else single
            cut = end if reach >= end else NONE
        else:
            cut = end if reach >= end else self._levels[level].last(fresh, reach)
        tries = 0
        while cut != NONE:
            stop = self._trimmed(start, cut)
            size = self._measure.count(start, stop)
            if size <= self._limit:
                if self._keeps_indent:
                    start, size = self._indented(start, stop, size)
                self._emit(start, stop, size)
                return cut
            # The chunk's own tokens may be more than its share of the document's: give up the excess,
            # and from the fourth try on half of what is left, so that any tokenizer comes to an end.
            tries += 1
            excess = size - self._limit
            shorter = self._measure.reach(start, max(self._limit - excess * tries, 1))
            high = min(cut - 1, shorter if tries < 4 else fresh + (cut - fresh) // 2)
            cut = self._levels[level].last(fresh, high)
        return NONE

    def _reach(self, start: int) -> int:
        """How far a chunk may go: white space behind its last token is trimmed and takes no room."""
        return self._behind_gap(self._measure.reach(start, self._limit))

    def _behind_gap(self, position: int) -> int:
        low, high = self._gap  # looked through once, however long it is
        if low <= position < high:
            return high
        if position < len(self._text) and self._text[position].isspace():
            match = _SOLID.search(self._text, position)
            self._gap = position, match.start() if match else len(self._text)
            return self._gap[1]
        return position

    def _force(self, fresh: int, end: int) -> int:
        """One grapheme larger than the limit: nothing smaller can be cut."""
        cut = min(self._graphemes.ceil(fresh + 1), end)
        self._emit(fresh, cut, self._measure.count(fresh, cut))
        return cut

    def _indented(self, start: int, end: int, size: int) -> tuple[int, int]:
        """Start and size of the chunk with its first line's indentation, where that fits, too."""
        line = self._text.rfind("\n", max(start - _DEEPEST_INDENT, 0), start) + 1
        after = self._pieces[-1].start if self._pieces else -1
        if after < line < start and self._text[line:start].isspace():
            more = self._measure.count(line, end)
            if more <= self._limit:
                return line, more
        return start, size

    def _emit(self, start: int, end: int, size: int) -> None:
        self._pieces.append(Piece(start, end, "", size))

    def _solid(self, position: int, end: int) -> int:
        if position < end and not self._text[position].isspace():
            return position
        match = _SOLID.search(self._text, position, end)
        return self._graphemes.floor(match.start()) if match else end

    def _trimmed(self, start: int, end: int) -> int:
        text = self._text
        if not text[end - 1].isspace():
            return end
        end -= 2 if text[end - 2].isspace() else 1  # a blank line, a space
        if text[end - 1].isspace():  # more of it, and who knows how much
            end = start + len(text[start:end].rstrip())
        return self._graphemes.ceil(end)


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
