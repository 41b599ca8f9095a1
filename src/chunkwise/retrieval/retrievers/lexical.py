"""Chunks by the words they share with the question."""

from __future__ import annotations

from dataclasses import dataclass

from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.retrievers.questions import Questions
from chunkwise.retrieval.searchable import Searchable


@dataclass(frozen=True, kw_only=True)
class Bm25Retriever:
    """BM25 over the stems of words; needs no model.

    Use it where the exact words matter: names, numbers, terms of a trade.
    """

    def rank(
        self, source: Searchable, questions: Questions, depth: int, only: Filter
    ) -> list[Ranking]:
        return source.words(questions.texts, depth, only)
