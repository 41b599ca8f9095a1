"""bpref, graded nDCG and the share judged, against their definitions written down anew."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core import Document, Hit, Label, Query
from chunkwise.metrics.judges.judged_ranking import bpref, graded_ndcg, judged_share
from chunkwise.metrics.registry import known_metrics, parse

TEXT = Document(id="d", text="x" * 2_000)


def _query(grades: dict[int, int]) -> Query:
    labels = [Label("d", 10 * at, 10 * at + 10, grade >= 2, grade) for at, grade in grades.items()]
    return Query("q", "what?", labels=tuple(labels))


def _hits(order: list[int]) -> list[Hit]:
    return [Hit(TEXT, 10 * at, 10 * at + 10, 1 / rank, rank, 5) for rank, at in enumerate(order, 1)]


def _naive_bpref(grades: dict[int, int], order: list[int]) -> float:
    relevant = [at for at in grades if grades[at] >= 2]
    irrelevant = [at for at in grades if grades[at] < 2]
    total = 0.0
    for at in relevant:
        if at in order:
            before = [each for each in order[: order.index(at)] if each in irrelevant]
            before = before[: len(relevant)]
            total += 1 - len(before) / min(len(relevant), len(irrelevant)) if before else 1
    return total / len(relevant)


RUNS = st.tuples(
    st.dictionaries(st.integers(0, 30), st.integers(0, 3), min_size=1, max_size=14),
    st.permutations(range(30)).map(lambda order: list(order)[:15]),
)


@given(RUNS)
def test_bpref_is_its_definition(run: tuple[dict[int, int], list[int]]) -> None:
    grades, order = run
    score = bpref(_query(grades), _hits(order))
    if not any(grade >= 2 for grade in grades.values()):
        assert score.value is None
        assert score.reason
    else:
        assert score.value == pytest.approx(_naive_bpref(grades, order))


@given(RUNS)
def test_scores_are_shares_and_more_relevant_hits_at_the_top_never_harm(
    run: tuple[dict[int, int], list[int]],
) -> None:
    grades, order = run
    query = _query(grades)
    best = sorted(grades, key=lambda at: -grades[at])
    for score in (bpref, graded_ndcg, judged_share):
        value = score(query, _hits(order)).value
        assert value is None or 0 <= value <= 1
    if any(grades.values()):
        assert graded_ndcg(query, _hits(best)).value == pytest.approx(1)


@given(RUNS)
def test_graded_ndcg_and_the_share_judged_are_their_definitions(
    run: tuple[dict[int, int], list[int]],
) -> None:
    grades, order = run
    query, hits = _query(grades), _hits(order)
    assert judged_share(query, hits).value == sum(at in grades for at in order) / len(order)
    gains = [grades.get(at, 0) for at in order]
    best = sorted(grades.values(), reverse=True)[: len(order)]
    gained, ideal = (
        sum(gain / math.log(rank + 2, 2) for rank, gain in enumerate(own)) for own in (gains, best)
    )
    found = graded_ndcg(query, hits).value
    assert found == (pytest.approx(gained / ideal) if ideal else None)


def test_what_nobody_judged_neither_helps_nor_harms() -> None:
    query = _query({0: 3, 1: 0})
    assert bpref(query, _hits([7, 8, 9, 0, 1])).value == 1
    assert bpref(query, _hits([1, 0])).value == 0
    assert bpref(query, _hits([7])).value == 0
    assert judged_share(query, _hits([7, 0])).value == 0.5
    assert judged_share(Query("q", "what?"), _hits([0])).value is None


def test_a_hit_that_holds_a_passage_or_is_about_the_same_finds_it() -> None:
    query = _query({3: 3, 9: 0})
    around = Hit(TEXT, 0, 60, 1.0, 1, 5)
    assert bpref(query, [around]).value == 1
    inside = Hit(TEXT, 32, 38, 1.0, 1, 5)
    assert bpref(query, [inside]).value == 1
    beside = Hit(TEXT, 38, 80, 1.0, 1, 5)
    assert bpref(query, [beside]).value == 0


def test_people_who_disagree_leave_a_passage_unjudged() -> None:
    labels = (Label("d", 0, 10, True, 3), Label("d", 0, 10, False, 0), Label("d", 20, 30, True, 2))
    query = Query("q", "what?", labels=labels)
    assert bpref(query, _hits([2])).value == 1
    assert math.isclose(graded_ndcg(query, _hits([2])).value or 0, 1)


def test_they_stand_in_the_registry_beside_the_others() -> None:
    assert [parse(name, k=5).label for name in ("bpref", "graded_ndcg", "judged")] == [
        "bpref", "graded_ndcg@5", "judged@5",
    ]  # fmt: skip
    assert {known_metrics()[name].group for name in ("bpref", "judged")} == {"labels"}
