"""Chunks in the order a retriever ranks them, as the arrays that scores are computed from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.experiments.running.shared_index import SharedIndex
from chunkwise.metrics.spans.tables import Chunking, Found
from chunkwise.retrieval.filters import EVERYTHING
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.retrievers import ChunkRetriever
from chunkwise.retrieval.retrievers.questions import Questions
from chunkwise.text.measure import Measure

_DEEPER = 4
_Numbers = NDArray[np.int64]


class Places:
    """What is handed out for the chunks of an index: the chunks, or the larger spans they belong to, each once."""

    def __init__(self, index: SharedIndex, measures: Sequence[Measure]) -> None:
        """`measures` count the tokens of each document's spans."""
        self.chunking = Chunking(*index.chunk_table())
        document, start, end, tokens = index.chunk_table()[:4]
        parents = index.arrays["chunk.parent"]
        self._number: _Numbers | None = None
        further = (np.diff(document) > 0) | (np.diff(start) > 0)  # so that no two are the same
        if further.all() and (parents[:, 0] == start).all() and (parents[:, 1] == end).all():
            self.document, self.start, self.end, self.tokens = document, start, end, tokens
            return
        place = np.column_stack((document, parents))
        spans, first, number = np.unique(place, axis=0, return_index=True, return_inverse=True)
        self._number = number.reshape(-1).astype(np.int64)
        self.document, self.start, self.end = np.ascontiguousarray(spans.T)
        whole = (start[first] == self.start) & (end[first] == self.end)
        counted = [
            known if same else measures[row[0]].count(row[1], row[2])
            for row, known, same in zip(
                spans.tolist(), tokens[first].tolist(), whole.tolist(), strict=True
            )
        ]
        self.tokens = np.array(counted, np.int64)

    @property
    def are_chunks(self) -> bool:
        """Whether a hit is always a chunk."""
        return self._number is None

    def of(self, chunks: _Numbers, question: _Numbers) -> tuple[_Numbers, _Numbers]:
        """The places of ranked chunks, each where a question's best chunk of it ranks, and the question of each."""
        if self._number is None:
            return chunks, question
        numbers = self._number[chunks]
        once = np.unique(question * len(self.start) + numbers, return_index=True)[1]
        once.sort()
        return numbers[once], question[once]

    def found(self, hits: Sequence[_Numbers]) -> Found:
        """The table of these hits, a question each."""
        flat = np.concatenate([np.empty(0, np.int64), *hits])
        first = np.concatenate(([0], np.cumsum([len(own) for own in hits], dtype=np.int64)))
        columns = (self.document, self.start, self.end, self.tokens)
        return Found(first, *(column[flat] for column in columns))


def ranked(
    index: SharedIndex,
    places: Places,
    retriever: ChunkRetriever,
    questions: Questions,
    count: int,
    tokens: int,
) -> list[_Numbers]:
    """Of each question the best places: so many at least, and so many tokens, where there are so many."""
    hits: list[_Numbers] = [np.empty(0, np.int64)] * len(questions)
    # A question without a character to see has no hits.
    waiting = [at for at, text in enumerate(questions.texts) if text.strip()]
    usual = float(np.median(places.tokens)) if len(places.tokens) else 1.0
    depth = max(count, int(1.5 * tokens / max(usual, 1.0)) + 1)
    while waiting:
        batch = questions if len(waiting) == len(questions) else questions.some(waiting)
        rankings = retriever.rank(index, batch, depth, EVERYTHING)
        deep = np.array([len(own.numbers) for _, own in zip(waiting, rankings, strict=True)])
        question = np.repeat(np.arange(len(deep)), deep)
        own, question = places.of(np.concatenate([each.numbers for each in rankings]), question)
        sizes = np.bincount(question, minlength=len(deep))
        first = np.cumsum(sizes) - sizes
        spent = np.append(0, np.cumsum(places.tokens[own]))
        kept = np.arange(len(own)) - first[question] < count
        kept |= spent[:-1] - spent[first][question] < tokens
        shown = own[kept]
        ends = np.cumsum(np.bincount(question[kept], minlength=len(deep))).tolist()
        for at, low, high in zip(waiting, [0, *ends], ends, strict=False):
            hits[at] = shown[low:high]
        few = (sizes < count) | (spent[first + sizes] - spent[first] < tokens)
        waiting = [waiting[at] for at in np.flatnonzero(few & (deep >= depth)).tolist()]
        depth *= _DEEPER
    return hits


def ranking_of(
    index: SharedIndex, retriever: ChunkRetriever, questions: Questions, depth: int
) -> list[Ranking]:
    """Of every question, also of those without a character to see, which find nothing."""
    seen = [at for at, text in enumerate(questions.texts) if text.strip()]
    batch = questions if len(seen) == len(questions) else questions.some(seen)
    found = [NOTHING] * len(questions)
    for at, ranking in zip(seen, retriever.rank(index, batch, depth, EVERYTHING), strict=True):
        found[at] = ranking
    return found
