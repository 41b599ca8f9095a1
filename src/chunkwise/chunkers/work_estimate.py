"""How long documents will take, told by some of them: before a long run is begun, and for clusters of any size."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.wording import counted, time_words
from chunkwise.chunkers.chunk import Chunked, Further, StrategyLike, cut_batch, weight
from chunkwise.documents import InputItem, InputReader, Inputs, LoadOptions

_SAMPLE = 32
_SECONDS = 8.0
"""Of processor time that trying some takes at most; the first is tried in any case."""
_NAMES = 200_000
_LISTING = 20.0
"""Names, and seconds, after which the rest is not looked at."""
EFFICIENCY = 0.85
"""Of what cores could do by themselves: sending, waiting and writing take the rest."""


@dataclass(frozen=True, slots=True)
class WorkEstimate:
    """What there is to do, and how long one core was at some of it."""

    units: int
    """Files, and records of files that hold many."""
    size: int
    """About their bytes."""
    is_whole: bool
    """Whether all names were looked at."""
    tried: int
    tried_size: int
    core_seconds: float
    """Of those that were tried."""

    @property
    def seconds_on_a_core(self) -> float:
        """For all of them."""
        return self.core_seconds * self.size / max(1, self.tried_size)

    def seconds(self, cores: int) -> float:
        return self.seconds_on_a_core / cores / (EFFICIENCY if cores > 1 else 1.0)

    def words(self, cores: int, nodes: tuple[int, int] | None = None) -> str:
        """For so many cores, and for a cluster of `nodes` machines with so many cores each."""
        least = "" if self.is_whole else "at least "
        told = (
            f"{least}{counted(self.units, 'file')}, {self.size / 1e6:,.1f} MB; by {self.tried:,} of them: about "
            f"{time_words(self.seconds(cores))} on {counted(cores, 'core')}"
        )
        if nodes:
            count, each = nodes
            cluster = f"{counted(count, 'node')} of {counted(each, 'core')}"
            told += f"; about {time_words(self.seconds(count * each))} on {cluster}"
        return told


def estimate_work(
    source: Inputs,
    strategy: StrategyLike,
    options: LoadOptions | None = None,
    further: Further | None = None,
    *,
    seed: int = 0,
) -> WorkEstimate:
    """Reads, cuts and does `further` work on some documents, drawn at random, and keeps nothing of it."""
    options = options or LoadOptions()
    sample: list[InputItem] = []
    chance = random.Random(seed)
    units = size = 0
    is_whole = True
    began = time.monotonic()
    for unit in _readable(InputReader(source, options)):
        units, size = units + 1, size + weight(unit)
        if len(sample) < _SAMPLE:
            sample.append(unit)
        elif (place := chance.randrange(units)) < _SAMPLE:
            sample[place] = unit
        if units >= _NAMES or time.monotonic() - began > _LISTING:
            is_whole = False
            break
    tried, tried_size, seconds = 0, 0, 0.0
    for unit in sample:
        if not tried:
            _try(unit, strategy, options, further)  # what is loaded once is not counted
        before = time.process_time()
        _try(unit, strategy, options, further)
        seconds += time.process_time() - before
        tried, tried_size = tried + 1, tried_size + weight(unit)
        if seconds > _SECONDS:
            break
    return WorkEstimate(units, size, is_whole, tried, tried_size, seconds)


def _readable(reader: InputReader) -> Iterator[InputItem]:
    return (each for each in reader.units() if not isinstance(each, UnreadableDocument))


def _try(
    unit: InputItem, strategy: StrategyLike, options: LoadOptions, further: Further | None
) -> None:
    cut = [each for each in cut_batch(strategy, options, [unit]) if isinstance(each, Chunked)]
    if further is not None and cut:
        further(cut)
