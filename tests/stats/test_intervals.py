"""Intervals of means: exact where they can be, right as often as they say, the same every time."""

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.intervals import (
    Interval,
    ScoreMatrix,
    clustered_interval,
    interval,
    intervals,
    on_grid,
    resampled_means,
    unpaired_difference,
)
from how_many import examples
from tables import cases

SCORES = st.floats(-1e6, 1e6, allow_subnormal=False)
MAYBE = st.one_of(SCORES, st.just(math.nan))


def table(rows: int, columns: int, gaps: float = 0.0, seed: int = 3) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    values = rng.random((rows, columns))
    values[rng.random(values.shape) < gaps] = math.nan
    return values


@settings(max_examples=examples(20))
@given(st.lists(st.lists(MAYBE, min_size=3, max_size=3), max_size=12))
def test_a_mean_lies_in_its_interval_and_the_interval_among_the_values_that_can_be(
    rows: list[list[float]],
) -> None:
    values = np.array(rows, dtype=float).reshape(-1, 3)
    for column, found in zip(values.T, intervals(values), strict=True):
        own = column[~np.isnan(column)]
        if not len(own):
            assert found is None
            continue
        assert found is not None
        assert found.low <= found.mean <= found.high
        assert min(0, own.min()) <= found.low
        assert found.high <= max(1, own.max())
        assert found.low < found.high
        assert found.mean == pytest.approx(math.fsum(own) / len(own), rel=1e-15, abs=1e-300)


