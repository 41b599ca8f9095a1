"""A metric over spans and ranks, and what it is computed from; whatever several of them need is found once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.metric import Metric, Scores
from chunkwise.metrics.span_tables import Chunking, Gold, HitTable
from chunkwise.metrics.spans.coverage import (
    Coverage,
    SpanPairs,
    Sums,
    coverage,
    covered_references,
    found_references,
    ratio,
    sums,
)
from chunkwise.metrics.spans.ranking import (
    ChunkRanking,
    JudgedRanking,
    chunk_ranking,
    listed_again,
    relevant_chunks,
    relevant_hits,
    repeated,
    seen_before,
)
from chunkwise.metrics.token_budget import first_hits


class SpanEvidence:
    """Questions, their hits, and the index these come from where there is one."""

    def __init__(
        self, gold: Gold, found: HitTable, chunking: Chunking | None, threshold: float
    ) -> None:
        self.gold = gold
        self.found = found
        # A chunk is a place; a summary is derived from chunks, and whoever finds one has found them.
        self.chunking = None if chunking is None else chunking.without_summaries
        self._threshold = threshold
        self._coverage: dict[int, Coverage] = {}
        self._sums: dict[int, Sums] = {}

    def coverage(self, k: int) -> Coverage:
        if k not in self._coverage:
            self._coverage[k] = coverage(self.gold, first_hits(self.found, k))
        return self._coverage[k]

    def chroma_sums(self, k: int) -> Sums:
        if k not in self._sums:
            self._sums[k] = sums(self.gold, first_hits(self.found, k))
        return self._sums[k]

    @cached_property
    def judged(self) -> JudgedRanking:
        """Every hit by itself, also one that was there before."""
        relevant = relevant_hits(self.gold, self.found, self._threshold)
        return JudgedRanking(self.found.first, relevant, np.zeros(self.gold.questions, np.int64))

    @cached_property
    def ranking(self) -> JudgedRanking:
        """A hit that was there before is not found again: no score can be raised by repeating."""
        return replace(self.judged, relevant=self.judged.relevant & ~repeated(self.found))

    @cached_property
    def chunk_ranking(self) -> JudgedRanking:
        """The chunks that were found, with how many there are to be found; of summaries, the chunks they stand for."""
        first, chunk = self._chunks
        asked, relevant = self._relevant_chunks
        count = 1 if self.chunking is None else len(self.chunking.start) + 1
        question = np.repeat(np.arange(self.gold.questions), np.diff(first))
        is_relevant = np.isin(question * count + chunk, asked * count + relevant) & (chunk >= 0)
        return JudgedRanking(
            first,
            is_relevant & ~seen_before(question, chunk),
            np.bincount(asked, minlength=self.gold.questions),
        )

    @cached_property
    def _relevant_chunks(self) -> SpanPairs:
        if self.chunking is None:
            return SpanPairs(np.empty(0, np.int64), np.empty(0, np.int64))
        asked, chunk = relevant_chunks(self.gold, self.chunking, self._threshold)
        # As a hit is, a chunk that is there twice is one.
        once = ~listed_again(self.chunking)[chunk]
        return SpanPairs(asked[once], chunk[once])

    @cached_property
    def _chunks(self) -> ChunkRanking:
        if self.chunking is None:
            return ChunkRanking(self.found.first, np.full(int(self.found.first[-1]), -1))
        return chunk_ranking(self.found, self.chunking)

    def context_recall(self, k: int) -> Scores:
        """References covered by the first k / references."""
        covered = covered_references(self.gold, first_hits(self.found, k))
        count = np.bincount(self.gold.question, minlength=self.gold.questions)
        return ratio(np.bincount(self.gold.question, covered, self.gold.questions), count)

    def all_found(self, k: int) -> Scores:
        """1 where no reference is missing among the first k."""
        held = found_references(self.gold, first_hits(self.found, k), self._threshold)
        missing = np.bincount(self.gold.question, ~held, self.gold.questions)
        return (missing == 0).astype(np.float64)

    def hop_found(self, k: int, *, last: bool) -> Scores:
        """1 where the first or the last reference of a question, as the question lists them, is among the first k."""
        held = found_references(self.gold, first_hits(self.found, k), self._threshold)
        result = np.zeros(self.gold.questions)
        # Rows are in order, and of several for one question the one written last stays.
        order = slice(None) if last else slice(None, None, -1)
        result[self.gold.question[order]] = held[order]
        return result

    def without_ideal(self, k: int) -> NDArray[np.bool_]:
        """Questions whose first k hits cannot be compared with the chunks of the index."""
        first, chunk = self._chunks
        question = np.repeat(np.arange(self.gold.questions), np.diff(first))
        strange = (chunk < 0) & (np.arange(len(chunk)) - first[question] < k)
        counts = np.bincount(question[strange], minlength=self.gold.questions)
        return (counts > 0) | (self.chunking is None)

    @cached_property
    def without_references(self) -> NDArray[np.bool_]:
        return np.bincount(self.gold.question, minlength=self.gold.questions) == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanMetric(Metric):
    """A metric over spans and ranks, computed from arrays: of thousands of questions at once, in a sweep as well."""

    formula: Callable[[SpanEvidence, int], Scores]
    """The scores of all questions within the first so many hits."""
    counts_hits: bool = False
    """Relevant hits are counted; the others measure lengths of text."""
    ideal: bool = False
    """Compared with all relevant chunks of the index, so hits must be chunks of it."""
