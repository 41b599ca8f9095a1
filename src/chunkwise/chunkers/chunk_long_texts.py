"""Texts longer than memory should hold, cut segment by segment.

A segment is read and cut, and ends before the last chunk that begins with a heading, else with prose, far enough from
its end that nothing behind decides about the chunks before: the next segment begins with that chunk.

What is a heading in plain text is judged by all its lines, here by those of a segment: numbers and widths of the whole
are not known, so that sections, and chunks that end with them, may be others than those of the text in one piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
from chunkwise.base.garbage_collection import uncollected
from chunkwise.chunkers import Strategy
from chunkwise.chunkers.chunk import Chunked, ChunkOutcome
from chunkwise.chunkers.write_chunks import SegmentPlace
from chunkwise.core import Chunk, Document
from chunkwise.documents import LoadOptions
from chunkwise.documents.long_texts import long_text
from chunkwise.documents.reading import EMPTY
from chunkwise.documents.source import Source
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.sections import HeadingAbove


@dataclass(frozen=True, slots=True)
class SegmentSizes:
    """In characters."""

    segment: int = 4 << 20
    tail: int = 1 << 17
    """Further than anything that decides about a cut looks ahead: nothing this close to the end of what was read is
    relied on."""


_USUAL = SegmentSizes()
_CHUNKS_A_TAIL = 4
_TAILS_A_SEGMENT = 8


def segments_of(strategy: Strategy, options: LoadOptions, source: Source) -> Iterator[ChunkOutcome]:
    """A long text in segments with chunks; nothing: it is to be read as a whole."""
    if not strategy.in_segments:
        return
    with long_text(source, options) as texts:
        if texts is None:
            return
        is_begun = False
        try:
            for segment in in_segments(texts.document, texts.read(), strategy):
                if segment.chunks:
                    is_begun = True
                    yield segment
                del segment  # before the next one is made
        except UnreadableDocument as problem:
            if is_begun:  # what was handed out cannot be taken back
                raise ChunkwiseError(
                    f"{problem}, after its first chunks were written; run again, or leave it out"
                ) from problem
            yield problem
            return
        if not is_begun:
            yield UnreadableDocument(source.origin, EMPTY)


def in_segments(
    document: Document, text: Iterable[str], strategy: Strategy, sizes: SegmentSizes = _USUAL
) -> Iterator[Chunked]:
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
            yield Chunked(analyzed.document, chunks, analyzed, place=place)
            return
        longest = max((chunk.end - chunk.start for chunk in chunks), default=0)
        tail = max(sizes.tail, _CHUNKS_A_TAIL * longest)
        if wanted < _TAILS_A_SEGMENT * tail:
            wanted = _TAILS_A_SEGMENT * tail
            continue
        number = _seam(analyzed, chunks, len(rest) - 2 * tail)
        begin = chunks[number].start if number < len(chunks) else len(rest)
        above = analyzed.sections.above(begin)
        segment = Chunked(analyzed.document, chunks[:number], analyzed, place=place, until=begin)
        del analyzed, chunks  # whoever is given them lets go of them before the next are made
        yield segment
        del segment
        place = SegmentPlace(place.characters + begin, place.chunks + number)
        rest, wanted = rest[begin:], sizes.segment


class _Reader:
    """Exactly as many characters as are wanted, however they come: a text is parted at the same places each time."""

    def __init__(self, text: Iterable[str]) -> None:
        self._parts = iter(text)
        self._left = ""

    def read(self, count: int) -> str:
        """Fewer than wanted: the text ends."""
        texts, size = [self._left], len(self._left)
        while size < count and (part := next(self._parts, None)) is not None:
            texts.append(part)
            size += len(part)
        text = "".join(texts)
        self._left = text[max(count, 0) :]
        return text[: max(count, 0)]


def _seam(analyzed: Analyzed, chunks: Sequence[Chunk], most: int) -> int:
    """The last chunk up to here that begins with a heading, else an item or a paragraph, else in prose, else anywhere.

    All are taken where none begins in the second half.
    """
    likely = [number for number, chunk in enumerate(chunks) if most // 2 < chunk.start <= most]
    if not likely:
        return len(chunks)
    begin, blocks = np.array([chunks[number].start for number in likely]), analyzed.blocks
    prose = np.vstack([np.zeros((1, 2), np.int64), blocks.spans("paragraph")])
    is_in_prose = begin < prose[prose[:, 0].searchsorted(begin, "right") - 1, 1]
    begins = [np.isin(begin, blocks.start[blocks.of(kind)]) for kind in ("heading", "item")]
    fit = np.select([*begins, np.isin(begin, prose[:, 0]), is_in_prose], [3, 2, 2, 1])
    return likely[int((fit == fit.max()).nonzero()[0][-1])]
