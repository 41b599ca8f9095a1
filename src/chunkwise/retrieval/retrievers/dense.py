"""Chunks by the nearness of their vectors to the question's."""

from __future__ import annotations

from dataclasses import dataclass

from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.retrievers.questions import Questions
from chunkwise.retrieval.searchable import Searchable


@dataclass(frozen=True, kw_only=True)
class DenseRetriever:
    """The cosine between the vectors of question and chunk.

    Use it where questions are put in other words than the documents.
    """

    def rank(
        self, source: Searchable, questions: Questions, depth: int, only: Filter
    ) -> list[Ranking]:
        if not len(questions):
            return []
        found = source.nearest(questions.vectors, depth, only)
        # A question without a word has no direction: it is near to nothing.
        words = (questions.vectors != 0).any(axis=1).tolist()
        return [ranking if some else NOTHING for ranking, some in zip(found, words, strict=True)]
