"""Numbers and lists are short, and right where they round to the next unit."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.wording import counted, listed, short_number


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"), (1234.4, "1,234"), (99_999, "99,999"), (99_999.6, "100k"), (123_456, "123k"),
        (999_499, "999k"), (999_999, "1M"), (1_600_000, "1.6M"), (99_960_000, "100M"),
        (1_234_567_890, "1.2B"), (2.5e9, "2.5B"), (4e12, "4T"), (5e15, "5,000T"),
    ],
)  # fmt: skip
def test_short_numbers(value: float, shown: str) -> None:
    assert short_number(value) == shown


def test_labels_are_shortened_earlier() -> None:
    assert [short_number(n, whole=1000) for n in (999, 1000, 12_800, 99_960)] == [
        "999",
        "1k",
        "12.8k",
        "100k",
    ]


@given(st.integers(0, 10**15 - 10**12))
def test_a_short_number_is_close(value: int) -> None:
    shown = short_number(value)
    assert len(shown) <= 6
    digits, unit = re.fullmatch(r"([\d,.]+)([kMBT]?)", shown).groups()  # type: ignore[union-attr]
    scale = 1000 ** " kMBT".index(unit or " ")
    assert float(digits.replace(",", "")) * scale == pytest.approx(value, rel=0.05)


def test_one_is_not_many() -> None:
    assert [counted(n, "chunk") for n in (0, 1, 2000)] == ["0 chunks", "1 chunk", "2,000 chunks"]


def test_what_is_left_out_of_a_list_is_counted() -> None:
    assert [listed(list("abc"[:n]), most=2) for n in range(4)] == [
        "",
        "a",
        "a, b",
        "a, b and 1 more",
    ]
