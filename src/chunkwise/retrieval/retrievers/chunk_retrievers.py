"""Chunks ranked by words (bm25), by vectors (dense), and by both (hybrid)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from chunkwise.base import parameters
from chunkwise.base.parameters import param
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.fusion import Side, by_ranks, by_scores, followed
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.retrievers.queries import QueryBatch
from chunkwise.retrieval.searchable import Searchable


@dataclass(frozen=True, kw_only=True)
class Bm25Retriever:
    """BM25 over the stems of words; needs no model.

    Use it where the exact words matter: names, numbers, terms of a trade.
    """

    def rank(
        self, source: Searchable, questions: QueryBatch, depth: int, only: Filter
    ) -> list[Ranking]:
        return source.words(questions.texts, depth, only)


@dataclass(frozen=True, kw_only=True)
class DenseRetriever:
    """The cosine between the vectors of question and chunk.

    Use it where questions are put in other words than the documents.
    """

    def rank(
        self, source: Searchable, questions: QueryBatch, depth: int, only: Filter
    ) -> list[Ranking]:
        if not len(questions):
            return []
        found = source.nearest(questions.vectors, depth, only)
        # A question without a word has no direction: it is near to nothing.
        words = (questions.vectors != 0).any(axis=1).tolist()
        return [ranking if some else NOTHING for ranking, some in zip(found, words, strict=True)]


Fusion = Literal["scores", "ranks"]


@runtime_checkable
class FusingIndex(Protocol):
    """An index, on a server for one, that finds and fuses both sides in one go, by the same arithmetic."""

    def hybrid(
        self,
        queries: Sequence[str],
        vectors: NDArray[np.float32],
        depth: int,
        only: Filter,
        *,
        side_depth: int,
        fusion: Fusion,
        dense: float,
    ) -> list[Ranking]: ...


@dataclass(frozen=True, kw_only=True)
class HybridRetriever:
    """BM25 and vectors, fused.

    Use it when you do not know which of the two suits your questions.
    """

    fusion: Fusion = param(
        "scores",
        "scores: each side's scores as shares of its best; ranks: reciprocal ranks, constant 60",
        choices=("scores", "ranks"),
    )
    dense: float = param(0.5, "how much the vectors count; the words count 1", low=0.0, high=10.0)
    depth: int = param(
        400, "chunks of each side that are fused", unit="chunks", low=1, high=1_000_000
    )

    def __post_init__(self) -> None:
        parameters.check(self)

    def rank(
        self, source: Searchable, questions: QueryBatch, depth: int, only: Filter
    ) -> list[Ranking]:
        if depth <= self.depth and isinstance(source, FusingIndex) and len(questions):
            return source.hybrid(
                questions.texts, questions.vectors, depth, only,
                side_depth=self.depth, fusion=self.fusion, dense=self.dense,
            )  # fmt: skip
        deep = max(self.depth, depth)
        near = DenseRetriever().rank(source, questions, deep, only)
        words = source.words(questions.texts, deep, only)
        return [
            followed(self._fused(one, other), (one, other), depth)
            for one, other in zip(words, near, strict=True)
        ]

    def _fused(self, words: Ranking, near: Ranking) -> Ranking:
        """Of `self.depth` chunks a side, however many are wanted: those behind must not change the order of these."""
        words, near = words.first(self.depth), near.first(self.depth)
        fuse = by_scores if self.fusion == "scores" else by_ranks
        # Where fewer chunks share a word with the question than were asked for, the next one's score is 0.
        floor = None if len(words.numbers) >= self.depth else 0.0
        return fuse([Side(words, floor=floor), Side(near, self.dense)], 2 * self.depth)
