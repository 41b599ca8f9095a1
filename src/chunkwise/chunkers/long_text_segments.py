"""A text longer than memory should hold, cut segment by segment into the chunks that it has as a whole.

A strategy that fills chunks from the left knows nothing, where one begins, but what stands behind that place. So a
segment is cut, its last chunks are left, and the next segment begins with one of them: the first from which a trial
goes on as the segment before does. Where the beginnings of several chunks fail that trial, more is read; after four
times as much the text is parted where a block begins, and its chunks may be others from there on.

What is a heading in plain text is judged by all its lines, here by those of a segment: numbers and widths of the whole
are not known, so that sections, and chunks that end with them, may be others than those of the text in one piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from chunkwise.base.garbage_collection import uncollected
from chunkwise.chunkers import Strategy
from chunkwise.chunkers.chunk import Chunked, under_id
from chunkwise.chunkers.write_chunks import SegmentPlace
from chunkwise.core import Chunk, Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.sections import HeadingAbove


@dataclass(frozen=True, slots=True)
class SegmentSizes:
    """In characters."""

    segment: int = 4 << 20
    tail: int = 1 << 17
    """Further than anything that decides about a cut looks ahead: nothing this close to the end of what was read is
    relied on."""
    most: int = 4
    """Times as much may be read until a place is found at which the text can be parted."""
    trials: int = 8


_USUAL = SegmentSizes()
_CHUNKS_A_TAIL = 4
_TAILS_A_SEGMENT = 8
_TAILS_TRIED = 4


class TextSegment(NamedTuple):
    """A part of a text, or all of it, and those of the chunks that begin in it which begin in no later one.

    To be let go of before the next is asked for.
    """

    chunked: Chunked
    """Positions and numbers of its chunks are those of the segment."""
    place: SegmentPlace
    until: int
    """Where the next segment begins, in positions of this one; the end of its text where there is none."""

    @classmethod
    def whole(cls, chunked: Chunked) -> TextSegment:
        """A document in one piece."""
        return cls(chunked, SegmentPlace(), len(chunked.document.text))

    @property
    def chunks(self) -> list[Chunk]:
        return self.chunked.chunks

    @property
    def end(self) -> int:
        """Where the last of its chunks ends, perhaps in the segment behind it."""
        return max((chunk.end for chunk in self.chunks), default=0)

    @property
    def is_first(self) -> bool:
        """Of its document, where those without chunks, a blank beginning, are passed over."""
        return self.place.chunks == 0

    def under_id(self, id: str) -> TextSegment:
        return self._replace(chunked=under_id(self.chunked, id))


def in_segments(
    document: Document, text: Iterable[str], strategy: Strategy, sizes: SegmentSizes = _USUAL
) -> Iterator[TextSegment]:
    """The segments of a text, `document` being what is known of it; all of its chunks, in order."""
    source = _Reader(text)
    above: tuple[HeadingAbove, ...] = ()
    place, wanted, rest = SegmentPlace(), sizes.segment, ""
    while True:
        rest += source.read(wanted - len(rest))
        is_last = len(rest) < wanted
        analyzed = Analyzed(replace(document, text=rest), above=above)
        with uncollected():
            chunks = list(strategy.chunks(analyzed))
        if is_last:
            yield TextSegment(Chunked(analyzed.document, chunks, analyzed), place, len(rest))
            return
        longest = max((chunk.end - chunk.start for chunk in chunks), default=0)
        tail = max(sizes.tail, _CHUNKS_A_TAIL * longest)
        if wanted < _TAILS_A_SEGMENT * tail:
            wanted = _TAILS_A_SEGMENT * tail
            continue
        found = _Parting(strategy, analyzed, chunks, tail).chunk(sizes.trials)
        if found is None:
            if wanted < sizes.most * max(sizes.segment, _TAILS_A_SEGMENT * tail):
                wanted *= 2
                continue
            found = _at_a_block(analyzed, chunks, len(rest) - 2 * tail)
        begin = chunks[found].start if found < len(chunks) else len(rest)
        above = analyzed.sections.above(begin)
        cut = Chunked(analyzed.document, chunks[:found], analyzed)
        segment = TextSegment(cut, place, begin)
        del analyzed, chunks, cut  # whoever is given them lets go of them before the next are made
        yield segment
        del segment
        place = SegmentPlace(place.characters + begin, place.chunks + found)
        rest, wanted = rest[begin:], sizes.segment


class _Reader:
    """Exactly as many characters as are wanted, however they come: a text is parted at the same places each time."""

    def __init__(self, text: Iterable[str]) -> None:
        self._parts = iter(text)
        self._left = ""

    def read(self, count: int) -> str:
        """Fewer than wanted: the text ends."""
        found, size = [self._left], len(self._left)
        while size < count and (part := next(self._parts, None)) is not None:
            found.append(part)
            size += len(part)
        text = "".join(found)
        self._left = text[max(count, 0) :]
        return text[: max(count, 0)]


class _Parting:
    """Where a segment can end: at a chunk from which the next one goes on as this does."""

    def __init__(
        self, strategy: Strategy, analyzed: Analyzed, chunks: Sequence[Chunk], tail: int
    ) -> None:
        self._strategy, self._analyzed, self._chunks, self._tail = strategy, analyzed, chunks, tail

    def chunk(self, trials: int) -> int | None:
        """Its number; the later it begins the better."""
        for number in self._candidates():
            if trials == 0:
                return None
            if self._goes_on(number):
                return number
            trials -= 1
        return None

    def _candidates(self) -> Iterator[int]:
        """Chunks behind white space, where prose, a heading or an item begins or prose goes on."""
        analyzed, text = self._analyzed, self._analyzed.text
        blocks = analyzed.blocks
        first_of = {"heading": blocks.start[blocks.of("heading")]}
        first_of["item"] = blocks.start[blocks.of("item")]
        prose = blocks.spans("paragraph")
        for number in range(len(self._chunks) - 1, 0, -1):
            start = self._chunks[number].start
            if start > len(text) - 2 * self._tail:
                continue
            if start < len(text) // 2:
                return
            if text[start].isspace() or not text[start - 1].isspace():
                continue
            inside = int(prose[:, 0].searchsorted(start, "right")) - 1
            in_prose = inside >= 0 and start < prose[inside, 1]
            if in_prose or any(_holds(starts, start) for starts in first_of.values()):
                yield number

    def _goes_on(self, number: int) -> bool:
        """Whether the text from there on is cut as it is here."""
        begin = self._chunks[number].start
        tried = self._analyzed.text[begin : begin + _TAILS_TRIED * self._tail]
        document = replace(self._analyzed.document, text=tried)
        trial = Analyzed(document, above=self._analyzed.sections.above(begin))
        until = min(len(self._analyzed.text), begin + len(tried)) - self._tail
        here = [_said(each, begin) for each in self._chunks[number:] if each.end <= until]
        there = [
            _said(each, 0) for each in self._strategy.chunks(trial) if begin + each.end <= until
        ]
        return bool(here) and here == there


def _holds(places: np.ndarray[tuple[int], np.dtype[np.int64]], place: int) -> bool:
    at = int(places.searchsorted(place))
    return at < len(places) and int(places[at]) == place


def _said(chunk: Chunk, begin: int) -> tuple[object, ...]:
    """All that a row says of a chunk, with positions from `begin` on."""
    parent = chunk.parent and (chunk.parent.start - begin, chunk.parent.end - begin)
    start, end = chunk.start - begin, chunk.end - begin
    return start, end, chunk.token_count, chunk.context, parent, chunk.section


def _at_a_block(analyzed: Analyzed, chunks: Sequence[Chunk], most: int) -> int:
    """The last chunk up to here that begins where a block does; else the last one; else all are taken."""
    likely = [number for number, chunk in enumerate(chunks) if 0 < chunk.start <= most]
    starts = analyzed.blocks.start
    for number in reversed(likely):
        if _holds(starts, chunks[number].start):
            return number
    return likely[-1] if likely else len(chunks)
