"""Limits of means: those of another implementation for shares, those of weights drawn one by one for any values."""

import math
import random

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.stats.intervals import lower_limits, shares_above, upper_limits
from how_many import examples
from tables import cases
from untimed import is_linear

TENTHS = st.integers(0, 10).map(lambda tenth: tenth / 10)


def one(*values: float) -> NDArray[np.float64]:
    return np.array(values, dtype=float)


@cases("beyond", [0.025, 0.0005])
@cases("right, count", [(0, 6), (1, 13), (12, 13), (13, 13), (3, 50), (70, 132), (480, 500)])
def test_of_right_and_wrong_they_are_the_exact_limits_of_a_share(
    right: int, count: int, beyond: float
) -> None:
    values = (np.arange(count) < right).astype(float)[:, None]
    exact = scipy.stats.binomtest(right, count).proportion_ci(1 - 2 * beyond, "exact")
    low = lower_limits(values, one(0), one(beyond))[0]
    high = upper_limits(values, one(1), one(beyond))[0]
    # As far off as the saddlepoint is: less than 6% of what lies between the limit and the bound.
    assert low == pytest.approx(exact.low, rel=0.06, abs=1e-12)
    assert 1 - high == pytest.approx(1 - exact.high, rel=0.06, abs=1e-12)
    assert low == pytest.approx(exact.low, abs=0.003)
    assert high == pytest.approx(exact.high, abs=0.003)


def naive(values: list[float], highest: float, beyond: float, draws: int = 20_000) -> float:
    """Every value with an exponential weight, in plain Python, one more at the bound."""
    chance, means = random.Random(5), []
    for _ in range(draws):
        weights = [chance.expovariate(1) for _ in range(len(values) + 1)]
        total = math.fsum(w * v for w, v in zip(weights, [*values, highest], strict=True))
        means.append(total / math.fsum(weights))
    return sorted(means)[int((1 - beyond) * draws)]


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize(
    "values",
    [[0.0] * 9 + [0.5], [0.2, 0.4, 0.9, 1.0], [0.1, 0.3, 0.35, 0.6] * 4, [0.05] * 12 + [1.0] * 2],
)
def test_they_are_those_of_weights_drawn_one_by_one(values: list[float]) -> None:
    table = np.array(values)[:, None]
    assert upper_limits(table, one(1), one(0.025))[0] == pytest.approx(
        naive(values, 1.0, 0.025), abs=0.012
    )
    mirrored = [-value for value in values]
    assert lower_limits(table, one(0), one(0.025))[0] == pytest.approx(
        -naive(mirrored, 0.0, 0.025), abs=0.012
    )


def naive_saddlepoint(values: list[float], highest: float, beyond: float) -> float:
    """The limit of one column by the formula (Lugannani and Rice's r*), its root found by another implementation."""
    down = [max(*values, highest) - value for value in [*values, highest]]
    out = scipy.stats.norm.isf(beyond)

    def mean_and_deviation(at: float) -> tuple[float, float]:
        weights = [1 / (at + each) for each in down]
        total = math.fsum(weights)
        tilted = [len(down) * weight / total for weight in weights]
        root = math.sqrt(-2 * math.fsum(map(math.log, tilted)))
        spread = math.sqrt(math.fsum((each - 1) ** 2 for each in tilted))
        mean = math.fsum(w * d for w, d in zip(weights, down, strict=True)) / total
        return mean, root + math.log(spread / root) / root

    place = scipy.optimize.brentq(
        lambda log: mean_and_deviation(math.exp(log))[1] - out, -60, 5, xtol=1e-12
    )
    return max(*values, highest) - mean_and_deviation(math.exp(place))[0]


@settings(max_examples=examples(30))
@given(
    st.lists(TENTHS, min_size=2, max_size=12).filter(lambda values: min(values) < 0.95),
    st.sampled_from([1.0, 1.4, 3.0]),
    st.floats(0.001, 0.2),
    st.integers(0, 2),
)
def test_they_are_the_roots_of_the_formula(
    values: list[float], highest: float, beyond: float, gaps: int
) -> None:
    table = np.array([*values, *[math.nan] * gaps])[:, None]
    exact = naive_saddlepoint(values, highest, beyond)
    found = float(upper_limits(table, one(highest), one(beyond))[0])
    assert found == pytest.approx(exact, rel=1e-7)
    assert lower_limits(-table, one(-highest), one(beyond))[0] == -found


@settings(max_examples=examples(30))
@given(st.lists(TENTHS, min_size=1, max_size=12), st.floats(0.001, 0.3))
def test_the_share_above_a_limit_is_what_was_left_beyond_it(
    values: list[float], beyond: float
) -> None:
    table = np.array(values)[:, None]
    limit = float(upper_limits(table, one(1), one(beyond))[0])
    assert np.mean(values) <= limit + 1e-9
    assert limit <= 1
    if min(values) < 1:
        share = shares_above(table, one(1), limit)[0]
        # A limit inside the middle half has no share of its own.
        assert share == pytest.approx(beyond, rel=1e-4) or share == 1.0


@settings(max_examples=examples(20))
@given(
    st.lists(st.one_of(TENTHS, st.just(math.nan)), min_size=1, max_size=12),
    st.randoms(use_true_random=False),
)
def test_neither_order_nor_gaps_nor_neighbors_change_a_digit(
    values: list[float], chance: random.Random
) -> None:
    scored = [value for value in values if not math.isnan(value)]
    if not scored:
        return
    shuffled = list(values)
    chance.shuffle(shuffled)
    beside = np.column_stack([values, shuffled, np.linspace(0, 1, len(values))])
    found = upper_limits(beside, one(1, 1, 1), one(0.025, 0.025, 0.025))
    alone = upper_limits(np.array(scored)[:, None], one(1), one(0.025))
    assert found[0] == found[1]
    assert found[0] == pytest.approx(alone[0], rel=1e-9)


def test_the_unit_of_the_values_is_the_unit_of_the_limits() -> None:
    values = np.array([[0.0], [0.2], [0.7]])
    found = upper_limits(values, one(1), one(0.025))[0]
    assert upper_limits(1e250 * values, one(1e250), one(0.025))[0] == pytest.approx(1e250 * found)
    assert upper_limits(values - 5, one(-4), one(0.025))[0] == pytest.approx(found - 5)


def test_what_is_at_the_bound_stays_there() -> None:
    assert upper_limits(np.ones((4, 1)), one(1), one(0.025))[0] == 1
    assert shares_above(np.ones((4, 1)), one(1), 1.0)[0] == 0
    assert upper_limits(np.empty((3, 0)), one(), one()).shape == (0,)


def test_work_grows_with_the_table() -> None:
    def work(columns: int) -> None:
        table = np.random.default_rng(0).random((500, columns))
        upper_limits(table, np.ones(columns), np.full(columns, 0.025))

    is_linear(work, 500)
