"""Files in, chunks out for whoever writes them as they come: a long text is never in memory as a whole.

The chunks are those of a data set: a text that is cut in segments is cut so by one process, by several and by a
cluster. A process of this machine lays the segments of a long text into a file, which is read in its turn; what a
cluster would have to send over a network as a whole is cut here.
"""

from __future__ import annotations

import pickle
import secrets
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

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
from chunkwise.chunkers.long_text_segments import TextSegment
from chunkwise.core import Document
from chunkwise.documents import InputItem, InputReader, Inputs, LoadOptions
from chunkwise.documents.source import Source

Context = Literal["none", "headings"]


class _LaidDown(NamedTuple):
    """A long text whose segments lie in a file."""

    document: Document
    path: Path

    def segments(self, id: str) -> Iterator[TextSegment]:
        with self.path.open("rb") as file:
            self.path.unlink()
            while (found := _next_of(file)) is not None:
                yield found.under_id(id)
                del found  # before the next one is read


def _next_of(file: BinaryIO) -> TextSegment | None:
    try:
        found: TextSegment = pickle.load(file)  # what a process of ours wrote
    except EOFError:
        return None
    return found


_Cut = ChunkOutcome | _LaidDown


@dataclass(frozen=True, slots=True)
class _Cutting:
    """What a worker does: sent to each once."""

    strategy: StrategyLike
    options: LoadOptions
    context: Context
    folder: Path | None
    """Where segments are laid down; None: no long text is sent."""

    def __call__(self, batch: list[InputItem]) -> list[_Cut]:
        made, found = get_strategy(self.strategy), list[_Cut]()
        for is_long, units in groupby(batch, partial(may_be_long, made)):
            if is_long:
                found += chain.from_iterable(map(self._laid_down, units))
            else:
                outcomes = cut_batch(self.strategy, self.options, list(units))
                found += [_headed(each, self.context) for each in outcomes]
        return found

    def _laid_down(self, unit: InputItem) -> Iterator[_Cut]:
        assert self.folder is not None
        for cut in cut_units(self.strategy, self.options, [unit]):
            if isinstance(cut, UnreadableDocument):
                yield cut
                continue
            path = self.folder / secrets.token_hex(8)
            try:
                with path.open("xb") as file:
                    for segment in cut.segments(cut.document.id):
                        if not segment.chunks:
                            continue
                        _headed(segment.chunked, self.context)
                        pickle.dump(segment, file)
                        del segment  # before the next one is made
            except LostHalfwayError as lost:
                path.unlink()
                yield _problem(lost, unit)
                continue
            yield _LaidDown(cut.document, path)


def _headed(outcome: ChunkOutcome, context: Context) -> ChunkOutcome:
    if context == "headings" and isinstance(outcome, Chunked):
        outcome.chunks = with_headings(outcome.chunks, outcome.analyzed)
    return outcome


def _problem(lost: LostHalfwayError, unit: InputItem) -> UnreadableDocument:
    ((problem,),) = lost.left_out_of([[unit]])
    assert isinstance(problem, UnreadableDocument)
    return problem


SegmentOutcome = TextSegment | UnreadableDocument


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
            folder = stack.enter_context(scratch_folder()) if isinstance(jobs, int) else None
            cutting = _Cutting(self._strategy, sent, self._context, folder)
            workers = begin_workers(jobs, cutting, "read and cut")
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
        self,
        workers: WorkerGroup[list[InputItem], list[_Cut]],
        batch: list[InputItem],
        folder: Path | None,
    ) -> Iterator[Callable[[], Iterator[SegmentOutcome]]]:
        """One with which a batch is full is its last."""
        long = batch.pop() if folder is None and self._may_be_long(batch[-1]) else None
        if batch:
            yield partial(self._results, workers, batch, workers.submit(batch))
        if long is not None:
            yield partial(self._long_here, long)

    def _results(
        self,
        workers: WorkerGroup[list[InputItem], list[_Cut]],
        batch: list[InputItem],
        future: Future[list[_Cut]],
    ) -> Iterator[SegmentOutcome]:
        for outcome in surviving(workers, batch, future):
            yield from self._named(outcome)
            del outcome

    def _named(self, outcome: _Cut) -> Iterator[SegmentOutcome]:
        """Under an id that no other document has."""
        if isinstance(outcome, UnreadableDocument):
            yield outcome
        elif isinstance(outcome, Chunked):
            self._unparsed += outcome.unparsed
            id = self._reader.own_id(outcome.document)
            yield TextSegment.whole(under_id(outcome, id))
        else:
            yield from outcome.segments(self._reader.own_id(outcome.document))

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
