"""Whole groups are drawn again: what lies in one group is not taken for several witnesses."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.stats.bootstrap import interval
from chunkwise.stats.clustered import clustered_interval
from chunkwise.stats.table import Table

Counts = list[tuple[int, int]]


def share(counts: Table) -> NDArray[np.float64]:
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
