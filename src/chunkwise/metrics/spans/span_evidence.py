"""What the measures of a run are computed from; whatever several of them need is found once."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.metric import Scores
from chunkwise.metrics.spans import chroma
from chunkwise.metrics.spans.budget_recall import first_hits
from chunkwise.metrics.spans.coverage import Coverage, coverage, ratio
from chunkwise.metrics.spans.ranking import JudgedRanking
from chunkwise.metrics.spans.relevance import (
    chunk_numbers,
    covered_references,
    listed_again,
    relevant_chunks,
    relevant_hits,
    repeated,
)
from chunkwise.metrics.spans.tables import Chunking, Gold, HitTable


class SpanEvidence:
    """Questions, their hits, and the index these come from where there is one."""

    def __init__(
        self, gold: Gold, found: HitTable, chunking: Chunking | None, threshold: float
    ) -> None:
        self.gold = gold
        self.found = found
        self.chunking = chunking
        self._threshold = threshold
        self._coverage: dict[int, Coverage] = {}
        self._sums: dict[int, chroma.Sums] = {}

    def coverage(self, k: int) -> Coverage:
        if k not in self._coverage:
            self._coverage[k] = coverage(self.gold, first_hits(self.found, k))
        return self._coverage[k]

    def chroma_sums(self, k: int) -> chroma.Sums:
        if k not in self._sums:
            self._sums[k] = chroma.sums(self.gold, first_hits(self.found, k))
        return self._sums[k]

    @cached_property
    def judged(self) -> JudgedRanking:
        """Every hit by itself, also one that was there before."""
        relevant = relevant_hits(self.gold, self.found, self._threshold)
        return JudgedRanking(self.found.first, relevant, self._relevant_in_index)

    @cached_property
    def ranking(self) -> JudgedRanking:
        """A hit that was there before is not found again: no score can be raised by repeating."""
        return replace(self.judged, relevant=self.judged.relevant & ~repeated(self.found))

    @cached_property
    def _relevant_in_index(self) -> NDArray[np.int64]:
        if self.chunking is None:
            return np.zeros(self.gold.questions, dtype=np.int64)
        asked, chunk = relevant_chunks(self.gold, self.chunking, self._threshold)
        # As a hit is, a chunk that is there twice is one.
        asked = asked[~listed_again(self.chunking)[chunk]]
        return np.bincount(asked, minlength=self.gold.questions)

    def context_recall(self, k: int) -> Scores:
        """References covered by the first k / references."""
        covered = covered_references(self.gold, first_hits(self.found, k))
        count = np.bincount(self.gold.question, minlength=self.gold.questions)
        return ratio(np.bincount(self.gold.question, covered, self.gold.questions), count)

    def precision_omega(self) -> Scores:
        if self.chunking is None:
            return np.full(self.gold.questions, np.nan)
        return chroma.precision_omega(self.gold, self.chunking)

    def without_ideal(self, k: int) -> NDArray[np.bool_]:
        """Questions whose first k hits cannot be held against the chunks of the index."""
        strange = (self._chunk < 0) & (self.found.hit_rank < k)
        counts = np.bincount(self.found.hit_question[strange], minlength=self.gold.questions)
        return (counts > 0) | (self.chunking is None)

    @cached_property
    def _chunk(self) -> NDArray[np.int64]:
        """Of each hit, the chunk of the index it is; -1: none."""
        if self.chunking is None:
            return np.full(int(self.found.first[-1]), -1)
        return chunk_numbers(self.found, self.chunking)

    @cached_property
    def without_references(self) -> NDArray[np.bool_]:
        return np.bincount(self.gold.question, minlength=self.gold.questions) == 0
