"""Rankings in another order: maximal marginal relevance by its formula, and a reranker beside the first."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import chunkwise
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.search.index_reader import IndexReader
from chunkwise.retrieval.search.rerank import diversified, reranked
from retrieval.tiny_index import TinyIndex, documents
from tables import cases


def ranking_of(count: int, seed: int) -> tuple[Ranking, np.ndarray]:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(count, 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = np.sort(random.normal(size=count).astype(np.float32))[::-1]
    return Ranking(random.permutation(100)[:count].astype(np.int64), scores), vectors


def naive(ranking: Ranking, vectors: np.ndarray, balance: float) -> list[int]:
    scores = ranking.scores.tolist()
    spread = scores[0] - scores[-1]
    relevance = [(score - scores[-1]) / spread if spread else 1.0 for score in scores]
    order = [0]
    while len(order) < len(scores):
        worth = {}
        for at in range(len(scores)):
            if at not in order:
                like = max(float(vectors[at] @ vectors[taken]) for taken in order)
                worth[at] = balance * relevance[at] - (1 - balance) * like
        order.append(max(worth, key=lambda at: (worth[at], -at)))
    return [int(ranking.numbers[at]) for at in order]


@given(st.integers(1, 15), st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_it_is_the_formula(count: int, seed: int, balance: float) -> None:
    ranking, vectors = ranking_of(count, seed)
    found = diversified(ranking, vectors, balance)
    assert found.numbers.tolist() == naive(ranking, vectors, balance)
    score = dict(zip(ranking.numbers.tolist(), ranking.scores.tolist(), strict=True))
    assert [score[number] for number in found.numbers.tolist()] == found.scores.tolist()


def test_relevance_alone_changes_nothing() -> None:
    ranking, vectors = ranking_of(12, 3)
    assert diversified(ranking, vectors, 1.0).numbers.tolist() == ranking.numbers.tolist()


def test_a_copy_of_the_best_comes_last() -> None:
    ranking = Ranking(np.array([4, 5, 6], np.int64), np.array([1, 0.99, 0.2], np.float32))
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    assert diversified(ranking, vectors, 0.5).numbers.tolist() == [4, 6, 5]


@cases("balance", [0.0, 1.0])
def test_nothing(balance: float) -> None:
    empty = Ranking(np.empty(0, np.int64), np.empty(0, np.float32))
    assert len(diversified(empty, np.empty((0, 4), np.float32), balance).numbers) == 0


INDEX = TinyIndex(documents("The lamp is lit. Gulls sleep. " * 20))
COUNT = len(INDEX.found)


class Fixed:
    """Gives what it was told."""

    identity = "fixed"

    def __init__(self, values: Sequence[float], first: float) -> None:
        self.values, self.weight_of_first = values, first

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array(self.values[: len(texts)], np.float32)


def ranked(before: Sequence[float], after: Sequence[float], first: float) -> Ranking:
    ranking = Ranking(np.arange(len(before)), np.array(before, np.float32))
    return reranked(IndexReader(INDEX), "lamp", ranking, Fixed(after, first))


def test_both_count_as_told() -> None:
    # Shares: before 1, 0.5, 0; after 0, 1, 0.5.
    found = ranked([9, 5, 1], [-1, 1, 0], 1)
    assert found.numbers.tolist() == [1, 0, 2]
    assert found.scores.tolist() == [0.75, 0.5, 0.25]
    assert ranked([9, 5, 1], [-1, 1, 0], 3).numbers.tolist() == [0, 1, 2]
    assert ranked([9, 5, 1], [-1, 1, 0], 0).numbers.tolist() == [1, 2, 0]


def test_equals_stay_in_their_order_and_what_is_no_number_comes_last() -> None:
    assert ranked([3, 2, 1], [5, 5, 5], 0).numbers.tolist() == [0, 1, 2]
    assert ranked([1, 1, 1], [0, 1, 2], 1).numbers.tolist() == [2, 1, 0]
    assert ranked([3, 2, 1], [float("nan"), 0, 1], 1).numbers.tolist()[-1] == 0
    assert ranked([3, 2, 1], [float("nan")] * 3, 1).numbers.tolist() == [0, 1, 2]


scores = st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=min(COUNT, 8))


@given(after=scores, first=st.floats(0, 100))
def test_nothing_is_lost_and_the_best_of_both_is_first(after: list[float], first: float) -> None:
    before = sorted(after, reverse=True)
    found = ranked(before, before, first)
    assert found.numbers.tolist() == list(range(len(after)))
    other = ranked(before, after, first)
    assert sorted(other.numbers.tolist()) == list(range(len(after)))
    assert other.scores.tolist() == sorted(other.scores.tolist(), reverse=True)
    assert 0 <= other.scores.min() <= other.scores.max() <= 1 + 1e-6


def test_the_local_reranker_works_behind_every_retriever() -> None:
    index = chunkwise.index(
        documents(
            "Employees ask for time off in writing. The head of the department says yes or no.",
            "The lamp of the harbour is lit at dusk. Gulls sleep on the roof.",
            "Salt the fish on both sides. Leave it for a day.",
        ),
        "sentences(max_tokens=12)",
        vectors="own",
    )
    for retriever in ("bm25", "dense", "hybrid"):
        hits = index.search("Who lights the lamps?", k=2, retriever=retriever, reranker="maxsim")
        assert hits[0].doc_id == "d1"
        assert hits[0].score == 1