def test_resamples_are_means_of_rows_drawn_with_replacement() -> None:
    values = table(30, 4, gaps=0.3)
    found = resampled_means(values, seed=7, resamples=20)
    drawn = np.random.default_rng(7).integers(0, 30, (20, 30))
    for resample, rows in zip(found, drawn, strict=True):
        for column, mean in enumerate(resample.tolist()):
            own = [values[row, column] for row in rows if not math.isnan(values[row, column])]
            assert mean == pytest.approx(sum(own) / len(own), rel=1e-11)


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    values, counts = table(15, 7, gaps=0.3), np.floor(9 * table(15, 2))

    def made() -> tuple[object, ...]:
        return (
            resampled_means(values, seed=7, resamples=21).tolist(),
            intervals(values),
            clustered_interval(counts, share, **SHARE, resamples=201),
        )

    whole = made()
    for cells in (1, 40, 100):
        monkeypatch.setattr("chunkwise.stats.intervals._CELLS", cells)
        for one, other in zip(made(), whole, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_resample_without_any_scored_question_has_no_mean() -> None:
    values = np.full((6, 1), math.nan)
    values[0] = 0.5
    means = resampled_means(values, seed=0, resamples=200)[:, 0]
    assert set(means[~np.isnan(means)]) == {0.5}
    # Each of six draws misses the one question with 5/6.
    assert 0.2 < np.isnan(means).mean() < 0.5


def test_many_values_that_are_spread_have_the_interval_that_others_find() -> None:
    values = table(400, 1)[:, 0] ** 3
    found = interval(values)
    other = scipy.stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=5_000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert found is not None
    assert found.low == pytest.approx(other.low, abs=0.006)
    assert found.high == pytest.approx(other.high, abs=0.006)


Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
KINDS: dict[str, tuple[Draw, float]] = {
    "mostly right": (lambda rng, size: (rng.random(size) < 0.96).astype(float), 0.96),
    "two in three": (lambda rng, size: (rng.random(size) < 2 / 3).astype(float), 2 / 3),
    "some in part": (
        lambda rng, size: np.where(rng.random(size) < 0.9, 1.0, rng.random(size)),
        0.95,
    ),
    "low, seldom high": (
        lambda rng, size: np.where(rng.random(size) < 0.95, 0.2 * rng.random(size), 1.0),
        0.145,
    ),
}


@cases("kind", KINDS)
@cases("questions", [10, 13, 40, 500])
def test_the_interval_covers_the_true_mean_as_often_as_it_says(kind: str, questions: int) -> None:
    draw, true = KINDS[kind]
    found = intervals(draw(np.random.default_rng(11), (questions, 300)))
    hit = [each is not None and each.low <= true <= each.high for each in found]
    assert np.mean(hit) >= 0.93


def test_more_may_be_left_outside_of_one_column_than_of_another() -> None:
    values = np.repeat(table(40, 1), 3, axis=1)
    wide, usual, narrow = intervals(values, outside=[0.001, 0.05, 0.2])
    assert wide is not None
    assert usual is not None
    assert narrow is not None
    assert usual == interval(values[:, 0])
    assert wide.low < usual.low < narrow.low < narrow.high < usual.high < wide.high


def test_degenerate_columns() -> None:
    nothing = math.nan
    values = [[0.1, nothing, 5.0, 0.0], [0.1, nothing, nothing, 1.0], [0.1, nothing, nothing, 0.0]]
    equal, none, one, spread = intervals(values)
    # Of three questions 71% could be others without one of them being seen in one sample of forty.
    unseen = 1 - 0.025 ** (1 / 3)
    assert equal == pytest.approx((0.1, 0.1 - 0.1 * unseen, 0.1 + 0.9 * unseen), abs=0.004)
    assert none is None
    assert one == pytest.approx((5.0, 5.0 * 0.025, 5.0), abs=0.01)
    exact = scipy.stats.binomtest(1, 3).proportion_ci(0.95, "exact")
    assert spread == pytest.approx((1 / 3, exact.low, exact.high), abs=0.004)
    assert intervals(np.empty((0, 2))) == [None, None]
    assert intervals(np.empty((3, 0))) == []
    assert interval([]) is None


@cases("count", [1, 2, 5, 40, 132])
def test_of_right_answers_alone_the_interval_is_the_exact_one_of_a_share(count: int) -> None:
    other = scipy.stats.binomtest(count, count).proportion_ci(0.95, "exact")
    right, wrong = interval(np.ones(count)), interval(np.zeros(count))
    assert right == pytest.approx((1.0, other.low, 1.0), abs=0.003)
    assert wrong == pytest.approx((0.0, 0.0, 1 - other.low), abs=0.003)
    assert right is not None
    assert right.low < 1


@cases("questions", [1, 2, 3, 4, 8])
def test_few_questions_that_are_mostly_right_are_not_sure_of_it(questions: int) -> None:
    values = (np.random.default_rng(7).random((questions, 600)) < 0.9).astype(float)
    found = intervals(values)
    assert np.mean([each is not None and each.low <= 0.9 <= each.high for each in found]) >= 0.95


def test_two_values_that_are_near_say_little_about_the_others() -> None:
    found = interval([0.5, 0.6])
    assert found is not None
    assert found.low < 0.1
    assert found.high > 0.9


def test_columns_do_not_change_each_other() -> None:
    values = table(50, 3, gaps=0.1)
    together = intervals(values)
    assert [intervals(values[:, [at]])[0] for at in range(3)] == together
    assert intervals(values[::-1]) == together


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


_SMALL = st.floats(-1e-3, 1e-3).map(lambda value: value if abs(value) > 1e-200 else 0.0)


@given(st.lists(st.tuples(SCORES, _SMALL), min_size=1, max_size=9))
def test_a_table_on_one_grid_is_rounded_like_one_column(rows: list[tuple[float, float]]) -> None:
    table = np.array(rows)
    most = np.abs(table).max() * len(table)
    step = 2.0 ** (np.frexp(most)[1] - 52)
    assert np.array_equal(on_grid(table, together=True), np.rint(table / step) * step)
    columns = [on_grid(table[:, [at]]) for at in range(2)]
    assert np.array_equal(on_grid(table), np.hstack(columns))


def test_two_means_over_other_questions() -> None:
    found = unpaired_difference(Interval(0.2, 0.1, 0.5), Interval(0.6, 0.3, 0.7))
    assert found == pytest.approx((0.4, 0.4 - math.hypot(0.3, 0.3), 0.4 + math.hypot(0.1, 0.1)))
    other = unpaired_difference(Interval(0.6, 0.3, 0.7), Interval(0.2, 0.1, 0.5))
    assert (other.mean, other.low, other.high) == pytest.approx(
        (-found.mean, -found.high, -found.low)
    )


@cases("few, many", [(3, 4), (10, 12), (60, 15)])
@cases("one, two", [(0.95, 0.95), (0.9, 0.5), (1.0, 0.8)])
def test_a_difference_of_other_questions_is_covered_as_often_as_it_says(
    few: int, many: int, one: float, two: float
) -> None:
    rng = np.random.default_rng([few, many])
    first = intervals((rng.random((few, 300)) < one).astype(float))
    second = intervals((rng.random((many, 300)) < two).astype(float))
    hit = []
    for a, b in zip(first, second, strict=True):
        assert a is not None
        assert b is not None
        found = unpaired_difference(a, b)
        hit.append(found.low <= two - one <= found.high)
    assert np.mean(hit) >= 0.93


Counts = list[tuple[int, int]]


def share(counts: ScoreMatrix) -> NDArray[np.float64]:
    total = counts.sum(axis=1)
    return np.where(total > 0, counts[:, 0] / np.where(total > 0, total, 1), np.nan)


SHARE = {"worst": (0, 1), "best": (1, 0)}


def naive(counts: Counts, draws: int = 6000) -> tuple[float, float]:
    """Groups weighted one by one, in plain Python, with one more that is all wrong, or all right."""
    chance = random.Random(3)
    size = sum(map(sum, counts)) / len(counts)
    found = []
    for unseen, share in (((0.0, size), 0.025), ((size, 0.0), 0.975)):
        drawn = []
        for _ in range(draws):
            weighted = [(chance.expovariate(1), each) for each in [*counts, unseen]]
            right = sum(weight * one for weight, (one, _) in weighted)
            drawn.append(right / sum(weight * (one + two) for weight, (one, two) in weighted))
        found.append(sorted(drawn)[int(share * draws)])
    return found[0], found[1]


@pytest.mark.unwatched
def test_it_is_the_interval_of_groups_weighted_one_by_one() -> None:
    chance = random.Random(1)
    counts = [(chance.randrange(6), chance.randrange(1, 4)) for _ in range(60)]
    found = clustered_interval(counts, share, **SHARE)
    assert found is not None
    assert found.mean == sum(one for one, _ in counts) / sum(map(sum, counts))
    assert (found.low, found.high) == pytest.approx(naive(counts), abs=0.012)


def test_groups_are_weighted_as_often_as_is_asked() -> None:
    rows = list[int]()

    def seen(sums: ScoreMatrix) -> NDArray[np.float64]:
        rows.append(len(sums))
        return share(sums)

    clustered_interval([(1, 0), (0, 1)], seen, **SHARE, resamples=70)
    assert rows == [1, 70, 70]


def test_of_groups_of_one_it_is_the_usual_interval_of_a_mean() -> None:
    right = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1] * 4
    counts = [(one, 1 - one) for one in right]
    found, usual = clustered_interval(counts, share, **SHARE), interval(right)
    assert found is not None
    assert found == pytest.approx(usual, abs=0.01)


