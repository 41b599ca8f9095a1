"""How long documents will take, told by some of them: before a long run is begun, and for clusters of any size."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter, UnreadableDocument
from chunkwise.base.wording import counted, megabytes, money_words, thousands, time_words
from chunkwise.chunkers.chunk import Chunked, Further, StrategyLike, cut_batch, weight
from chunkwise.core import Document
from chunkwise.documents import InputItem, InputReader, Inputs, LoadOptions
from chunkwise.documents.long_texts import long_text
from chunkwise.documents.reading import loaded
from chunkwise.documents.source import Source
from chunkwise.models.embed.embedder import AcceleratedEmbedder, Kind

_SAMPLE = 32
_SECONDS = 8.0
"""Of the clock that trying some takes at most; the first is tried in any case."""
_BEGINNING = 200_000
"""Characters of a text that are cut and embedded; a longer one takes as many times longer."""
_NAMES = 200_000
_LISTING = 20.0
"""Names, and seconds, after which the rest is not looked at."""
EFFICIENCY = 0.85
"""Of what cores could do by themselves: sending, waiting and writing take the rest."""
GPUS = {
    "T4": 8.1, "V100": 15.7, "A100": 19.5, "L4": 30.3, "A10": 31.2, "A10G": 31.2, "H100": 67.0, "H200": 67.0,
    "RTX4090": 82.6, "L40S": 91.6,
}  # fmt: skip
"""TFLOP/s in 32 bits, as their maker publishes them."""
_REACHED = 0.32
"""Of these, by models of three sizes on an H200 (docs/benchmarks/scale.md)."""
_FEEDING = 2.4e-6
"""Seconds of a core that an accelerator is fed with one token in: the same for the three."""


@dataclass(frozen=True, slots=True)
class EmbeddingWork:
    """What of the documents that were tried the embedder took: an accelerator could do that."""

    tokens: int
    weights: int
    core_seconds: float
    clock_seconds: float
    runs_on: str

    def seconds_on(self, gpu: str) -> float:
        """Of one accelerator of this kind."""
        return self.tokens * 2 * self.weights / (GPUS[gpu] * 1e12 * _REACHED)


class TimedEmbedder:
    """Notes how long its embedder is at it, and with how many tokens."""

    def __init__(self, embedder: AcceleratedEmbedder) -> None:
        self._embedder = embedder
        self.begin()

    def begin(self) -> None:
        """Forget what was."""
        self._core = self._clock = 0.0
        self.beside = 0.0
        """Seconds of the processor in threads of its own."""
        self._texts: list[tuple[list[str], float]] = []
        self.times = 1.0
        """How many times what is read now stands for."""

    @property
    def identity(self) -> str:
        return self._embedder.identity

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        core, own, clock = time.process_time(), time.thread_time(), time.perf_counter()
        found = self._embedder.embed(texts, kind)
        core, own = time.process_time() - core, time.thread_time() - own
        self._clock += (time.perf_counter() - clock) * self.times
        self._core += core * self.times
        self.beside += (core - own) * self.times
        self._texts.append((list(texts), self.times))
        return found

    def work(self) -> EmbeddingWork:
        """Since it began."""
        embedder = self._embedder
        tokens = round(sum(embedder.count_tokens(some) * times for some, times in self._texts))
        return EmbeddingWork(tokens, embedder.weights, self._core, self._clock, embedder.runs_on)  # fmt: skip


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
    embedding: EmbeddingWork | None = None
    """What of that an accelerator could do."""
    largest: int = 0
    """Bytes of the largest: one worker does it, however many there are."""

    @property
    def _all(self) -> float:
        """How many times what was tried."""
        return self.size / max(1, self.tried_size)

    @property
    def _of_the_largest(self) -> float:
        return self.largest / max(1, self.size)

    @property
    def seconds_on_a_core(self) -> float:
        """For all of them, but for what an accelerator does."""
        work = self.embedding
        beside = work.core_seconds if work and work.runs_on != "cpu" else 0.0
        return (self.core_seconds - beside) * self._all

    def seconds(self, cores: int, gpus: float = 1.0) -> float:
        """On so many cores, and accelerators where the embedder ran on one."""
        work = self.embedding
        reading = work.clock_seconds * self._all if work and work.runs_on != "cpu" else 0.0
        shared = (
            self.seconds_on_a_core / cores / (EFFICIENCY if cores > 1 else 1.0) + reading / gpus
        )
        return max(shared, (self.seconds_on_a_core + reading) * self._of_the_largest)

    def seconds_with(self, gpu: str, nodes: int, cores: int) -> float:
        """On machines of so many cores with one accelerator of this kind each."""
        work = self.embedding
        if work is None:
            raise InvalidParameter(
                "an accelerator reads nothing here: models that come by name run on processors; those of "
                "sentence-transformers run on accelerators, such as sentence-transformers:all-MiniLM-L6-v2"
            )
        cutting = self.core_seconds - work.core_seconds + work.tokens * _FEEDING
        reading = work.seconds_on(gpu)
        shared = (cutting / cores + reading) / nodes / EFFICIENCY
        return self._all * max(shared, (cutting + reading) * self._of_the_largest)

    def words(
        self, cores: int, nodes: tuple[int, int] | None = None, gpu: str | None = None, *,
        gpus: float = 1.0, price: float | None = None,
    ) -> str:  # fmt: skip
        """For so many cores, for a cluster of `nodes` machines with so many each, and for a `gpu` in each.

        `price` is what one of these machines costs an hour.
        """
        least = "" if self.is_whole else "at least "
        told = (
            f"{least}{counted(self.units, 'file')}, {megabytes(self.size)}; by {thousands(self.tried)} of them: about "
            f"{time_words(self.seconds(cores, gpus))} on {counted(cores, 'core')}"
        )
        if self.embedding and self.embedding.runs_on != "cpu":
            told += f" with {counted(int(gpus), 'accelerator')}"
        count, each = nodes or (1, cores)
        if nodes:
            seconds = self.seconds(count * each, count)
            cluster = f"{counted(count, 'node')} of {counted(each, 'core')}"
            if self.embedding and self.embedding.runs_on != "cpu":
                cluster += " with one accelerator as here" + (" each" if count > 1 else "")
            told += f"; about {time_words(seconds)} on {cluster}{_paid(seconds, count, price)}"
        if gpu:
            seconds = self.seconds_with(gpu, count, each)
            told += f"; about {time_words(seconds)} with one {gpu}{' each' if count > 1 else ''}"
            told += _paid(seconds, count, price)
        return told


def _paid(seconds: float, machines: int, price: float | None) -> str:
    if price is None:
        return ""
    return f" (about {money_words(machines * seconds / 3600 * price, 'dollars')})"


def estimate_work(
    source: Inputs,
    strategy: StrategyLike,
    options: LoadOptions | None = None,
    further: Further | None = None,
    *,
    embedder: TimedEmbedder | None = None,
    seed: int = 0,
) -> WorkEstimate:
    """Reads, cuts and does `further` work on some documents, drawn at random, and keeps nothing of it.

    `embedder` is the one that works there, where an accelerator could run it.
    """
    options = options or LoadOptions()
    sample: list[InputItem] = []
    chance = random.Random(seed)
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
            _seconds(
                unit, strategy, options, further, embedder
            )  # what is loaded once is not counted
            if embedder:
                embedder.begin()
        seconds += _seconds(unit, strategy, options, further, embedder)
        tried, tried_size = tried + 1, tried_size + weight(unit)
        if time.monotonic() - began > _SECONDS:
            break
    work = embedder.work() if embedder else None
    seconds += embedder.beside if embedder else 0.0
    return WorkEstimate(units, size, is_whole, tried, tried_size, seconds, work, largest)


def _readable(reader: InputReader) -> Iterator[InputItem]:
    return (each for each in reader.units() if not isinstance(each, UnreadableDocument))


def _seconds(
    unit: InputItem, strategy: StrategyLike, options: LoadOptions, further: Further | None,
    embedder: TimedEmbedder | None,
) -> float:  # fmt: skip
    """Of the processor, but for threads of the embedder's own."""
    # Threads of a model that has just been at work turn idly for a while: that is not the time of cutting.
    now = time.thread_time if embedder else time.process_time
    before = now()
    documents = list(_documents(unit, options))
    seconds = now() - before
    for document, times in documents:
        if embedder:
            embedder.times = times
        before = now()
        cut = [
            each for each in cut_batch(strategy, options, [document]) if isinstance(each, Chunked)
        ]
        if further is not None and cut:
            further(cut)
        seconds += (now() - before) * times
    return seconds


def _documents(unit: InputItem, options: LoadOptions) -> Iterator[tuple[Document, float]]:
    """Those of a unit, of long ones the beginning, and how many times that it is."""
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
    blocks = document.blocks and tuple(each for each in document.blocks if each.end <= _BEGINNING)
    text = document.text[:_BEGINNING]
    part = replace(document, text=text, blocks=blocks, pages=(), boxes=None, links=())
    return part, length / _BEGINNING
