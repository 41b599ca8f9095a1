"""How much harder one type of question is than another: with an interval that knows that the two were picked."""

import dataclasses
import math

import numpy as np
import pytest
import scipy

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.evaluation.results import QuestionResult, Results
from chunkwise.evaluation.verdicts_and_advice import type_robustness
from made_results import of_questions, question


def run(metric: str = "recall@5", **types: list[float]) -> Results:
    rows: list[QuestionResult] = []
    for type, values in types.items():
        for value in values:
            own = question(len(rows), {metric: value})
            rows.append(dataclasses.replace(own, types=(type,)))
    return dataclasses.replace(of_questions(tuple(rows)), objective=metric)


def naive(one: tuple[int, int], two: tuple[int, int], outside: float) -> tuple[float, float]:
    """Newcombe's: the exact limits of two shares, squared and added."""
    (a, m), (b, n) = one, two
    first, second = (
        scipy.stats.binomtest(each, of).proportion_ci(1 - outside, "exact")
        for each, of in (one, two)
    )
    apart = a / m - b / n
    low = apart - math.hypot(a / m - first.low, second.high - b / n)
    return low, apart + math.hypot(first.high - a / m, b / n - second.low)


@pytest.mark.usefixtures("large_inputs")
def test_a_drop_of_three_and_four_questions_is_not_shown() -> None:
    results = run(list=[1, 1, 1], cross=[1, 0, 1, 0], plain=[1, 1, 0, 1, 1])
    found = type_robustness(results)
    assert found is not None
    assert (found.easiest, found.hardest, found.drop, found.pairs) == ("list", "cross", 0.5, 3)
    assert (found.low, found.high) == pytest.approx(naive((3, 3), (2, 4), 0.05 / 3), abs=0.01)
    assert found.low < 0
    assert not found.is_shown


def test_two_that_are_named_need_no_correction() -> None:
    results = run(a=[1.0] * 20, b=[0.0] * 12 + [1.0] * 8, c=[0.5] * 9)
    picked, named = type_robustness(results), type_robustness(results, ("a", "b"))
    assert picked is not None
    assert named is not None
    assert (named.easiest, named.hardest, named.pairs) == ("a", "b", 1)
    assert (named.low, named.high) == pytest.approx(naive((20, 20), (8, 20), 0.05), abs=0.01)
    assert picked.low < named.low
    assert named.is_shown
    assert type_robustness(results, ("b", "a")) == named


@pytest.mark.usefixtures("large_inputs")
def test_of_many_types_that_are_alike_two_are_seldom_said_to_differ() -> None:
    rng = np.random.default_rng(3)
    shown = 0
    for _ in range(100):
        types = {f"t{at}": (rng.random(12) < 0.7).astype(float).tolist() for at in range(6)}
        found = type_robustness(run(**types))
        assert found is not None
        shown += found.is_shown
    assert shown <= 5


def test_less_can_be_better() -> None:
    found = type_robustness(run("failure@20", a=[0.0] * 20, b=[1.0] * 20))
    assert found is not None
    assert (found.easiest, found.hardest, found.drop) == ("a", "b", 1.0)
    assert 0 < found.low <= found.drop <= found.high


def test_a_type_that_is_not_there_is_told_with_those_that_are() -> None:
    results = run(a=[1.0], b=[0.0])
    with pytest.raises(InvalidParameter, match="no scored questions of type 'c'; known types: a, b"):  # fmt: skip
        type_robustness(results, ("a", "c"))
    assert type_robustness(run(a=[1.0])) is None


def test_a_figure_that_is_not_there_is_told_with_those_that_are() -> None:
    results = of_questions(tuple(question(n, {"mrr@5": 1.0, "recall@5": 0.5}) for n in range(3)))
    assert results.summary["mrr@5"].mean == 1.0
    with pytest.raises(KeyError) as error:
        results.summary["mrr"]
    assert str(error.value) == (
        "the results have no metric 'mrr'; did you mean mrr@5? known: mrr@5, recall@5, "
        "boundary_issues"
    )
    assert isinstance(error.value, UnknownName)
    with pytest.raises(KeyError, match="the results have no metric 'speed'; known: mrr@5"):
        results.summary["speed"]
    assert results.summary.get("speed") is None
    assert "speed" not in results.summary
