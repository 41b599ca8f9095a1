"""Which question is reviewed next, and when the review ends: by scores and answers alone."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError
from chunkwise.testsets.testset import REVIEWED, Origin, TestSet, hash_of
from chunkwise.tuning.choose.review_order import CONTROL, ReviewOrder, ReviewOutlook
from made_outcomes import OBJECTIVE, RECURSIVE, noisy, outcome, questions, sweep, tuned

SWEEP = sweep(test_share=0.0, prior=True)


def order_of(table: np.ndarray) -> tuple[ReviewOrder, TestSet]:
    """Of configurations with these scores, every question generated."""
    asked = questions(len(table))
    outcomes = [
        outcome(f"s{at}", column, baseline=RECURSIVE if not at else "")
        for at, column in enumerate(table.T)
    ]
    result = tuned(outcomes, asked, of=SWEEP)
    testset = TestSet(tuple(asked), origins={query.id: "generated" for query in asked})
    return ReviewOrder(result, SWEEP, [hash_of([query]) for query in asked]), testset


def answered(testset: TestSet, id: str, origin: Origin | None) -> TestSet:
    """None: it was dropped."""
    if origin is None:
        return replace(testset, queries=tuple(each for each in testset.queries if each.id != id))
    return replace(testset, origins={**testset.origins, id: origin})


def reviewed(
    order: ReviewOrder, testset: TestSet, answers: Sequence[Origin | None]
) -> tuple[ReviewOutlook, TestSet, list[str]]:
    """As long as there are answers; the outlook then, the questions, and in which order they were asked."""
    outlook, asked = order.after(testset), []
    for origin in answers:
        if not outlook.order:
            break
        asked.append(outlook.order[0])
        testset = answered(testset, outlook.order[0], origin)
        outlook = order.after(testset)
    return outlook, testset, asked


tables = st.lists(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=3, max_size=3), min_size=2, max_size=12
).map(np.array)
answers = st.lists(st.sampled_from(["reviewed", None]), max_size=12)


@given(tables, answers)
def test_where_leaders_agree_is_asked_after_where_they_differ(
    table: np.ndarray, given: list[Origin | None]
) -> None:
    order, testset = order_of(table)
    outlook, testset, asked = reviewed(order, testset, given)
    row = {query.id: at for at, query in enumerate(questions(len(table)))}
    left = set(row) - set(asked)
    assert sorted(outlook.order) == sorted(left)
    differ = [bool(np.ptp(table[row[id]])) for id in outlook.order]
    if len(asked) % CONTROL == CONTROL - 1:
        differ = differ[1:]
    assert differ == sorted(differ, reverse=True)  # three configurations: all of them lead


@given(tables, answers, st.randoms())
def test_the_order_is_that_of_scores_and_answers_whatever_came_first(
    table: np.ndarray, given: list[Origin | None], random: object
) -> None:
    order, testset = order_of(table)
    outlook, end, asked = reviewed(order, testset, given)
    again, _ = order_of(table)
    for id, origin in sorted(zip(asked, given, strict=False)):
        testset = answered(testset, id, origin)
    assert again.after(testset) == order.after(end) == outlook


@given(st.integers(0, 50), st.sampled_from([0.0, 0.02, 0.3]), st.sampled_from([0, 20]))
def test_it_ends_where_no_answers_left_can_change_the_choice(
    seed: int, lift: float, left: int
) -> None:
    """None are left, or all configurations are alike on those that are."""
    table = np.vstack([noisy(seed, REVIEWED, [0.0, lift, 0.0]), np.full((left, 3), 0.4)])
    order, testset = order_of(table)
    for row in range(REVIEWED):
        testset = answered(testset, f"q{row}", "reviewed")
    outlook = order.after(testset)
    assert outlook.is_settled
    assert len(outlook.order) == left
    assert outlook.leaders[0].chance == 1


def test_a_clear_winner_ends_it_as_soon_as_enough_are_accepted() -> None:
    order, testset = order_of(noisy(1, 80, [0.0, 0.5, 0.0]))
    outlook, testset, _ = reviewed(order, testset, ["reviewed"] * (REVIEWED - 1))
    assert not outlook.is_settled
    outlook, testset, _ = reviewed(order, testset, ["reviewed"])
    assert outlook.is_settled
    assert outlook.leaders[0].configuration.strategy == "s1"
    assert outlook.leaders[0].chance == 1
    assert len(outlook.order) == 80 - REVIEWED


def test_it_goes_on_while_answers_can_turn_the_choice() -> None:
    table = noisy(3, 80, [0.0, 0.0])
    table[:40, 0] += 0.2
    table[40:, 1] += 0.25
    order, testset = order_of(table)
    for row in range(REVIEWED):
        testset = answered(testset, f"q{row}", "reviewed")
    outlook = order.after(testset)
    assert outlook.leaders[0].configuration.strategy == "s0"
    assert not outlook.is_settled
    assert outlook.leaders[0].chance < 1


def test_questions_of_people_decide_and_edited_ones_wait_for_the_next_sweep() -> None:
    order, testset = order_of(noisy(2, 10, [0.0, 0.1]))
    testset = answered(answered(testset, "q0", "people"), "q1", "people")
    edited = replace(testset.queries[1], text="another?")
    testset = replace(testset, queries=(testset.queries[0], edited, *testset.queries[2:]))
    outlook = order.after(testset)
    assert outlook.deciding == 1
    assert not {"q0", "q1"} & {*outlook.order}


def test_without_scores_there_is_nothing_to_review() -> None:
    asked = questions(3)
    result = tuned([outcome("s", [], error="broken")], asked, of=SWEEP)
    with pytest.raises(ChunkwiseError):
        ReviewOrder(result, SWEEP, [hash_of([query]) for query in asked])
    assert result.objective == OBJECTIVE
