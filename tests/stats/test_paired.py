"""Two runs on the same questions: p-values as another implementation and a plain loop have them."""

import itertools
import math

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.errors import InvalidParameter
from chunkwise.stats.holm import holm
from chunkwise.stats.interval import Interval
from chunkwise.stats.paired import Paired, compare, compare_all
from chunkwise.stats.sign_flip import p_values
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
    found = compare(np.zeros(len(tenths)), np.array(tenths) / 10, resamples=20)
    assert found is not None
    assert found.p == naive(tenths)


def test_it_agrees_with_another_implementation_on_many_pairs() -> None:
    rng = np.random.default_rng(5)
    first = rng.random(60)
    second = np.clip(first + rng.normal(0.07, 0.2, 60), 0, 1)
    found = compare(first, second)
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
    one, other = compare(first, second, resamples=100), compare(second, first, resamples=100)
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
    found = compare(first, second)
    low = pytest.approx(2 * 0.025 ** (1 / 200) - 1)
    assert found == Paired(Interval(1.0, low, 1.0), 2.0**-199, 200, 0.0)
    found = compare(np.zeros(3000), np.ones(3000))
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
    found = compare(np.zeros(40), np.ones(40))
    assert found is not None
    assert max(holm([found.p] * 5_000)) < 1e-6


def test_false_alarms_are_as_rare_as_they_say() -> None:
    rng = np.random.default_rng(8)
    first, second = rng.random((2, 30, 400))
    found = [pair.p for pair in compare_all(first, second, resamples=1_000) if pair]
    assert 0.025 <= np.mean(np.array(found) <= 0.05) <= 0.075


def test_unscored_questions_are_no_pairs() -> None:
    nothing = math.nan
    found = compare([0.5, nothing, 0.2, 0.1], [0.75, 0.3, nothing, 0.1])
    assert found is not None
    assert found.pairs == 2
    assert found.difference.mean == 0.125
    assert found.p == 1.0
    assert compare([nothing], [1.0]) is None
    assert compare([], []) is None
    alone = compare([1.0], [0.5])
    # One question is sure of nearly nothing.
    assert alone == Paired(
        Interval(-0.5, pytest.approx(-0.9875), pytest.approx(0.9625)), 1.0, 1, 0.0
    )
    assert alone is not None
    assert alone.known_spread is None


@pytest.mark.parametrize("pairs", range(2, 9))
def test_the_interval_of_equal_differences_leaves_out_0_when_the_test_does(pairs: int) -> None:
    found = compare(np.zeros(pairs), np.ones(pairs))
    assert found is not None
    assert (found.difference.low > 0) == (found.p <= 0.05) == (pairs >= 6)


@settings(max_examples=examples(20))
@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=5))
def test_of_too_few_pairs_no_interval_leaves_out_0(differences: list[float]) -> None:
    found = compare(np.zeros(len(differences)), differences, resamples=200)
    assert found is not None
    assert found.difference.low <= 0


def test_rounding_is_no_difference() -> None:
    first = np.full(40, 0.3)
    found = compare(first, np.full(40, 0.1 + 0.2))
    assert found is not None
    assert (found.difference.mean, found.p) == (0.0, 1.0)
    assert found.difference.low == -found.difference.high


def test_many_metrics_are_as_one_after_the_other() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.random((2, 40, 5))
    second[:30, 1] = first[:30, 1]  # few differ: exact
    assert compare_all(first, second) == [compare(first[:, at], second[:, at]) for at in range(5)]


def test_unequal_shapes_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"\(2, 1\) and \(3, 1\)"):
        compare([1, 2], [1, 2, 3])
