"""Kendall's tau-b against scipy's, and where there is no order."""

import math

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.errors import InvalidParameter
from chunkwise.stats.kendall import kendall


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=40))
def test_it_is_what_scipy_says(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    found = kendall(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(scipy.stats.kendalltau(first, second).statistic, abs=1e-12)


def test_the_same_order_is_1_and_the_opposite_is_minus_1() -> None:
    values = [0.1, 0.4, 0.4, 0.9]
    assert kendall(values, [value * 2 for value in values]) == 1.0
    assert kendall(values, [-value for value in values]) == -1.0


def test_nothing_to_order_gives_nothing() -> None:
    assert kendall([], []) is None
    assert kendall([1.0], [2.0]) is None


def test_what_cannot_be_paired_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="2 values and 1"):
        kendall([1, 2], [1])
    with pytest.raises(InvalidParameter, match="NaN"):
        kendall([1, math.nan], [1, 2])
