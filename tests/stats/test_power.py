"""The least difference that can be shown, against another implementation's power and a simulation."""

import math
from statistics import NormalDist

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.stats.paired import (
    detectable,
    detectable_by,
    expected_spread,
    questions_needed,
    student,
    two_sided,
)
from tables import cases


@cases("share, error", [(0.2, 0.002), (0.8, 0.002), (0.975, 0.002), (0.995, 0.006)])
@cases("freedom", [5, 7, 12, 40, 1000])
def test_quantiles_are_those_of_another_implementation(
    share: float, error: float, freedom: int
) -> None:
    exact = scipy.stats.t.ppf(share, freedom)
    assert student(NormalDist().inv_cdf(share), freedom) == pytest.approx(exact, rel=error)


@cases("pairs", [200, 1000])
def test_a_difference_of_this_size_is_shown_four_times_in_five(pairs: int) -> None:
    # Where one question cannot weigh much, it is the power that another implementation has for Student's test.
    least = detectable(0.3, pairs, reach=0.3)
    assert least is not None
    freedom, shift = pairs - 1, least / 0.3 * math.sqrt(pairs)
    bound = scipy.stats.t.ppf(0.975, freedom)
    power = scipy.stats.nct.sf(bound, freedom, shift) + scipy.stats.nct.cdf(-bound, freedom, shift)
    assert power == pytest.approx(0.8, abs=0.06)


@cases("pairs", [8, 10, 20, 60, 200])
def test_so_does_our_own_test(pairs: int) -> None:
    rng = np.random.default_rng(4)
    least = detectable(0.3, pairs)
    assert least is not None
    differences = np.clip(rng.normal(least, 0.3, (pairs, 600)), -1, 1)
    found = two_sided(differences, np.ones(600))
    assert 0.7 <= np.mean([p <= 0.05 for p in found]) <= 0.92


@cases("pairs", [60, 200, 500])
def test_so_does_it_of_right_and_wrong(pairs: int) -> None:
    rng = np.random.default_rng(4)
    least = detectable(0.45, pairs)
    assert least is not None
    changed = 0.45**2 + least**2
    draws = rng.random((pairs, 600))
    differences = np.where(draws < (changed + least) / 2, 1.0, np.where(draws < changed, -1.0, 0.0))
    found = two_sided(differences, np.ones(600))
    assert 0.73 <= np.mean([p <= 0.05 for p in found]) <= 0.9


def test_more_pairs_show_smaller_differences() -> None:
    least = [detectable(0.3, pairs) or 0.0 for pairs in range(6, 60)]
    assert least == sorted(least, reverse=True)


@given(st.floats(0.01, 1), st.floats(0.001, 1))
def test_the_questions_needed_are_the_fewest_that_show_it(spread: float, difference: float) -> None:
    count = questions_needed(difference, spread)
    assert count is not None
    assert count == questions_needed(-difference, spread)
    enough = detectable(spread, count)
    assert enough is not None
    assert enough <= difference
    fewer = detectable(spread, count - 1)
    assert fewer is None or fewer > difference


def test_before_there_is_a_second_run() -> None:
    scores = [0.0, 1.0] * 20
    spread = expected_spread(scores)
    # With a correlation of one half differences spread as the scores do.
    assert spread == pytest.approx(np.std(scores, ddof=1))
    assert expected_spread(scores, correlation=0.875) == pytest.approx(spread / 2)
    assert detectable_by(scores) == detectable(spread, 40)
    assert detectable_by([*scores, math.nan]) == detectable_by(scores)
    # In other units it is the same difference.
    for unit in (-4.0, 0.01, 100.0):
        in_units = [unit * score for score in scores]
        assert detectable_by(in_units) == pytest.approx(abs(unit) * (detectable_by(scores) or 0.0))


def test_nothing_can_be_said() -> None:
    assert detectable(0.3, 5) is None
    assert detectable(0.0, 40) is None
    assert detectable(None, 40) is None
    assert detectable_by([]) is None
    assert detectable_by([1.0] * 40) is None
    for scores in ([], [0.5], [0.5, 0.5], [math.nan, 0.5]):
        assert expected_spread(scores) is None
    assert questions_needed(0.0, 0.3) is None
    assert questions_needed(0.1, None) is None
    assert questions_needed(1e-9, 0.3) is None
    assert detectable(0.3, 6) == 1.0
    assert questions_needed(100.0, 0.3) == 6


def test_where_all_questions_differ_alike_one_that_was_not_seen_decides() -> None:
    assert questions_needed(1.0, 0.0) == 6
    many = questions_needed(0.1, 0.0)
    assert many is not None
    # The exact number: as many as make (1 - 0.1 / 1.1) ** n less than 0.025.
    assert many == pytest.approx(math.log(0.025) / math.log(1 - 0.1 / 1.1), rel=0.25)
    assert questions_needed(0.1, 0.0, reach=0.1) == 6
    assert questions_needed(0.0, 0.0) is None
