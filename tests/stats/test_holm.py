"""Holm's correction against the definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.errors import InvalidParameter
from chunkwise.stats.holm import holm


def rejected(p: list[float], level: float) -> set[int]:
    """Step down as the procedure is written: stop at the first that is not under its share."""
    found: set[int] = set()
    for place, at in enumerate(sorted(range(len(p)), key=lambda at: p[at])):
        if p[at] * (len(p) - place) > level:
            break
        found.add(at)
    return found


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.5))
def test_what_is_rejected_is_what_the_procedure_rejects(p: list[float], level: float) -> None:
    adjusted = holm(p)
    assert {at for at, each in enumerate(adjusted) if each <= level} == rejected(p, level)
    assert all(own <= each <= 1 for own, each in zip(p, adjusted, strict=True))


def test_a_known_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(wrong: float) -> None:
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        holm([0.5, wrong])
