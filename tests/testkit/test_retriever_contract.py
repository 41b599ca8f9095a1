"""The contract of retrievers: kept by ours, and each breach found in one that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from chunkwise.base.errors import BrokenContract, InvalidParameter
from chunkwise.core import Document
from chunkwise.retrieval.filters import EVERYTHING
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.retrievers import Bm25Retriever, MultiscaleRetriever, registry
from chunkwise.retrieval.searchable import QueryBatch
from chunkwise.testkit import check_retriever
from tables import cases

# Communities are what a language model wrote; tests/retrieval/graph/test_communities.py has one that writes.
OURS = [name for name in registry.builtin if name != "communities"]


@cases("spec", [*OURS, "hybrid(fusion=rrf, depth=2)"])
def test_what_we_have_keeps_the_contract(spec: str) -> None:
    check_retriever(spec, [Document("mine", "My own words.")], ["are these mine?"])


def test_what_is_no_retriever_is_refused() -> None:
    with pytest.raises(
        InvalidParameter, match="int is not a valid retriever: it has no `rank or spans`"
    ):
        check_retriever(5)  # type: ignore[arg-type]


def ranker(change: Callable[[Ranking, int], Ranking]) -> Any:
    """BM25 with something done to every ranking."""

    class Broken(Bm25Retriever):
        def rank(self, source: Any, questions: QueryBatch, depth: int, only: Any) -> Any:
            found = super().rank(source, questions, depth, only)
            return [change(each, depth) for each in found]

    return Broken()


class DropsAQuestion(Bm25Retriever):
    def rank(self, source: Any, questions: QueryBatch, depth: int, only: Any) -> list[Ranking]:
        return super().rank(source, questions, depth, only)[1:]


class IgnoresTheFilter(Bm25Retriever):
    def rank(self, source: Any, questions: QueryBatch, depth: int, only: Any) -> list[Ranking]:
        return super().rank(source, questions, depth, EVERYTHING)


class IgnoresTheDepth(Bm25Retriever):
    def rank(self, source: Any, questions: QueryBatch, depth: int, only: Any) -> list[Ranking]:
        return super().rank(source, questions, 1000, only)


class AnswersTheFirst(Bm25Retriever):
    """Every question gets the chunks of the first one."""

    def rank(self, source: Any, questions: QueryBatch, depth: int, only: Any) -> list[Ranking]:
        found = super().rank(source, questions, depth, only)
        return [found[0] for _ in found]


class SharesOfTheBatch(Bm25Retriever):
    """Scores depend on who asks beside."""

    def rank(self, source: Any, questions: QueryBatch, depth: int, only: Any) -> list[Ranking]:
        found = super().rank(source, questions, depth, only)
        return [each._replace(scores=each.scores / np.float32(len(found))) for each in found]


class OrderedByDepth(Bm25Retriever):
    """Looks deeper only when more is wanted, and finds other chunks first then."""

    def rank(self, source: Any, questions: QueryBatch, depth: int, only: Any) -> list[Ranking]:
        found = super().rank(source, questions, depth + 1, only)
        return [
            Ranking(each.numbers[1:], each.scores[1:]) if depth > 1 else each.first(1)
            for each in found
        ]


class AsksForNothing(Bm25Retriever):
    def rank(self, source: Any, questions: QueryBatch, depth: int, only: Any) -> list[Ranking]:
        found = super().rank(source, questions, depth, only)
        return found or [Ranking(np.array([0]), np.array([1], np.float32))]


@cases(
    "broken, said",
    [
        (DropsAQuestion(), "rankings for"),
        (IgnoresTheFilter(), "excluded by the filter"),
        (IgnoresTheDepth(), "expected 1"),
        (AnswersTheFirst(), "has (another ranking|other chunks) alone"),
        (SharesOfTheBatch(), "has another ranking alone"),
        (OrderedByDepth(), "for the best 1"),
        (AsksForNothing(), "1 ranking for 0 questions"),
        (ranker(lambda each, _: each._replace(scores=each.scores.astype(np.float64))), "as float64"),
        (ranker(lambda each, _: each._replace(scores=each.scores[:0])), "of equal length"),
        (ranker(lambda each, _: each._replace(scores=-each.scores)), "descending"),
        (ranker(lambda each, _: each._replace(scores=each.scores * np.float32("nan"))), "t finite and descending"),
        (ranker(lambda each, _: each._replace(numbers=each.numbers * 0)), "a chunk twice"),
        (ranker(lambda each, _: each._replace(numbers=each.numbers + 900)), "it returned chunk number"),
    ],
)  # fmt: skip
def test_a_breach_is_told(broken: Any, said: str) -> None:
    with pytest.raises(BrokenContract, match=said):
        check_retriever(broken)


def spanner(change: Callable[[Any], Any]) -> Any:
    class Broken(MultiscaleRetriever):
        def spans(self, source: Any, questions: QueryBatch, budget: int, only: Any) -> Any:
            found = super().spans(source, questions, budget, only)
            return [[change(each) for each in own] for own in found]

    return Broken()


class SpansOfTheFirst(MultiscaleRetriever):
    def spans(self, source: Any, questions: QueryBatch, budget: int, only: Any) -> Any:
        found = super().spans(source, questions, budget, only)
        return [found[0] for _ in found]


class SpansTwice(MultiscaleRetriever):
    def spans(self, source: Any, questions: QueryBatch, budget: int, only: Any) -> Any:
        found = super().spans(source, questions, budget, only)
        return [[*own, *own] for own in found]


class SpansUnfiltered(MultiscaleRetriever):
    def spans(self, source: Any, questions: QueryBatch, budget: int, only: Any) -> Any:
        return super().spans(source, questions, budget, EVERYTHING)


class SpansDropped(MultiscaleRetriever):
    def spans(self, source: Any, questions: QueryBatch, budget: int, only: Any) -> Any:
        return super().spans(source, questions, budget, only)[1:]


@cases(
    "broken, said",
    [
        (SpansOfTheFirst(), "has other spans alone"),
        (SpansTwice(), "its spans overlap"),
        (SpansUnfiltered(), "excluded by the filter"),
        (SpansDropped(), "returned spans for"),
        (spanner(lambda each: each._replace(end=10**6)), "is not a span of"),
        (spanner(lambda each: each._replace(score=float("inf"))), "has the score inf"),
        (spanner(lambda each: each._replace(document=77)), "a span of document 77"),
    ],
)
def test_a_breach_of_one_that_hands_out_spans_is_told(broken: Any, said: str) -> None:
    with pytest.raises(BrokenContract, match=said):
        check_retriever(broken)
