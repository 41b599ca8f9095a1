"""A reranker as one more voice: it reads the best windows, votes for their sentences, and decides nothing alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.core import Document
from chunkwise.options import SearchOptions
from tables import cases

SENTENCE = "The lamp number {0} of the harbour is lit by keeper {0} every evening."
TEXTS = {
    name: " ".join(
        SENTENCE.format(number) if number % 3 else f"Nothing else happens on day {number} there."
        for number in range(first, first + 60)
    )
    for name, first in (("east", 0), ("west", 60), ("north", 120))
}
INDEX = chunkwise.index(
    [Document(name, text) for name, text in TEXTS.items()], "sentences", vectors="none"
)
QUESTION = "Who lights the lamp of the harbour?"


class Liking:
    """Likes passages that hold a word, and remembers what it was given."""

    identity = "liking"

    def __init__(self, word: str) -> None:
        self.word = word
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append((query, tuple(texts)))
        return np.array([text.count(self.word) for text in texts], np.float32)


@cases("budget", [30, 100, 400])
def test_what_it_likes_comes_first_within_the_budget(budget: int) -> None:
    reranker = Liking("keeper 136 ")
    hits = INDEX.search(QUESTION, budget=budget, reranker=reranker)
    assert "north" not in {hit.doc_id for hit in INDEX.search(QUESTION, budget=30)}
    assert sum(hit.token_count for hit in hits) <= budget
    assert "north" in {hit.doc_id for hit in hits[:1]}
    for hit in hits:
        assert TEXTS[hit.doc_id][hit.start : hit.end] == hit.text


def test_it_reads_the_same_few_windows_of_whole_sentences_whatever_the_budget() -> None:
    reranker = Liking("keeper")
    for budget in (30, 500):
        INDEX.search(QUESTION, budget=budget, reranker=reranker)
    (first, read), (_, again) = reranker.asked[0], reranker.asked[-1]
    assert first == QUESTION
    assert read == again
    assert 0 < len(read) <= 32
    assert all(any(text in whole for whole in TEXTS.values()) for text in read)


def test_of_windows_found_alike_it_reads_the_first() -> None:
    texts = [f"The lamp {number} of the harbour." for number in range(10, 50)]
    index = chunkwise.index([Document(text, text) for text in texts], "sentences", vectors="none")
    reranker = Liking("keeper")
    index.search(QUESTION, budget=30, reranker=reranker)
    assert sorted(reranker.asked[0][1]) == texts[:32]


def test_a_budget_in_other_tokens_asks_for_no_passage_twice() -> None:
    reranker = Liking("keeper")
    INDEX.search(
        [QUESTION, "day"],
        budget=100,
        reranker=reranker,
        options=SearchOptions(tokenizer="characters"),
    )
    pairs = [(query, text) for query, texts in reranker.asked for text in texts]
    assert len(pairs) == len(set(pairs)) > 0


def test_the_questions_of_a_batch_do_not_change_one_another() -> None:
    asked = [QUESTION, "What happens on day 60?", "zebra", QUESTION]
    together = INDEX.search(asked, budget=60, reranker=Liking("keeper 70 "))
    alone = [INDEX.search(each, budget=60, reranker=Liking("keeper 70 "))[:] for each in asked]
    assert together == alone
    assert together[2] == []


def test_nothing_is_read_that_a_filter_keeps_out() -> None:
    reranker = Liking("keeper")
    hits = INDEX.search(
        QUESTION, budget=200, reranker=reranker, options=SearchOptions(documents=("west",))
    )
    assert {hit.doc_id for hit in hits} == {"west"}
    assert reranker.asked
    assert all(text in TEXTS["west"] for _, texts in reranker.asked for text in texts)


def test_without_a_weight_it_is_not_asked() -> None:
    reranker = Liking("keeper 136 ")
    hits = INDEX.search(QUESTION, budget=60, reranker=reranker, retriever="multiscale(rerank=0)")
    assert hits == INDEX.search(QUESTION, budget=60)
    assert not reranker.asked


class Broken(Liking):
    def __init__(self, given: Sequence[float]) -> None:
        super().__init__("")
        self.given = given

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array((list(self.given) * len(texts))[: len(texts)], np.float32)


@cases("given", [[np.nan], [np.inf, 1.0], [-np.inf, np.nan, 2.0], [7.0]])
def test_scores_that_are_no_numbers_leave_the_other_voices(given: list[float]) -> None:
    hits = INDEX.search(QUESTION, budget=60, reranker=Broken(given))
    assert 0 < sum(hit.token_count for hit in hits) <= 60
    assert all(0 <= hit.score <= 1 for hit in hits)


def test_too_few_scores_are_an_error_that_names_the_reranker() -> None:
    class Short(Liking):
        def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.zeros(1, np.float32)

    with pytest.raises(ChunkwiseError, match="the reranker liking returned 1 score for"):
        INDEX.search(QUESTION, budget=60, reranker=Short(""))


@cases("weight", [-1, float("nan"), True])
def test_its_weight_is_checked(weight: float) -> None:
    from chunkwise.retrieval.retrievers import MultiscaleRetriever

    with pytest.raises(InvalidParameter, match="rerank is"):
        MultiscaleRetriever(rerank=weight)


def test_a_retriever_of_spans_that_takes_no_reranker_says_so() -> None:
    class Nothing:
        def spans(self, source, questions, budget, only):  # type: ignore[no-untyped-def]
            return [[] for _ in questions.texts]

    with pytest.raises(InvalidParameter, match="reranker needs chunks"):
        INDEX.search(QUESTION, budget=60, reranker=Liking("x"), retriever=Nothing())