def test_verdicts_of_one_question_count_as_one_witness() -> None:
    alone = clustered_interval([(1, 0), (0, 1)] * 20, share, **SHARE)
    together = clustered_interval([(10, 0), (0, 10)] * 2, share, **SHARE)
    assert alone is not None
    assert together is not None
    assert alone.mean == together.mean == 0.5
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_where_all_are_alike_others_may_not_be() -> None:
    """The rule of three: of 30 questions without an error, up to 11.6% may have one."""
    found = clustered_interval([(1, 0)] * 30, share, **SHARE)
    assert found == pytest.approx((1.0, 0.025 ** (1 / 30), 1.0), abs=0.01)
    one = clustered_interval([(5, 0)], share, **SHARE)
    assert one == pytest.approx((1.0, 0.025, 1.0), abs=0.01)


@cases("groups", [10, 30])
def test_figures_of_groups_are_covered_as_often_as_they_say(groups: int) -> None:
    rng = np.random.default_rng(groups)
    hit = []
    for _ in range(150):
        # Five verdicts a question; of one question in ten all are wrong, of the others none.
        wrong = 5 * (rng.random(groups) < 0.1)
        found = clustered_interval(np.column_stack([5 - wrong, wrong]), share, **SHARE, resamples=2_000)  # fmt: skip
        assert found is not None
        hit.append(found.low <= 0.9 <= found.high)
    assert np.mean(hit) >= 0.93


def test_nothing_has_no_interval() -> None:
    assert clustered_interval(np.zeros((0, 2)), share, **SHARE) is None
    assert clustered_interval([(0, 0), (0, 0)], share, **SHARE) is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12), st.integers(0, 3))
def test_the_figure_is_within_its_interval_and_that_within_the_bounds(
    counts: Counts, seed: int
) -> None:
    table = np.array(counts, dtype=float).reshape(-1, 2)
    found = clustered_interval(table, share, **SHARE, seed=seed, resamples=200)
    assert (found is None) == (not table.sum())
    if found is not None:
        assert 0 <= found.low <= found.mean <= found.high <= 1
        assert found == clustered_interval(table, share, **SHARE, seed=seed, resamples=200)
        # A group without items is no group.
        more = np.vstack([table, np.zeros((3, 2))])
        assert found == clustered_interval(more, share, **SHARE, seed=seed, resamples=200)
