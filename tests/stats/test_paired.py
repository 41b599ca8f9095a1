"""Two runs on the same questions: p-values as another implementation and a plain loop have them."""

import itertools
import math

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.intervals import Interval
from chunkwise.stats.paired import (
    PairedDifference,
    holm,
    p_values,
    paired_difference,
    paired_differences,
    ties,
)
from how_many import examples

TENTHS = st.integers(-10, 10).map(lambda tenth: tenth / 10)


def naive(differences: list[int]) -> float:
    """Every assignment of signs, in whole numbers."""
    seen = abs(sum(differences))
    sums = [
        abs(sum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(each >= seen for each in sums) / len(sums)


@settings(max_examples=examples(20))
@given(st.lists(st.integers(-10, 10), min_size=1, max_size=9))
def test_few_pairs_are_exact(tenths: list[int]) -> None:
    # In tenths sums are not exact as floats: 0.1 + 0.2 is as far from 0 as 0.3 all the same.
    found = paired_difference(np.zeros(len(tenths)), np.array(tenths) / 10, resamples=20)
    assert found is not None
    assert found.p == naive(tenths)


def test_it_agrees_with_another_implementation_on_many_pairs() -> None:
    rng = np.random.default_rng(5)
    first = rng.random(60)
    second = np.clip(first + rng.normal(0.07, 0.2, 60), 0, 1)
    found = paired_difference(first, second)
    other = scipy.stats.permutation_test(
        (second, first), lambda x, y, axis: np.mean(x - y, axis), permutation_type="samples",
        n_resamples=20_000, rng=np.random.default_rng(1),
    )  # fmt: skip
    assert found is not None
    assert 0.01 < other.pvalue < 0.5
    assert found.p == pytest.approx(other.pvalue, abs=0.015)
    assert found.difference.mean == pytest.approx(np.mean(second) - np.mean(first))
    assert found.spread == pytest.approx(np.std(second - first, ddof=1))


@settings(max_examples=examples(20))
@given(st.lists(st.tuples(TENTHS, TENTHS), max_size=20))
def test_the_other_way_round_is_the_same_difference(pairs: list[tuple[float, float]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    one, other = (
        paired_difference(first, second, resamples=100),
        paired_difference(second, first, resamples=100),
    )
    if not pairs:
        assert one is other is None
        return
    assert one is not None
    assert other is not None
    assert one.p == other.p > 0
    assert one.difference.mean == -other.difference.mean
    assert one.pairs == len(pairs)


def test_p_is_never_zero_and_small_where_it_should_be() -> None:
    first, second = np.zeros(200), np.ones(200)
    found = paired_difference(first, second)
    low = pytest.approx(2 * 0.025 ** (1 / 200) - 1)
    assert found == PairedDifference(Interval(1.0, low, 1.0), 2.0**-199, 200, 0.0)
    found = paired_difference(np.zeros(3000), np.ones(3000))
    assert found is not None
    assert 0 < found.p < 1e-300


@pytest.mark.parametrize(
    ("pairs", "up"), [(16, 16), (20, 18), (40, 30), (40, 38), (132, 90), (132, 120), (900, 700)]
)
def test_what_is_rare_is_told_as_well_as_what_is_not(pairs: int, up: int) -> None:
    # Of differences of one size the sums are those of a coin, and known exactly.
    exact = 2 * sum(math.comb(pairs, heads) for heads in range(up, pairs + 1)) / 2**pairs
    signs = np.where(np.arange(pairs) < up, 0.1, -0.1)
    found = [p_values(signs[:, None], seed=seed, resamples=10_000)[0] for seed in range(3)]
    assert found == pytest.approx([exact] * 3, rel=0.15)


def test_what_is_rare_of_any_sizes_is_told_as_every_assignment_has_it() -> None:
    sizes = np.random.default_rng(3).random(18)
    sizes[sizes < 0.2] *= -1
    signs = 1.0 - 2.0 * ((np.arange(1 << 18)[:, None] >> np.arange(18)) & 1)
    exact = (np.abs(signs @ sizes) >= abs(sizes.sum()) - 1e-9).mean()
    assert exact < 0.004
    assert p_values(sizes[:, None], seed=0, resamples=10_000) == [pytest.approx(exact, rel=0.1)]


def test_hundreds_of_tests_can_show_what_is_plain() -> None:
    found = paired_difference(np.zeros(40), np.ones(40))
    assert found is not None
    assert max(holm([found.p] * 5_000)) < 1e-6


def test_false_alarms_are_as_rare_as_they_say() -> None:
    rng = np.random.default_rng(8)
    first, second = rng.random((2, 30, 400))
    found = [pair.p for pair in paired_differences(first, second, resamples=1_000) if pair]
    assert 0.025 <= np.mean(np.array(found) <= 0.05) <= 0.075


def test_unscored_questions_are_no_pairs() -> None:
    nothing = math.nan
    found = paired_difference([0.5, nothing, 0.2, 0.1], [0.75, 0.3, nothing, 0.1])
    assert found is not None
    assert found.pairs == 2
    assert found.difference.mean == 0.125
    assert found.p == 1.0
    assert paired_difference([nothing], [1.0]) is None
    assert paired_difference([], []) is None
    alone = paired_difference([1.0], [0.5])
    # One question is sure of nearly nothing.
    assert alone == PairedDifference(
        Interval(-0.5, pytest.approx(-0.9875), pytest.approx(0.9625)), 1.0, 1, 0.0
    )
    assert alone is not None
    assert alone.known_spread is None


@pytest.mark.parametrize("pairs", range(2, 9))
def test_the_interval_of_equal_differences_leaves_out_0_when_the_test_does(pairs: int) -> None:
    found = paired_difference(np.zeros(pairs), np.ones(pairs))
    assert found is not None
    assert (found.difference.low > 0) == (found.p <= 0.05) == (pairs >= 6)


@settings(max_examples=examples(20))
@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=5))
def test_of_too_few_pairs_no_interval_leaves_out_0(differences: list[float]) -> None:
    found = paired_difference(np.zeros(len(differences)), differences, resamples=200)
    assert found is not None
    assert found.difference.low <= 0


def test_rounding_is_no_difference() -> None:
    first = np.full(40, 0.3)
    found = paired_difference(first, np.full(40, 0.1 + 0.2))
    assert found is not None
    assert (found.difference.mean, found.p) == (0.0, 1.0)
    assert found.difference.low == -found.difference.high


def test_many_metrics_are_as_one_after_the_other() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.random((2, 40, 5))
    second[:30, 1] = first[:30, 1]  # few differ: exact
    assert paired_differences(first, second) == [
        paired_difference(first[:, at], second[:, at]) for at in range(5)
    ]


def test_unequal_shapes_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"\(2, 1\) and \(3, 1\)"):
        paired_difference([1, 2], [1, 2, 3])


def rejected(p: list[float], level: float) -> set[int]:
    """Step down as the procedure is written: stop at the first that is not under its share."""
    found: set[int] = set()
    for place, at in enumerate(sorted(range(len(p)), key=lambda at: p[at])):
        if p[at] * (len(p) - place) > level:
            break
        found.add(at)
    return found


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.5))
def test_what_is_rejected_is_what_the_procedure_rejects(p: list[float], level: float) -> None:
    adjusted = holm(p)
    assert {at for at, each in enumerate(adjusted) if each <= level} == rejected(p, level)
    assert all(own <= each <= 1 for own, each in zip(p, adjusted, strict=True))


