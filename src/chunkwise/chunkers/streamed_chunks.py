"""Files in, chunks out for whoever writes them as they come: a long text is never in memory as a whole.

The chunks are those of a data set: a text that is cut in segments is cut so by one process, by several and by a
cluster. A worker hands over the segments of a long text one by one; they lie in a file of this machine until it is
their turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Literal, NamedTuple

from chunkwise.base.atomic_files import scratch_folder
from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
from chunkwise.base.workers import Jobs, WorkerGroup, begin_workers, check_jobs
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk import (
    Chunked,
    ChunkOutcome,
    StrategyLike,
    batches,
    check_can_travel,
    cut_batch,
    cut_in_this_process,
    surviving,
    under_id,
    warn_of_unparsed,
)
from chunkwise.chunkers.contextual import with_headings
from chunkwise.chunkers.cut_in_segments import LostHalfwayError, cut_units, may_be_long
from chunkwise.chunkers.laid_down_documents import begin_laying_down
from chunkwise.chunkers.long_text_segments import TextSegment
from chunkwise.documents import InputItem, InputReader, Inputs, LoadOptions
from chunkwise.documents.source import Source

Context = Literal["none", "headings"]


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
                pieces = begin_laying_down(workers, _Cutting.one_by_one, unit, folder)
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
