"""Chunks ranked by words (bm25), by vectors (dense), and by both (hybrid)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from chunkwise.base import parameters
from chunkwise.base.parameters import param
from chunkwise.retrieval.bm25 import K1, B
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.fusion import (
    Fusion,
    Side,
    followed,
    reciprocal_rank_fusion,
    weighted_fusion,
)
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.retrievers.query_batch import QueryBatch
from chunkwise.retrieval.searchable import Searchable


def _k1() -> Any:
    return param(K1, "BM25: how soon more of the same word adds nothing", low=0.0, high=10.0)


def _b() -> Any:
    return param(B, "BM25: how much a chunk pays for its length", low=0.0, high=1.0)


@dataclass(frozen=True, kw_only=True)
class Bm25Retriever:
    """BM25 over the stems of words; needs no model.

    Use it where the exact words matter: names, numbers, terms of a trade.
    """

    k1: float = _k1()
    b: float = _b()

    def __post_init__(self) -> None:
        parameters.check(self)

    def rank(
        self, source: Searchable, questions: QueryBatch, depth: int, only: Filter
    ) -> list[Ranking]:
        return source.words(questions.texts, depth, only, k1=self.k1, b=self.b)


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
        k1: float,
        b: float,
    ) -> list[Ranking]: ...


@dataclass(frozen=True, kw_only=True)
class HybridRetriever:
    """BM25 and vectors, fused.

    Use it when you do not know which of the two suits your questions.
    """

    fusion: Fusion = param(
        "weighted",
        "weighted: each side's scores as shares of its best; rrf: reciprocal ranks, constant 60",
        choices=("weighted", "rrf"),
        old_choices={"scores": "weighted", "ranks": "rrf"},
    )
    dense: float = param(0.5, "how much the vectors count; the words count 1", low=0.0, high=10.0)
    depth: int = param(
        400, "chunks of each side that are fused", unit="chunks", low=1, high=1_000_000
    )
    k1: float = _k1()
    b: float = _b()

    def __post_init__(self) -> None:
        parameters.check(self)

    def rank(
        self, source: Searchable, questions: QueryBatch, depth: int, only: Filter
    ) -> list[Ranking]:
        if depth <= self.depth and isinstance(source, FusingIndex) and len(questions):
            return source.hybrid(
                questions.texts, questions.vectors, depth, only,
                side_depth=self.depth, fusion=self.fusion, dense=self.dense, k1=self.k1, b=self.b,
            )  # fmt: skip
        deep = max(self.depth, depth)
        near = DenseRetriever().rank(source, questions, deep, only)
        words = source.words(questions.texts, deep, only, k1=self.k1, b=self.b)
        return [
            followed(self._fused(one, other), (one, other), depth)
            for one, other in zip(words, near, strict=True)
        ]

    def _fused(self, words: Ranking, near: Ranking) -> Ranking:
        """Of `self.depth` chunks a side, however many are wanted: those behind must not change the order of these."""
        words, near = words.first(self.depth), near.first(self.depth)
        fuse = weighted_fusion if self.fusion == "weighted" else reciprocal_rank_fusion
        # Where fewer chunks share a word with the question than were asked for, the next one's score is 0.
        floor = None if len(words.numbers) >= self.depth else 0.0
        return fuse([Side(words, floor=floor), Side(near, self.dense)], 2 * self.depth)
