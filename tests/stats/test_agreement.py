"""Cohen's kappa against its textbook form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.errors import InvalidParameter
from chunkwise.stats.agreement import Agreed, agreement

VERDICT = st.sampled_from([True, False, None])


@given(st.lists(st.tuples(VERDICT, VERDICT), max_size=40))
def test_it_is_agreement_beyond_chance(pairs: list[tuple[bool | None, bool | None]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    both = [(one, other) for one, other in pairs if None not in (one, other)]
    found = agreement(first, second)
    assert found.items == len(both)
    if not both:
        assert found == Agreed(None, None, 0)
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