def test_a_known_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(wrong: float) -> None:
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        holm([0.5, wrong])


def test_what_is_worse_is_not_tied_and_what_is_close_is() -> None:
    rng = np.random.default_rng(6)
    good = rng.random(80)
    scores = np.column_stack([good - 0.4, good, good + rng.normal(-0.002, 0.05, 80)])
    found = ties(scores)
    assert found is not None
    assert found.best == 1
    assert found.tied == [False, True, True]
    assert found.p[1] == 1.0
    assert found.p[0] < 0.001
    alone = paired_difference(good, scores[:, 2])
    assert alone is not None
    assert found.p[2] == alone.p
    assert found.best_share[0] == 0
    assert found.best_share[1] > found.best_share[2] > 0
    assert sum(found.best_share) == pytest.approx(1)
    assert found.means == pytest.approx(scores.mean(axis=0))
    assert found.needed is not None
    assert found.needed > 80


def test_lower_can_be_better() -> None:
    scores = np.column_stack([np.zeros(20), np.ones(20)])
    up, down = ties(scores), ties(scores, lower_is_better=True)
    assert up is not None
    assert down is not None
    assert (up.best, down.best) == (1, 0)
    assert (up.best_share, down.best_share) == ([0, 1], [1, 0])
    assert down.means == [0, 1]


def test_equal_runs_share_the_first_place() -> None:
    values = np.random.default_rng(1).random((30, 1))
    found = ties(np.repeat(values, 3, axis=1))
    assert found is not None
    assert found.best == 0
    assert found.tied == [True] * 3
    assert found.best_share == pytest.approx([1 / 3] * 3)
    assert found.needed is None


def test_only_questions_that_all_have_count() -> None:
    nothing = math.nan
    found = ties([[1.0, 0.0], [nothing, 1.0], [1.0, nothing]])
    assert found is not None
    assert (found.questions, found.best, found.means) == (1, 0, [1.0, 0.0])
    assert ties([[nothing, 1.0]]) is None
    assert ties(np.empty((0, 3))) is None
    assert ties(np.empty((3, 0))) is None
    alone = ties([[0.5]])
    assert alone is not None
    assert (alone.best, alone.tied, alone.best_share, alone.needed) == (0, [True], [1.0], None)
