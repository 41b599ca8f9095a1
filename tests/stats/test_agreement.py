"""Cohen's kappa and Krippendorff's alpha against their textbook forms."""

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.agreement import KappaAgreement, agreement, coincidences, kendall, krippendorff

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
    with pytest.raises(InvalidParameter, match="1 verdict and 2"):
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


def _naive_alpha(units: list[list[int]]) -> float | None:
    """Krippendorff's alpha for ordinal data, from pairs of values (2011, "Computing Krippendorff's alpha")."""
    pairable = [unit for unit in units if len(unit) > 1]
    values = [value for unit in pairable for value in unit]
    total = len(values)

    def apart(one: int, other: int) -> float:
        low, high = min(one, other), max(one, other)
        between = sum(values.count(grade) for grade in range(low, high + 1))
        return float((between - (values.count(low) + values.count(high)) / 2) ** 2)

    seen = sum(
        sum(apart(unit[i], unit[j]) for i in range(len(unit)) for j in range(len(unit)) if i != j)
        / (len(unit) - 1)
        for unit in pairable
    )
    chance = sum(apart(one, other) for one in values for other in values)
    return 1 - (total - 1) * seen / chance if chance else None


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=12))
def test_alpha_is_its_definition(units: list[list[int]]) -> None:
    found = float(krippendorff(coincidences(units, 4)))
    naive = _naive_alpha(units)
    assert (naive is None and np.isnan(found)) or found == pytest.approx(naive)


def test_alpha_of_the_published_example() -> None:
    """Krippendorff 2011, four observers on twelve units, values 1 to 5: ordinal 0.815."""
    rows = (
        "1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .",
    )  # fmt: skip
    columns = zip(*(row.split() for row in rows), strict=True)
    units = [[None if each == "." else int(each) - 1 for each in column] for column in columns]
    assert float(krippendorff(coincidences(units, 5))) == pytest.approx(0.815, abs=0.0005)


def test_alpha_of_one_value_is_not_told() -> None:
    assert np.isnan(krippendorff(coincidences([[2, 2], [2, 2]], 4)))
    assert float(krippendorff(coincidences([[0, 0], [3, 3]], 4))) == 1
