"""Estimate how long documents take from a timed sample of them."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.wording import counted, format_number, thousands
from chunkwise.chunkers.chunk import CutPart, Further, StrategyLike, weight
from chunkwise.core import Document
from chunkwise.documents import InputItem, InputReader, Inputs, LoadOptions
from chunkwise.documents.long_texts import long_text
from chunkwise.documents.reading import loaded
from chunkwise.documents.source import Source

_SAMPLE = 32
_SECONDS = 8.0
"""Wall-clock limit for the sample; the first document is timed in any case."""
_BEGINNING = 200_000
"""Characters of a long text that are cut and embedded; the rest is extrapolated."""
_NAMES = 200_000
_LISTING = 20.0
"""Names, and seconds, after which the listing stops."""
_EFFICIENCY = 0.85
"""Of perfect speedup: sending, waiting and writing take the rest."""


@dataclass(frozen=True, slots=True)
class WorkEstimate:
    """How much there is to do, and the processor time of a sample."""

    units: int
    """Files, and records of files that hold many."""
    size: int
    """About their bytes."""
    is_whole: bool
    """Whether all names were listed."""
    tried: int
    tried_size: int
    core_seconds: float
    """Of the sample."""
    largest: int = 0
    """Bytes of the largest unit, which one worker does alone."""

    def seconds(self, cores: int) -> float:
        """On so many cores."""
        total = self.core_seconds * self.size / max(1, self.tried_size)
        shared = total / cores / (_EFFICIENCY if cores > 1 else 1.0)
        return max(shared, total * self.largest / max(1, self.size))

    def words(self, cores: int) -> str:
        """One line for so many cores."""
        least = "" if self.is_whole else "at least "
        return (
            f"{least}{counted(self.units, 'file')}, {format_number(self.size, 'bytes')}; "
            f"estimated from {thousands(self.tried)}: about "
            f"{format_number(self.seconds(cores), 'seconds')} on {counted(cores, 'core')}"
        )


def estimate_work(
    source: Inputs, strategy: StrategyLike, options: LoadOptions = LoadOptions(), further: Further | None = None
) -> WorkEstimate:  # fmt: skip
    """Read, cut and do `further` work on documents drawn at random, and keep nothing of it."""
    sample: list[InputItem] = []
    chance = random.Random(0)
    units = size = largest = 0
    is_whole = True
    began = time.monotonic()
    for unit in _readable(InputReader(source, options)):
        units, size = units + 1, size + weight(unit)
        largest = max(largest, weight(unit))
        if len(sample) < _SAMPLE:
            sample.append(unit)
        elif (place := chance.randrange(units)) < _SAMPLE:
            sample[place] = unit
        if units >= _NAMES or time.monotonic() - began > _LISTING:
            is_whole = False
            break
    tried, tried_size, seconds = 0, 0, 0.0
    began = time.monotonic()
    for unit in sample:
        if not tried:
            _time(unit, strategy, options, further)  # loads models, which is not counted
        seconds += _time(unit, strategy, options, further)
        tried, tried_size = tried + 1, tried_size + weight(unit)
        if time.monotonic() - began > _SECONDS:
            break
    return WorkEstimate(units, size, is_whole, tried, tried_size, seconds, largest)


def _readable(reader: InputReader) -> Iterator[InputItem]:
    return (unit for unit in reader.units() if not isinstance(unit, UnreadableDocument))


def _time(
    unit: InputItem, strategy: StrategyLike, options: LoadOptions, further: Further | None
) -> float:
    """Processor seconds of a unit."""
    before = time.process_time()
    documents = list(_documents(unit, options))
    seconds = time.process_time() - before
    for document, times in documents:
        before = time.process_time()
        deque(CutPart(strategy, options, further=further)([document]), maxlen=0)
        seconds += (time.process_time() - before) * times
    return seconds


def _documents(unit: InputItem, options: LoadOptions) -> Iterator[tuple[Document, float]]:
    """The documents of a unit, long ones cut off, each with the factor that makes up for it."""
    if isinstance(unit, Document):
        yield _beginning(unit)
    if not isinstance(unit, Source):
        return
    with long_text(unit, options) as long:
        if long is not None:
            text = next(long.read(), "")[:_BEGINNING]
            yield replace(long.document, text=text), unit.size / max(1, len(text))
            return
    for found in loaded(unit, options):
        if isinstance(found, Document):
            yield _beginning(found)


def _beginning(document: Document) -> tuple[Document, float]:
    length = len(document.text)
    if length <= _BEGINNING:
        return document, 1.0
    blocks = document.blocks and tuple(
        block for block in document.blocks if block.end <= _BEGINNING
    )
    text = document.text[:_BEGINNING]
    part = replace(document, text=text, blocks=blocks, pages=(), boxes=None, links=())
    return part, length / _BEGINNING
