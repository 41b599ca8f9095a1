"""Cohen's kappa against its textbook form."""

import math

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.agreement import KappaAgreement, agreement, kendall

VERDICT = st.sampled_from([True, False, None])


@given(st.lists(st.tuples(VERDICT, VERDICT), max_size=40))
def test_it_is_agreement_beyond_chance(pairs: list[tuple[bool | None, bool | None]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    both = [(one, other) for one, other in pairs if None not in (one, other)]
    found = agreement(first, second)
    assert found.items == len(both)
    if not both:
        assert found == KappaAgreement(None, None, 0)
        return
    seen = sum(one == other for one, other in both) / len(both)
    yes = sum(bool(one) for one, _ in both) / len(both)
    also = sum(bool(other) for _, other in both) / len(both)
    chance = yes * also + (1 - yes) * (1 - also)
    assert found.same == seen
    if yes == also and yes in (0, 1):
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx((seen - chance) / (1 - chance), abs=1e-12)
        assert agreement(second, first).kappa == found.kappa


def test_the_textbook_table() -> None:
    # 20 both yes, 15 both no, 5 and 10 apart: kappa 0.4.
    first = [True] * 25 + [False] * 25
    second = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    assert agreement(first, second).kappa == 0.4
    assert agreement(first, first).kappa == 1.0
    assert agreement(first, [not verdict for verdict in first]).kappa == -1.0
    assert agreement(["a", "b", "c"], ["a", "b", "a"]).kappa == 0.5


def test_verdicts_are_paired() -> None:
    with pytest.raises(InvalidParameter, match="1 verdicts and 2"):
        agreement([True], [True, False])


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
