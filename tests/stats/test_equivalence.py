"""As good as equal: two one-sided tests, held against weights drawn one by one in plain Python."""

import math
import random

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.intervals import upper_limits
from chunkwise.stats.paired import FEWEST, equivalence, paired_difference
from how_many import examples
from tables import cases

TENTHS = st.integers(0, 10).map(lambda tenth: tenth / 10)
PAIRS = st.lists(st.tuples(TENTHS, TENTHS), min_size=FEWEST, max_size=40)


def of(pairs: list[tuple[float, float]], margin: float) -> float | None:
    first, second = ([[each[at]] for each in pairs] for at in (0, 1))
    return equivalence(first, second, margin)[0]


def naive(pairs: list[tuple[float, float]], margin: float, draws: int = 4000) -> float:
    """Both one-sided tests by hand: how often a weighting, with one unseen pair at its worst, is beyond the margin."""
    apart = [other - one for one, other in pairs]
    runs = [{pair[at] for pair in pairs} for at in (0, 1)]
    reach = 1.0 if min(map(len, runs)) == 1 else max(set.union(*runs))
    shares = []
    for sign in (1, -1):
        chance = random.Random(11)
        beyond = 0
        for _ in range(draws):
            weights = [chance.expovariate(1) for _ in range(len(apart) + 1)]
            total = math.fsum(w * sign * each for w, each in zip(weights, apart, strict=False))
            total += weights[-1] * reach
            beyond += total > margin * math.fsum(weights)
        shares.append(beyond / draws)
    return max(shares)


@pytest.mark.unwatched
@settings(max_examples=examples(15), deadline=None)
@given(PAIRS, st.sampled_from([0.05, 0.1, 0.2, 0.4]))
def test_p_is_that_of_a_naive_two_one_sided_test(
    pairs: list[tuple[float, float]], margin: float
) -> None:
    found, other = of(pairs, margin), naive(pairs, margin)
    assert found is not None
    if found < 1:  # more than half counts as all
        assert found == pytest.approx(other, abs=0.04)
    else:
        assert other > 0.4


@settings(max_examples=examples(40))
@given(PAIRS, st.floats(0.01, 0.9))
def test_what_differs_by_the_margin_is_never_equal_and_order_does_not_matter(
    pairs: list[tuple[float, float]], margin: float
) -> None:
    found = of(pairs, margin)
    assert found is not None
    assert 0 < found <= 1
    if abs(np.mean([other - one for one, other in pairs])) >= margin:
        assert found == 1
    assert of([(other, one) for one, other in pairs], margin) == found
    assert of(pairs[::-1], margin) == pytest.approx(found)
    wider = of(pairs, min(margin * 1.5, 0.95))
    assert wider is not None
    assert wider <= found + 1e-9
    # The same thing said by limits: both one-sided ones of 95% are within the margin.
    apart = np.array([[other - one] for one, other in pairs])
    tested = paired_difference([one for one, _ in pairs], [two for _, two in pairs])
    assert tested is not None
    ends = [
        upper_limits(sign * apart, np.array([tested.reach]), np.array([0.05]))[0]
        for sign in (1, -1)
    ]
    if abs(max(ends) - margin) > 1e-6:
        assert (found <= 0.05) == (max(ends) < margin)


def test_it_is_near_another_implementation_on_many_pairs() -> None:
    rng = np.random.default_rng(5)
    first = rng.random(400)
    second = np.clip(first + rng.normal(0.0, 0.2, 400), 0, 1)
    apart = second - first
    p = max(
        scipy.stats.ttest_1samp(apart, 0.03, alternative="less").pvalue,
        scipy.stats.ttest_1samp(apart, -0.03, alternative="greater").pvalue,
    )
    (found,) = equivalence(first[:, None], second[:, None], 0.03)
    assert found is not None
    assert p < found < 4 * p


@cases("questions, is_equal", [(100, False), (155, True)])
def test_that_nothing_differs_shows_little_of_few_questions(questions: int, is_equal: bool) -> None:
    same = np.ones((questions, 1))
    (found,) = equivalence(same, same, 0.02)
    assert found is not None
    assert found == pytest.approx(0.98**questions, rel=0.1)
    assert (found <= 0.05) is is_equal


def test_too_few_pairs_and_no_margin_say_nothing() -> None:
    assert equivalence(np.ones((5, 1)), np.ones((5, 1)), 0.5) == [None]
    gone = np.full((9, 1), np.nan)
    assert equivalence(gone, np.ones((9, 1)), 0.5) == [None]
    for margin in (0.0, -0.1, math.nan):
        with pytest.raises(InvalidParameter, match="margin"):
            equivalence(np.ones((9, 1)), np.ones((9, 1)), margin)


def test_runs_that_differ_by_the_margin_are_seldom_called_equal() -> None:
    rng = np.random.default_rng(3)
    called = 0
    for _ in range(200):
        first = rng.random((80, 1))
        second = np.clip(first + rng.normal(0.1, 0.15, (80, 1)), 0, 1.5)
        (found,) = equivalence(first, second, 0.1)
        called += found is not None and found <= 0.05
    assert called <= 18
