"""Intervals of means: exact where they can be, right as often as they say, the same every time."""

import math
import random

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.intervals import (
    Interval,
    clustered_interval,
    distinct_means,
    interval,
    intervals,
    quantiles,
    resampled_means,
)
from chunkwise.stats.table import ScoreMatrix, on_grid
from how_many import examples

SCORES = st.floats(-1e6, 1e6, allow_subnormal=False)
MAYBE = st.one_of(SCORES, st.just(math.nan))


def table(rows: int, columns: int, gaps: float = 0.0, seed: int = 3) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    values = rng.random((rows, columns))
    values[rng.random(values.shape) < gaps] = math.nan
    return values


@settings(max_examples=examples(20))
@given(st.lists(st.lists(MAYBE, min_size=3, max_size=3), max_size=12), st.integers(0, 5))
def test_a_mean_lies_in_its_interval_and_the_interval_among_the_values_that_can_be(
    rows: list[list[float]], seed: int
) -> None:
    values = np.array(rows, dtype=float).reshape(-1, 3)
    for column, found in zip(values.T, intervals(values, seed=seed, resamples=50), strict=True):
        own = column[~np.isnan(column)]
        if not len(own):
            assert found is None
            continue
        assert found is not None
        assert found.low <= found.mean <= found.high
        if len(own) >= 6 and own.min() < own.max():
            assert own.min() <= found.low
            assert found.high <= own.max()
        else:
            assert min(0, own.min()) <= found.low
            assert found.high <= max(1, own.max())
            assert found.high - found.low > 0.4 if len(own) < 6 else found.low < found.high
        assert found.mean == pytest.approx(math.fsum(own) / len(own), rel=1e-15, abs=1e-300)


def test_resamples_are_means_of_rows_drawn_with_replacement() -> None:
    values = table(30, 4, gaps=0.3)
    found = resampled_means(values, seed=7, resamples=20)
    drawn = np.random.default_rng(7).integers(0, 30, (20, 30))
    for resample, rows in zip(found, drawn, strict=True):
        for column, mean in enumerate(resample.tolist()):
            own = [values[row, column] for row in rows if not math.isnan(values[row, column])]
            assert mean == pytest.approx(sum(own) / len(own), rel=1e-11)


def test_a_resample_without_any_scored_question_has_no_mean() -> None:
    values = np.full((6, 1), math.nan)
    values[0] = 0.5
    means = resampled_means(values, seed=0, resamples=200)[:, 0]
    assert set(means[~np.isnan(means)]) == {0.5}
    # Each of six draws misses the one question with 5/6.
    assert 0.2 < np.isnan(means).mean() < 0.5
    values[1:] = 0.7
    values = np.vstack([values, np.full((6, 1), math.nan)])
    found = intervals(values)[0]
    assert found is not None
    assert (found.mean, found.high) == (pytest.approx(4 / 6), 0.7)
    assert 0.5 <= found.low < 0.66


def test_it_agrees_with_another_implementation() -> None:
    values = table(60, 1)[:, 0] ** 3
    found = interval(values)
    other = scipy.stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert found is not None
    assert found.low == pytest.approx(other.low, abs=0.006)
    assert found.high == pytest.approx(other.high, abs=0.006)


@pytest.mark.parametrize("questions", [20, 40])
def test_the_interval_covers_the_true_mean_as_often_as_it_says(questions: int) -> None:
    rng = np.random.default_rng(11)
    # Each column is an experiment of its own: questions of which two in three are answered.
    values = (rng.random((questions, 500)) < 2 / 3).astype(float)
    found = intervals(values, resamples=2_000)
    hit = [each is not None and each.low <= 2 / 3 <= each.high for each in found]
    assert 0.93 <= np.mean(hit) <= 0.985


def test_degenerate_columns() -> None:
    nothing = math.nan
    values = [[0.1, nothing, 5.0, 0.0], [0.1, nothing, nothing, 1.0], [0.1, nothing, nothing, 0.0]]
    equal, none, one, spread = intervals(values)
    # Of three questions 71 % could be others without one of them being seen in one sample of forty.
    unseen = 1 - 0.025 ** (1 / 3)
    assert equal == Interval(
        0.1, pytest.approx(0.1 - 0.1 * unseen), pytest.approx(0.1 + 0.9 * unseen)
    )
    assert none is None
    assert one == Interval(5.0, pytest.approx(5.0 * 0.025), 5.0)
    assert spread == Interval(1 / 3, 0.0, 1.0)
    assert intervals(np.empty((0, 2))) == [None, None]
    assert intervals(np.empty((3, 0))) == []
    assert interval([]) is None


@pytest.mark.parametrize("count", [1, 2, 5, 40, 132])
def test_of_right_answers_alone_the_interval_is_the_exact_one_of_a_share(count: int) -> None:
    other = scipy.stats.binomtest(count, count).proportion_ci(0.95, "exact")
    right, wrong = interval(np.ones(count)), interval(np.zeros(count))
    assert right == Interval(1.0, pytest.approx(other.low), 1.0)
    assert wrong == Interval(0.0, 0.0, pytest.approx(1 - other.low))


