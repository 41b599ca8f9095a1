"""Units of work to documents with their chunks: short ones at once, long ones segment by segment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.chunkers.chunk import ChunkOutcome, StrategyLike, cut_batch, under_id
from chunkwise.chunkers.long_text_segments import TextSegment, in_segments
from chunkwise.core import Document
from chunkwise.documents import InputItem, LoadOptions
from chunkwise.documents.long_texts import LongText, long_text
from chunkwise.documents.reading import EMPTY, SMALL
from chunkwise.documents.source import Source


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
