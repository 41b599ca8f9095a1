"""The line of a similarity judge: the best of all that can be drawn, and what it is worth elsewhere."""

import random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.judges.thresholds import best_threshold
from chunkwise.stats.agreement import agreement

ROWS = st.lists(
    st.tuples(st.sampled_from([-0.5, 0.0, 0.1, 0.2, 0.5, 0.9]), st.booleans(), st.sampled_from("abcde"))
)  # fmt: skip


def test_it_lies_half_way_between_the_two_it_parts() -> None:
    found = best_threshold([0.9, 0.8, 0.4, 0.2], [True, True, False, False], list("abcd"))
    assert found is not None
    assert found.value == pytest.approx(0.6)
    assert (found.kappa, found.kappa_elsewhere) == (1.0, 1.0)


def test_chance_looks_worse_where_it_was_not_chosen() -> None:
    chance = random.Random(4)
    here, elsewhere = [], []
    for _ in range(60):
        cosines = [chance.random() for _ in range(40)]
        truths = [chance.random() < 0.5 for _ in cosines]
        found = best_threshold(cosines, truths, [str(at // 2) for at in range(40)])
        assert found is not None
        assert found.kappa_elsewhere is not None
        here.append(found.kappa)
        elsewhere.append(found.kappa_elsewhere)
    assert min(here) >= 0  # calling everything relevant gives as much
    assert mean(here) > 0.1
    assert abs(mean(elsewhere)) < 0.1


def test_one_class_or_no_vector_has_no_line() -> None:
    assert best_threshold([0.1, 0.2], [True, True], list("ab")) is None
    assert best_threshold([], [], []) is None
    assert best_threshold([float("nan"), 0.2], [True, False], list("ab")) is None


@given(ROWS)
def test_no_other_line_is_better(rows: list[tuple[float, bool, str]]) -> None:
    cosines, truths, questions = ([row[at] for row in rows] for at in range(3))
    found = best_threshold(cosines, truths, questions)  # type: ignore[arg-type]
    assert (found is None) == (len(set(truths)) < 2)
    if found is not None:
        lines = [-1.0, -0.2, 0.05, 0.15, 0.3, 0.7, found.value]
        values = [agreement(truths, [each >= line for each in cosines]).kappa for line in lines]  # type: ignore[operator]
        assert found.kappa == pytest.approx(max(value for value in values if value is not None))
        assert values[-1] == pytest.approx(found.kappa)


@given(ROWS.filter(bool))
def test_written_down_it_draws_the_same_line(rows: list[tuple[float, bool, str]]) -> None:
    cosines, truths, questions = ([row[at] for row in rows] for at in range(3))
    found = best_threshold([0.7 + 0.004 * each for each in cosines], truths, questions)  # type: ignore[arg-type,operator]
    if found is not None:
        assert len(repr(found.value)) <= 7
        called = [0.7 + 0.004 * each >= found.value for each in cosines]  # type: ignore[operator]
        assert agreement(truths, called).kappa == pytest.approx(found.kappa)  # type: ignore[arg-type]


def test_where_all_are_best_called_relevant_it_is_not_over_the_last() -> None:
    found = best_threshold([0.2001, 0.3, 0.9, 0.9], [True, False, False, True], list("abcd"))
    assert found is not None
    called = [each >= found.value for each in (0.2001, 0.3, 0.9, 0.9)]
    assert agreement([True, False, False, True], called).kappa == pytest.approx(found.kappa)