@pytest.mark.parametrize("questions", [1, 2, 3, 4, 8])
def test_few_questions_that_are_mostly_right_are_not_sure_of_it(questions: int) -> None:
    values = (np.random.default_rng(7).random((questions, 600)) < 0.9).astype(float)
    found = intervals(values, resamples=1_000)
    assert np.mean([each is not None and each.low <= 0.9 <= each.high for each in found]) >= 0.95


def test_two_values_that_are_near_say_little_about_the_others() -> None:
    found = interval([0.5, 0.6])
    assert found is not None
    assert found.low < 0.1
    assert found.high > 0.9


def test_columns_do_not_change_each_other_and_seeds_do() -> None:
    values = table(50, 3, gaps=0.1)
    together = intervals(values)
    assert [intervals(values[:, [at]])[0] for at in range(3)] == together
    assert intervals(values, seed=1) != together
    assert intervals(values) == together


def test_infinity_is_no_score() -> None:
    with pytest.raises(InvalidParameter, match="score 1 of column 0 is inf"):
        intervals([[0.0], [math.inf]])
    with pytest.raises(InvalidParameter, match="1 dimensions"):
        intervals([0.0, 1.0])


@settings(max_examples=examples(20))
@given(st.lists(SCORES, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_sums_on_the_grid_are_exact_in_any_order(values: list[float], random: object) -> None:
    own = on_grid(np.array(values)[:, None])[:, 0]
    assert np.abs(own - values).max() <= np.abs(values).max() * len(values) * 2.0**-51
    shuffled = own.tolist()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sum(shuffled) == sum(own.tolist()) == math.fsum(own)


@settings(max_examples=examples(30))
@given(st.integers(1, 9), st.integers(0, 5), st.integers(0, 2**32))
def test_many_columns_at_once_have_the_quantiles_of_each(rows: int, gaps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((rows, 4)).round(1)
    table[rng.random(table.shape) < gaps / 10] = np.nan
    means, times = distinct_means(table, seed=seed, resamples=200)
    at = rng.random((2, 4))
    known = resampled_means(table, seed=seed, resamples=200)
    scored = [column for column in range(4) if not np.isnan(table[:, column]).all()]
    found = quantiles(means[:, scored], times, at[:, scored])
    for number, column in enumerate(scored):
        own = known[:, column]
        expected = np.quantile(own[~np.isnan(own)], at[:, column])
        assert found[:, number].tolist() == expected.tolist()


Counts = list[tuple[int, int]]


def share(counts: ScoreMatrix) -> NDArray[np.float64]:
    total = counts.sum(axis=1)
    return np.where(total > 0, counts[:, 0] / np.where(total > 0, total, 1), np.nan)


def naive(counts: Counts, resamples: int = 4000) -> tuple[float, float]:
    """Groups drawn one by one, in plain Python; the plain percentiles."""
    chance = random.Random(3)
    totals = [(one, one + other) for one, other in counts]
    drawn = []
    for _ in range(resamples):
        some = chance.choices(totals, k=len(totals))
        drawn.append(sum(one for one, _ in some) / sum(total for _, total in some))
    drawn.sort()
    return drawn[int(0.025 * resamples)], drawn[int(0.975 * resamples)]


@pytest.mark.unwatched
def test_it_is_the_interval_of_groups_drawn_one_by_one() -> None:
    chance = random.Random(1)
    counts = [(chance.randrange(6), chance.randrange(1, 4)) for _ in range(120)]
    found = clustered_interval(counts, share)
    assert found is not None
    assert found.mean == sum(one for one, _ in counts) / sum(map(sum, counts))
    assert (found.low, found.high) == pytest.approx(naive(counts), abs=0.012)


def test_of_groups_of_one_it_is_the_usual_interval_of_a_mean() -> None:
    right = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1] * 4
    found, usual = clustered_interval([(one, 1 - one) for one in right], share), interval(right)
    assert found is not None
    assert usual is not None
    assert found == pytest.approx(usual, abs=1e-9)


def test_verdicts_of_one_question_count_as_one_witness() -> None:
    alone = clustered_interval([(1, 0), (0, 1)] * 20, share)
    together = clustered_interval([(10, 0), (0, 10)] * 2, share)
    assert alone is not None
    assert together is not None
    assert alone.mean == together.mean == 0.5
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_where_all_are_alike_others_may_not_be() -> None:
    """The rule of three: of 30 questions without an error, up to 11.6 % may have one."""
    found = clustered_interval([(1, 0)] * 30, share)
    assert found == pytest.approx((1.0, 0.025 ** (1 / 30), 1.0))
    one = clustered_interval([(5, 0)], share)
    assert one == pytest.approx((1.0, 0.025, 1.0))


def test_nothing_has_no_interval() -> None:
    assert clustered_interval(np.zeros((0, 2)), share) is None
    assert clustered_interval([(0, 0), (0, 0)], share) is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12), st.integers(0, 3))
def test_the_figure_is_within_its_interval_and_that_within_the_bounds(
    counts: Counts, seed: int
) -> None:
    table = np.array(counts, dtype=float).reshape(-1, 2)
    found = clustered_interval(table, share, seed=seed, resamples=200)
    assert (found is None) == (not table.sum())
    if found is not None:
        assert 0 <= found.low <= found.mean <= found.high <= 1
        assert found == clustered_interval(table, share, seed=seed, resamples=200)
        # A group without items is no group.
        more = np.vstack([table, np.zeros((3, 2))])
        assert found == clustered_interval(more, share, seed=seed, resamples=200)
