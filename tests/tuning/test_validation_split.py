"""Which questions choose and which judge."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Query
from chunkwise.tuning.validation import split
from made_outcomes import questions
from tables import cases


def _group(query: Query, by: str) -> object:
    document = query.references[0].doc_id
    return {"doc_id": document, "types": query.types, "both": (document, query.types)}[by]


def test_every_document_and_type_is_halved() -> None:
    queries = questions(120, [f"{name}.md" for name in "abcde"], ["x", "y", "z"])
    found = split(queries, 0.5, seed=3)
    assert Counter(found) == {"validation": 60, "test": 60}
    for group in ("doc_id", "types", "both"):
        tested = Counter(
            _group(query, group)
            for query, side in zip(queries, found, strict=True)
            if side == "test"
        )
        halves = Counter(_group(query, group) for query in queries)
        assert all(abs(tested[name] - count / 2) <= 1 for name, count in halves.items())


@given(
    st.integers(4, 60), st.integers(0, 40), st.integers(0, 5), st.sampled_from([0.2, 0.3, 0.5, 0.8])
)
def test_questions_added_at_the_end_move_none(
    count: int, more: int, seed: int, share: float
) -> None:
    queries = questions(count + more, ["a", "b", "c"])
    few, many = split(queries[:count], share, seed), split(queries, share, seed)
    assert many[:count] == few
    assert set(few) == {"validation", "test"}
    assert abs(many.count("test") - share * len(many)) <= 3


@given(st.integers(4, 12), st.sampled_from([0.01, 0.5, 0.99]), st.integers(0, 3))
def test_both_sides_have_questions_from_four_on(count: int, share: float, seed: int) -> None:
    assert set(split(questions(count), share, seed)) == {"validation", "test"}


def test_the_seed_changes_the_split_and_the_same_seed_does_not() -> None:
    queries = questions(40)
    assert split(queries, 0.5, 1) == split(queries, 0.5, 1)
    assert len({split(queries, 0.5, seed) for seed in range(10)}) > 5


def test_few_questions_all_choose() -> None:
    assert split(questions(3), 0.5, 0) == ("validation",) * 3
    assert split([], 0.5, 0) == ()
    assert split(questions(9), 0, 0) == ("validation",) * 9


def test_the_files_own_split_holds_where_it_is_one() -> None:
    sides = ["test", "Test", "dev", "validation", "train"]
    queries = [replace(query, split=side) for query, side in zip(questions(5), sides, strict=True)]
    assert split(queries, 0.5, 0) == ("test", "test", "validation", "validation", "validation")
    # One question without a split, or all on one side, is no split.
    partly = [*queries[:4], replace(queries[4], split="")]
    assert split(partly, 0.5, 0) == split(questions(5), 0.5, 0)
    one_side = [replace(query, split="test") for query in questions(8)]
    assert set(split(one_side, 0.5, 0)) == {"validation", "test"}


def test_questions_without_references_and_with_odd_ids_are_split_too() -> None:
    queries = [Query(f"\ud800 {number}", "?") for number in range(6)]
    assert Counter(split(queries, 0.5, 0)) == {"validation": 3, "test": 3}


@cases("share", [-0.1, 1.0, 2.0, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(InvalidParameter, match="share of test questions"):
        split(questions(8), share, 0)
