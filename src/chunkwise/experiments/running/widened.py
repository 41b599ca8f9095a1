"""Ranked chunks with those around them, one hit where they touch, as a search with neighbours hands them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.experiments.running.ranked import Places
from chunkwise.metrics.spans.tables import Found
from chunkwise.retrieval.ranking import Ranking
from chunkwise.text.measure import Measure

_DEEPEST = 100_000
"""As deep as an evaluation looks."""
_Numbers = NDArray[np.int64]

Rank = Callable[[int], Sequence[Ranking]]
"""The best so many chunks of every question."""


class Widened:
    """The chunks of an index, each with so many on either side; no document's run into another's."""

    def __init__(self, places: Places, measures: Sequence[Measure], neighbours: int) -> None:
        """`places` are chunks."""
        self._measures = measures
        chunks = places.chunking
        number = np.arange(len(chunks.start))
        low = chunks.document.searchsorted(chunks.document)
        high = chunks.document.searchsorted(chunks.document, "right") - 1
        self._document = chunks.document
        start, end = chunks.start.copy(), chunks.end.copy()
        for step in range(1, neighbours + 1):
            before, behind = np.maximum(number - step, low), np.minimum(number + step, high)
            for other in (before, behind):
                start = np.minimum(start, chunks.start[other])
                end = np.maximum(end, chunks.end[other])
        self._start, self._end = start, end
        self._sizes: dict[tuple[int, int, int], int] = {}
        self._written = [_written(measure.text) for measure in measures]

    def found(self, rankings: Sequence[Ranking]) -> Found:
        """All of these, merged; each where its best chunk ranks."""
        counts = np.array([len(each.numbers) for each in rankings], np.int64)
        flat = np.concatenate([np.empty(0, np.int64), *(each.numbers for each in rankings)])
        question = np.repeat(np.arange(len(rankings)), counts)
        rank = np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts)
        document, start, end = self._document[flat], self._start[flat], self._end[flat]
        order = np.lexsort((start, document, question))
        question, rank, document, start, end = (
            column[order] for column in (question, rank, document, start, end)
        )
        opens = self._opens(question, document, start, end)
        first = np.flatnonzero(opens)
        if not len(first):
            return Found(np.zeros(len(rankings) + 1, np.int64), *(np.empty(0, np.int64),) * 4)
        last = np.maximum.reduceat(end, first)
        best = np.minimum.reduceat(rank, first)
        by_rank = first[order := np.lexsort((best, question[first]))]
        columns = document[by_rank], start[by_rank], last[order]
        sizes = np.bincount(question[first], minlength=len(rankings))
        bounds = np.concatenate(([0], np.cumsum(sizes)))
        return Found(bounds, *columns, self._tokens(*columns))

    def _opens(
        self, question: _Numbers, document: _Numbers, start: _Numbers, end: _Numbers
    ) -> NDArray[np.bool_]:
        """Which begin a hit of their own: those that neither overlap with what is before them nor follow upon space."""
        if not len(start):
            return np.zeros(0, np.bool_)
        other = np.ones(len(start), np.bool_)
        other[1:] = (question[1:] != question[:-1]) | (document[1:] != document[:-1])
        base = np.cumsum(other) * (1 + int(end.max()))
        reach = np.maximum.accumulate(end + base) - base
        opens = other.copy()
        apart = np.flatnonzero(~other[1:] & (start[1:] > reach[:-1])) + 1
        for number in np.unique(document[apart]).tolist():
            own = apart[document[apart] == number]
            written = self._written[number]
            opens[own] = written.searchsorted(reach[own - 1]) < written.searchsorted(start[own])
        return opens

    def _tokens(self, document: _Numbers, start: _Numbers, end: _Numbers) -> _Numbers:
        found = np.empty(len(start), np.int64)
        rows = zip(document.tolist(), start.tolist(), end.tolist(), strict=True)
        for at, row in enumerate(rows):
            if row not in self._sizes:
                self._sizes[row] = self._measures[row[0]].count(row[1], row[2])
            found[at] = self._sizes[row]
        return found

    def filling(self, rank: Rank, k: int, tokens: int) -> Found:
        """Merged as deep as an evaluation goes for so many tokens: four times as deep while some have too few."""
        depth, before = k, np.zeros(0, np.int64)
        while True:
            found = self.found(rank(depth))
            questions = len(found.first) - 1
            size = np.bincount(found.question, found.tokens, questions).astype(np.int64)
            more = np.diff(found.first) >= depth
            more |= size > (before if len(before) else np.zeros(questions, np.int64))
            if not (more & (size < tokens)).any() or depth >= _DEEPEST:
                return found
            before, depth = size, depth * 4


def _written(text: str) -> _Numbers:
    """Where characters stand that are no space."""
    return np.flatnonzero(np.fromiter((not each.isspace() for each in text), np.bool_, len(text)))
