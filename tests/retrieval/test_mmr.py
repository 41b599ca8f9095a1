"""Maximal marginal relevance against the formula written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.searching.mmr import diverse


def cases(count: int, seed: int) -> tuple[Ranking, np.ndarray]:
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
    ranking, vectors = cases(count, seed)
    found = diverse(ranking, vectors, balance)
    assert found.numbers.tolist() == naive(ranking, vectors, balance)
    score = dict(zip(ranking.numbers.tolist(), ranking.scores.tolist(), strict=True))
    assert [score[number] for number in found.numbers.tolist()] == found.scores.tolist()


def test_relevance_alone_changes_nothing() -> None:
    ranking, vectors = cases(12, 3)
    assert diverse(ranking, vectors, 1.0).numbers.tolist() == ranking.numbers.tolist()


def test_a_copy_of_the_best_comes_last() -> None:
    ranking = Ranking(np.array([4, 5, 6], np.int64), np.array([1, 0.99, 0.2], np.float32))
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    assert diverse(ranking, vectors, 0.5).numbers.tolist() == [4, 6, 5]


@pytest.mark.parametrize("balance", [0.0, 1.0])
def test_nothing(balance: float) -> None:
    empty = Ranking(np.empty(0, np.int64), np.empty(0, np.float32))
    assert len(diverse(empty, np.empty((0, 4), np.float32), balance).numbers) == 0
