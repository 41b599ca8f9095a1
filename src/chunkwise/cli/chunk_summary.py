"""What a run of `chunkwise chunk` made: counts and sizes."""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.chunk import Chunked
from chunkwise.text.tokens.tokenizers import TokenizerLike


class Cutter(Protocol):
    """What made the chunks: a strategy, or whatever is known of it where the chunks were there before."""

    @property
    def label(self) -> str: ...
    @property
    def limit(self) -> tuple[TokenizerLike, int] | None: ...
    @property
    def unit(self) -> str: ...


class ChunkSummary:
    """Kept small whatever the corpus size: one number a chunk."""

    def __init__(self, strategy: Cutter) -> None:
        self.strategy = strategy
        self.skipped = 0
        self.documents = 0
        self._sizes: list[NDArray[np.int32]] = []
        self._chunks = 0
        self._began = time.monotonic()

    def add(self, chunked: Chunked) -> None:
        self.documents += 1
        self._sizes.append(
            np.array([chunk.token_count for chunk in chunked.chunks], dtype=np.int32)
        )
        self._chunks += len(chunked.chunks)

    @property
    def note(self) -> str:
        documents = f"{self.documents:,} document{'s' * (self.documents != 1)}"
        return f"{documents}, {self._chunks:,} chunk{'s' * (self._chunks != 1)}"

    def line(self) -> str:
        """Everything in one line."""
        parts = [self.note]
        if self._chunks:
            sizes = np.concatenate(self._sizes)
            low, middle, high = sizes.min(), np.median(sizes), sizes.max()
            parts.append(f"{self.strategy.unit} {low:,} least, {middle:,.0f} median, {high:,} most")
        return self.told(parts)

    def told(self, parts: list[str]) -> str:
        """These words behind what made the chunks, before what was skipped and how long all took."""
        skipped = [f"{self.skipped:,} skipped"] if self.skipped else []
        seconds = f"{time.monotonic() - self._began:.1f} s"
        return f"{self.strategy.label}: {'; '.join([*parts, *skipped, seconds])}"
