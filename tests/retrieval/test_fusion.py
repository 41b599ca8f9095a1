"""Rankings made into one: against figures worked out by hand, and against a naive sum."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.retrieval.fusion import (
    WeightedRanking,
    followed,
    reciprocal_rank_fusion,
    scaled,
    weighted_fusion,
)
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.retrievers import HybridRetriever, get_retriever


def ranking(pairs: dict[int, float]) -> Ranking:
    order = sorted(pairs, key=lambda number: (-pairs[number], number))
    return Ranking(
        np.array(order, np.int64), np.array([pairs[number] for number in order], np.float32)
    )


NUMBERS = st.dictionaries(st.integers(0, 30), st.integers(-40, 40).map(float), max_size=20)
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 3.0])


def test_reciprocal_ranks_by_hand() -> None:
    words = ranking({7: 9.0, 3: 5.0, 1: 1.0})
    near = ranking({3: 0.9, 4: 0.8})
    fused = reciprocal_rank_fusion([WeightedRanking(words), WeightedRanking(near)], 10)
    assert fused.numbers.tolist() == [3, 7, 4, 1]
    expected = [1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63]
    assert fused.scores.tolist() == pytest.approx(expected, rel=1e-6)
    assert reciprocal_rank_fusion(
        [WeightedRanking(words), WeightedRanking(near)], 2
    ).numbers.tolist() == [3, 7]


def test_scaled_scores_by_hand() -> None:
    words = ranking({7: 9.0, 3: 5.0, 1: 1.0})
    near = ranking({3: 0.9, 4: 0.5, 7: 0.1})
    fused = weighted_fusion(
        [WeightedRanking(words, 1.0, floor=0.0), WeightedRanking(near, 0.5)], 10
    )
    assert fused.numbers.tolist() == [3, 7, 4, 1]
    assert fused.scores.tolist() == pytest.approx([5 / 9 + 0.5, 1.0, 0.25, 1 / 9], rel=1e-6)


@given(NUMBERS, NUMBERS, WEIGHTS, st.integers(1, 40))
def test_both_equal_a_naive_sum(
    one: dict[int, float], other: dict[int, float], weight: float, depth: int
) -> None:
    first, second = ranking(one), ranking(other)
    by_score: dict[int, float] = {}
    by_rank: dict[int, float] = {}
    for side, share in ((first, 1.0), (second, weight)):
        scores = side.scores.tolist()
        for place, number in enumerate(side.numbers.tolist()):
            spread = scores[0] - scores[-1]
            part = (scores[place] - scores[-1]) / spread if spread else 1.0
            by_score[number] = by_score.get(number, 0.0) + share * part
            by_rank[number] = by_rank.get(number, 0.0) + share / (60 + place + 1)
    sides = [WeightedRanking(first), WeightedRanking(second, weight)]
    for fused, naive in (
        (weighted_fusion(sides, depth), by_score),
        (reciprocal_rank_fusion(sides, depth), by_rank),
    ):
        assert len(fused.numbers) == min(depth, len(naive))
        assert [naive[number] for number in fused.numbers.tolist()] == pytest.approx(
            fused.scores.tolist(), rel=1e-5, abs=1e-6
        )
        ordered = list(zip((-fused.scores).tolist(), fused.numbers.tolist(), strict=True))
        assert ordered == sorted(ordered)
        left_out = [points for number, points in naive.items() if number not in fused.numbers]
        assert all(points <= fused.scores[-1] + 1e-5 for points in left_out)


def test_what_is_not_fused_follows_by_its_better_rank() -> None:
    words = ranking({7: 9.0, 3: 5.0, 1: 1.0, 8: 0.5})
    near = ranking({3: 0.9, 4: 0.8, 5: 0.7, 1: 0.6, 9: 0.5})
    head = ranking({3: 1.5, 7: 1.0})
    found = followed(head, (words, near), 10)
    assert found.numbers.tolist() == [3, 7, 4, 1, 5, 8, 9]
    assert found.scores.tolist() == [1.5, 1.0, 0, 0, 0, 0, 0]
    assert followed(head, (words, near), 4).numbers.tolist() == [3, 7, 4, 1]
    assert followed(head, (words, near), 1).numbers.tolist() == [3]
    assert len(followed(ranking({}), (ranking({}), ranking({})), 5).numbers) == 0


def test_nothing_and_equal_scores() -> None:
    nothing = ranking({})
    assert (
        len(weighted_fusion([WeightedRanking(nothing), WeightedRanking(nothing)], 5).numbers) == 0
    )
    assert (
        len(reciprocal_rank_fusion([WeightedRanking(nothing), WeightedRanking(nothing)], 5).numbers)
        == 0
    )
    assert scaled(np.array([2, 2], np.float32)).tolist() == [1, 1]
    assert weighted_fusion(
        [WeightedRanking(nothing), WeightedRanking(ranking({5: 0.3}))], 5
    ).numbers.tolist() == [5]


def test_parameters_are_checked() -> None:
    made = get_retriever("hybrid(fusion=rrf, dense=1, depth=50)")
    assert made == HybridRetriever(fusion="rrf", dense=1, depth=50)
    for wrong, message in (
        ("hybrid(dense=-1)", "dense is -1; the minimum is 0.0"),
        ("hybrid(dense='much')", "dense is 'much'"),
        ("hybrid(fusion='sum')", "allowed: 'weighted', 'rrf'"),
        ("hybrid(depth=0)", "the minimum is 1"),
        ("hybrid(weight=1)", "hybrid has no parameter 'weight'"),
        ("bm25(k=3)", "bm25"),
        ("bm25(k1=-1)", "k1 is -1; the minimum is 0.0"),
        ("hybrid(b=2)", "b is 2; the maximum is 1.0"),
    ):
        with pytest.raises(InvalidParameter, match=r"hybrid|bm25") as caught:
            get_retriever(wrong)
        assert message in str(caught.value)
    with pytest.raises(InvalidParameter):
        HybridRetriever(dense=math.nan)
