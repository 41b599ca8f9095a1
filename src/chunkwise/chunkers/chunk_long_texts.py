"""Texts longer than memory should hold, cut segment by segment into the chunks they have as a whole, and handed out so.

A strategy that fills chunks from the left knows nothing, where one begins, but what stands behind that place. So a
segment is cut, its last chunks are left, and the next segment begins with one of them: the first from which a trial
goes on as the segment before does. Where the beginnings of several chunks fail that trial, more is read; after four
times as much the text is parted where a block begins, and its chunks may be others from there on.

What is a heading in plain text is judged by all its lines, here by those of a segment: numbers and widths of the whole
are not known, so that sections, and chunks that end with them, may be others than those of the text in one piece.

Who writes chunks as they come has them by one process, by several and by a cluster alike. A worker hands over the
segments of a long text one by one; they lie in a file of this machine until it is their turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from chunkwise.base.atomic_files import scratch_folder
from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
from chunkwise.base.garbage_collection import uncollected
from chunkwise.base.workers import Jobs, WorkerGroup, begin_workers, check_jobs
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.chunkers.chunk import (
    Chunked,
    ChunkOutcome,
    StrategyLike,
    batches,
    begin_long_document,
    check_can_travel,
    cut_batch,
    cut_in_this_process,
    surviving,
    under_id,
    warn_of_unparsed,
)
from chunkwise.chunkers.context_from_headings import with_headings
from chunkwise.chunkers.write_chunks import SegmentPlace
from chunkwise.core import Chunk, Document
from chunkwise.documents import InputItem, InputReader, Inputs, LoadOptions
from chunkwise.documents.long_texts import LongText, long_text
from chunkwise.documents.reading import EMPTY, SMALL
from chunkwise.documents.source import Source
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.sections import HeadingAbove

Context = Literal["none", "headings"]


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


class CutDocument(NamedTuple):
    """A document, and its chunks, as many at a time as are there, under the id that it is given."""

    document: Document
    segments: Callable[[str], Iterable[TextSegment]]


class LostHalfwayError(Exception):
    """A document turned out to be unreadable when some of its chunks had been handed out already."""

    def __init__(self, unit: Source, problem: UnreadableDocument) -> None:
        super().__init__(str(problem))
        self._unit, self._problem = unit, problem

    def left_out_of(self, batches: list[list[InputItem]]) -> list[list[InputItem]]:
        """The problem in the place of the document."""
        return [
            [self._problem if each is self._unit else each for each in batch] for batch in batches
        ]


def cut_units(
    strategy: StrategyLike, options: LoadOptions, batch: list[InputItem]
) -> Iterator[CutDocument | UnreadableDocument]:
    """Every document of a batch, and what could not be read; each is to be used before the next is asked for."""
    made = get_strategy(strategy)
    for is_long, units in groupby(batch, partial(may_be_long, made)):
        if not is_long:
            yield from map(_at_once, cut_batch(strategy, options, list(units)))
            continue
        for unit in units:
            assert isinstance(unit, Source)
            yield from _cut_long(unit, made, options)


def may_be_long(strategy: Strategy, unit: InputItem) -> bool:
    """Whether it is worth trying to cut it segment by segment."""
    return strategy.in_segments and isinstance(unit, Source) and unit.size > SMALL


def _at_once(outcome: ChunkOutcome) -> CutDocument | UnreadableDocument:
    if isinstance(outcome, UnreadableDocument):
        return outcome

    def segments(id: str) -> Iterator[TextSegment]:
        yield TextSegment.whole(under_id(outcome, id))

    return CutDocument(outcome.document, segments)


def _cut_long(
    unit: Source, strategy: Strategy, options: LoadOptions
) -> Iterator[CutDocument | UnreadableDocument]:
    try:
        with long_text(unit, options) as found:
            if found is not None:
                yield CutDocument(found.document, partial(_segments, unit, found, strategy))
                return
    except UnreadableDocument as error:
        yield error
        return
    yield from map(_at_once, cut_batch(strategy, options, [unit]))


def _segments(unit: Source, found: LongText, strategy: Strategy, id: str) -> Iterator[TextSegment]:
    chunks = 0
    try:
        for segment in in_segments(replace(found.document, id=id), found.read(), strategy):
            chunks += len(segment.chunks)
            yield segment
            del segment  # before the next one is made
        if not chunks:
            raise UnreadableDocument(unit.origin, EMPTY)
    except UnreadableDocument as error:
        raise LostHalfwayError(unit, error) from error


class _DocumentSegment(NamedTuple):
    """A segment with the number of its document among those of a file."""

    document: int
    segment: TextSegment


@dataclass(frozen=True, slots=True)
class _Cutting:
    """What a worker does: sent to each once."""

    strategy: StrategyLike
    options: LoadOptions
    context: Context

    def __call__(self, batch: list[InputItem]) -> list[ChunkOutcome]:
        outcomes = cut_batch(self.strategy, self.options, batch)
        return [_headed(each, self.context) for each in outcomes]

    def one_by_one(self, unit: InputItem) -> Iterator[_DocumentSegment | UnreadableDocument]:
        """The segments of a long text; a problem halfway is one of the whole."""
        for number, cut in enumerate(cut_units(self.strategy, self.options, [unit])):
            if isinstance(cut, UnreadableDocument):
                yield cut
                continue
            try:
                for segment in cut.segments(cut.document.id):
                    if not segment.chunks:
                        continue
                    _headed(segment.chunked, self.context)
                    yield _DocumentSegment(number, segment)
                    del segment  # before the next one is made
            except LostHalfwayError as lost:
                raise _problem(lost, unit) from lost


def _headed(outcome: ChunkOutcome, context: Context) -> ChunkOutcome:
    if context == "headings" and isinstance(outcome, Chunked):
        outcome.chunks = with_headings(outcome.chunks, outcome.analyzed)
    return outcome


def _problem(lost: LostHalfwayError, unit: InputItem) -> UnreadableDocument:
    ((problem,),) = lost.left_out_of([[unit]])
    assert isinstance(problem, UnreadableDocument)
    return problem


SegmentOutcome = TextSegment | UnreadableDocument
_Workers = WorkerGroup[list[InputItem], list[ChunkOutcome]]


def chunk_segments(
    source: Inputs,
    strategy: StrategyLike,
    *,
    options: LoadOptions,
    jobs: Jobs = 1,
    context: Context = "none",
) -> Generator[SegmentOutcome, None, None]:
    """Every document in the order of the inputs, long ones segment by segment, and what could not be read.

    To be closed by who does not take all: other processes are at work.
    """
    made = get_strategy(strategy)
    check_jobs(jobs)
    reader = InputReader(source, options)
    run = _SegmentRun(strategy, options, context, reader)
    units = reader.units()
    if jobs == 1 or made.asks_a_model:
        return run.here(units)
    check_can_travel(strategy)
    first = list(islice(units, 2))
    if len(first) < 2:  # another process would send it back with all its chunks
        return run.here(iter(first))
    return run.by_workers(chain(first, units), jobs)


class _SegmentRun:
    def __init__(
        self, strategy: StrategyLike, options: LoadOptions, context: Context, reader: InputReader
    ) -> None:
        self._strategy, self._options, self._context = strategy, options, context
        self._reader = reader
        self._may_be_long = partial(may_be_long, get_strategy(strategy))
        self._unparsed = 0

    def here(self, units: Iterator[InputItem]) -> Generator[SegmentOutcome, None, None]:
        for is_long, some in groupby(units, self._may_be_long):
            if is_long:
                for unit in some:
                    yield from self._long_here(unit)
            else:
                for outcome in cut_in_this_process(some, self._strategy, self._options):
                    yield from self._named(_headed(outcome, self._context))
                    del outcome
        warn_of_unparsed(self._unparsed)

    def by_workers(
        self, units: Iterator[InputItem], jobs: Jobs
    ) -> Generator[SegmentOutcome, None, None]:
        waiting: deque[Callable[[], Iterator[SegmentOutcome]]] = deque()
        # Told here, and perhaps unfit to travel.
        sent = replace(self._options, on_passed_over=None, on_renamed=None)
        with ExitStack() as stack:
            folder = stack.enter_context(scratch_folder())
            cutting = _Cutting(self._strategy, sent, self._context)
            workers: _Workers = begin_workers(jobs, cutting, "read and cut")
            # Stopped, or nobody wants the rest: a long document must not keep the caller waiting.
            stack.callback(workers.stop)
            for batch in batches(units):
                waiting += self._begun(workers, batch, folder)
                while len(waiting) >= workers.at_once:
                    yield from waiting.popleft()()
            while waiting:
                yield from waiting.popleft()()
        warn_of_unparsed(self._unparsed)

    def _begun(
        self, workers: _Workers, batch: list[InputItem], folder: Path
    ) -> Iterator[Callable[[], Iterator[SegmentOutcome]]]:
        """The short ones of a batch together, each long one by itself."""
        for is_long, units in groupby(batch, self._may_be_long):
            if not is_long:
                some = list(units)
                yield partial(self._results, workers, some, workers.submit(some))
                continue
            for unit in units:
                assert isinstance(unit, Source)
                pieces = begin_long_document(workers, _Cutting.one_by_one, unit, folder)
                yield partial(self._segments, pieces)

    def _results(
        self, workers: _Workers, batch: list[InputItem], future: Future[list[ChunkOutcome]]
    ) -> Iterator[SegmentOutcome]:
        for outcome in surviving(workers, batch, future):
            yield from self._named(outcome)
            del outcome

    def _named(self, outcome: ChunkOutcome) -> Iterator[SegmentOutcome]:
        """Under an id that no other document has."""
        if isinstance(outcome, UnreadableDocument):
            yield outcome
        else:
            self._unparsed += outcome.unparsed
            id = self._reader.own_id(outcome.document)
            yield TextSegment.whole(under_id(outcome, id))

    def _segments(
        self, begun: Callable[[], Iterator[_DocumentSegment | UnreadableDocument]]
    ) -> Iterator[SegmentOutcome]:
        number, id = -1, ""
        for piece in begun():
            if isinstance(piece, UnreadableDocument):
                yield piece
                continue
            if piece.document != number:
                number, chunked = piece.document, piece.segment.chunked
                self._unparsed += chunked.unparsed
                id = self._reader.own_id(chunked.document)
            yield piece.segment.under_id(id)
            del piece  # before the next one is read

    def _long_here(self, unit: InputItem) -> Iterator[SegmentOutcome]:
        assert isinstance(unit, Source)
        for cut in cut_units(self._strategy, self._options, [unit]):
            if isinstance(cut, UnreadableDocument):
                yield cut
                continue
            is_begun = False
            try:
                for segment in cut.segments(self._reader.own_id(cut.document)):
                    if not segment.chunks:
                        continue
                    is_begun = True
                    _headed(segment.chunked, self._context)
                    yield segment
                    del segment
            except LostHalfwayError as lost:
                problem = _problem(lost, unit)
                if is_begun:  # what was handed out cannot be taken back
                    raise ChunkwiseError(
                        f"{problem}, when the first of its chunks had been written; run again, or leave it out"
                    ) from lost
                yield problem
