"""The one algorithm behind all strategies that fill chunks with pieces: greedy, exact, linear."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.packing.cuts import NONE, CutLevel, GraphemeCuts
from chunkwise.chunkers.packing.overlap import OverlapFrom, overlap_starts
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.characters import SPACE
from chunkwise.text.graphemes import FIRST_MARK
from chunkwise.text.tokens.measure import TokenMeasure

_SOLID = re.compile(r"\S")
_DEEPEST_INDENT = 200
_SHORT_GAP = 4
"""White space behind most paragraphs; longer gaps are looked at one by one."""

Places = NDArray[np.int64]
FindLevels = Callable[[Analyzed], Sequence[CutLevel]]


class PackedStretch(NamedTuple):
    """A stretch being filled with pieces of one level."""

    end: int
    level: int
    floor: int
    """Overlap reaches back no further than this."""
    outer: PackedStretch | None = None
    """What it is a piece of."""


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
        find_levels: FindLevels,
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
        self._document = document
        self._find_levels = find_levels
        self._nested = nested
        self._apart = apart
        # Code is read with its indentation: a chunk starts where its first line does.
        self._keeps_indent = document.document.format == "code"
        self._overlap_from = overlap_from
        self._overlap_cuts = overlap_cuts
        self._pieces: list[Piece] = []
        self._gap = (0, 0)

    @cached_property
    def _levels(self) -> list[CutLevel]:
        """Found when they are first asked about: a text that fits in a chunk has no need of them."""
        return [*self._find_levels(self._document), GraphemeCuts(self._graphemes)]

    def pack(self, start: int, end: int, floor: int | None = None) -> list[Piece]:
        """Chunks of one stretch that no chunk may leave, but for overlap down to `floor`."""
        text, pieces, limit = self._text, self._pieces, self._limit
        reach_from, count = self._measure.reach, self._measure.count
        plain = self._overlap_from is None and not self._apart and not self._keeps_indent
        done = len(pieces)
        frame: PackedStretch | None = PackedStretch(end, 0, start if floor is None else floor)
        fresh = start
        while frame is not None:
            if fresh < end and text[fresh].isspace():
                fresh = self._solid(fresh, end)
            stop, level, _, outer = frame
            if fresh >= stop:
                frame = outer
                continue
            if plain:  # most chunks fit at the first try, which is made here: a call takes as long
                reach = reach_from(fresh, limit)
                if reach < stop and text[reach].isspace():
                    reach = self._reach(fresh)
                cut = stop if reach >= stop else self._levels[level].last(fresh, reach)
                if cut != NONE:
                    trimmed = cut if not text[cut - 1].isspace() else self._trimmed(fresh, cut)
                    size = count(fresh, trimmed)
                    if size <= limit:
                        pieces.append(Piece(fresh, trimmed, "", size))
                        fresh = cut
                        continue
                elif self._nested and level + 1 < len(self._levels):
                    frame = self._inside(frame, fresh)
                    continue
            cut = self._next_chunk(frame, fresh)
            if cut == NONE:
                frame = self._inside(frame, fresh)
            else:
                fresh = cut
        return pieces[done:]

    def _inside(self, frame: PackedStretch, fresh: int) -> PackedStretch:
        """The next piece of a stretch, too large by itself, to be filled by a deeper level."""
        stop = self._levels[frame.level].first(fresh, frame.end)
        stop = frame.end if stop == NONE else stop
        # Sections share nothing; paragraphs and what is smaller repeat each other's ends.
        floor = fresh if frame.level < self._apart else frame.floor
        return PackedStretch(stop, self._next_level(frame.level, fresh, stop), floor, frame)

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
        for index in (~fits).nonzero()[0].tolist():
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
        stops = self._trimmed_each(starts, ends, fits.nonzero()[0])
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
        end, level, floor, _ = frame
        repeats = self._overlap_from is not None and self._pieces and fresh > floor
        reach = self._reach(fresh)
        while True:
            # What is repeated takes room: without it a chunk reaches as far as it ever does.
            cut = self._cut(level, fresh, reach, end)
            if cut != NONE:
                for start in self._repeated(frame, level, fresh) if repeats else ():
                    shorter = self._cut(level, fresh, self._reach(start), end)
                    if (done := self._fill(level, start, fresh, shorter)) != NONE:
                        return done
                if (done := self._fill(level, fresh, fresh, cut)) != NONE:
                    return done
            if level + 1 == len(self._levels):
                return self._force(fresh, end)
            if self._nested:
                return NONE
            level += 1

    def _cut(self, level: int, fresh: int, reach: int, end: int) -> int:
        """The furthest cut of a level within reach; NONE if there is none."""
        if level < self._apart:
            single = self._levels[level].first(fresh, end)
            end = end if single == NONE else single
            return end if reach >= end else NONE
        return end if reach >= end else self._levels[level].last(fresh, reach)

    def _repeated(self, frame: PackedStretch, level: int, fresh: int) -> Iterator[int]:
        """Starts of a chunk that repeats the end of the one before, those that repeat most first."""
        if level < self._apart:
            return
        assert self._overlap_from is not None
        # Starts increase: a chunk never takes in all of the one before it.
        before = self._pieces[-1]
        low = max(self._overlap_from(fresh), frame.floor, before.start + 1)
        levels = self._levels[level:-1]
        if self._overlap_cuts is not None:
            levels = [self._overlap_cuts, *levels]
        # What is repeated leaves room for the next piece, which is whole.
        following = self._levels[level].first(fresh, frame.end)
        following = frame.end if following == NONE else following
        most = next(overlap_starts(levels, low, before.end), fresh)
        # Where there is room to spare, as for most, it is not looked for.
        spare = most < fresh and self._measure.reach(most, self._limit - 1) >= following
        if spare:
            yield self._solid(most, fresh)
        room = self._measure.back(self._trimmed(fresh, following), self._limit)
        for start in overlap_starts(levels, max(low, room), before.end):
            if not (spare and start == most) and self._reach(start) >= following:
                yield self._solid(start, fresh)

    def _fill(self, level: int, start: int, fresh: int, cut: int) -> int:
        """Emit the longest chunk from `start` that ends at this cut of a level, or before, and holds to the limit."""
        tries = 0
        while cut != NONE:
            stop = cut if not self._text[cut - 1].isspace() else self._trimmed(start, cut)
            size = self._measure.count(start, stop)
            if size <= self._limit:
                if self._keeps_indent:
                    start, size = self._indented(start, stop, size)
                self._pieces.append(Piece(start, stop, "", size))
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
        position, text = self._measure.reach(start, self._limit), self._text
        if position < len(text) and text[position].isspace():
            low, high = self._gap  # looked through once, however long it is
            if not low <= position < high:
                solid = _SOLID.search(text, position)
                low, high = self._gap = position, solid.start() if solid else len(text)
            return high
        return position

    def _force(self, fresh: int, end: int) -> int:
        """One grapheme larger than the limit: nothing smaller can be cut."""
        cut = min(self._graphemes.ceil(fresh + 1), end)
        self._pieces.append(Piece(fresh, cut, "", self._measure.count(fresh, cut)))
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

    def _solid(self, position: int, end: int) -> int:
        """The first character from a position on that is no white space; the end where there is none."""
        text = self._text
        at = position + 1 if text[position].isspace() else position
        at += at < end and text[at].isspace()  # a blank line, a space
        if at >= end:
            return end
        if text[at].isspace():  # more of it, and who knows how much
            solid = _SOLID.search(text, at, end)
            if solid is None:
                return end
            at = solid.start()
        # Behind white space few characters can be joined to what precedes them.
        return at if text[at] < FIRST_MARK else self._graphemes.floor(at)

    def _trimmed(self, start: int, end: int) -> int:
        text = self._text
        if not text[end - 1].isspace():
            return end
        end -= 2 if text[end - 2].isspace() else 1  # a blank line, a space
        if text[end - 1].isspace():  # more of it, and who knows how much
            end = start + len(text[start:end].rstrip())
        # White space joins nothing but what few characters before it do.
        return end if text[end - 1] < FIRST_MARK else self._graphemes.ceil(end)
