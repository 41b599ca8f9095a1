"""Numbers and lists are short, and right where they round to the next unit."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.wording import (
    all_listed,
    as_set,
    beside_limit,
    between,
    counted,
    counted_short,
    dollars,
    from_to,
    interval,
    listed,
    megabytes,
    milliseconds,
    money_words,
    number,
    one_or_many,
    p_words,
    percent,
    plural,
    points,
    points_between,
    rough_dollars,
    score,
    seconds_taken,
    short_number,
    shortened,
    shown,
    signed,
    size_in_bytes,
    target,
    thousands,
    time_words,
    times,
    two_digits,
    with_interval,
)
from tables import cases


@cases(
    "value, shown",
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


@cases(
    "told, shown",
    [
        (score(0.12345), "0.123"), (score(-0.0001), "0.000"), (score(None), "unscored"),
        (number(9.9999), "10.000"), (number(12.34), "12.3"), (number(1234.5), "1,234"), (number(-0.0001), "0.000"),
        (signed(0.05), "+0.050"), (signed(-0.05), "-0.050"), (signed(0.0001), "0.000"),
        (points(0.0712), "+7.1"), (points(-0.1), "−10.0"), (points(0.0001), "0.0"),
        (between("0.1", "0.2"), "0.1–0.2"), (between("-0.1", "0.2"), "-0.1 to 0.2"),
        (interval(0.1, 0.25), "0.100–0.250"), (interval(None, 0.2), ""),
        (interval(-0.0001, 0.1), "0.000–0.100"), (interval(-0.0001, 0.1, two_digits), "0.00–0.10"),
        (with_interval(-0.0001, -0.0001, 0.1), "0.000 (0.000 to 0.100)"),
        (with_interval(0.5, 0.4, 0.6, two_digits), "0.50 (0.40 to 0.60)"),
        (with_interval(0.5, 0.4, 0.6), "0.500 (0.400 to 0.600)"), (with_interval(0.5, None, None), "0.500"),
        (with_interval(None, None, None), "not known"), (points_between(-0.012, 0.3), "−1.2 to +30.0"),
        (points(0.0712, plus=False), "7.1"), (points_between(-0.012, 0.3, plus=False), "−1.2 to 30.0"),
        (all_listed(["a"]), "a"), (all_listed(["a", "b", "c"]), "a, b and c"),
        (plural(1, "token"), "token"), (plural(0, "token"), "tokens"),
        (size_in_bytes(12), "12 bytes"), (size_in_bytes(1_482_112), "1.5 MB"), (size_in_bytes(2e9), "2.0 GB"),
        (megabytes(1_482_112), "1.5 MB"),
        (time_words(0.2), "a moment"), (time_words(40), "40 s"), (time_words(4800), "1 h 20 min"),


        (dollars(0), "$0.00"), (dollars(1234.5), "$1,234.50"), (dollars(1e-7), "$0.0000001"),
        (thousands(1234), "1,234"), (thousands(1234.5), "1,234"), (from_to(1200, 1350), "1,200–1,350"),
        (counted(1.2, "token"), "1 token"), (counted_short(123_456, "token"), "123k tokens"),
        (counted_short(1.2, "token"), "1 token"), (counted_short(0.2, "token"), "0 tokens"),
        (one_or_many(1, "is", "are"), "is"), (one_or_many(0, "is", "are"), "are"),
        (two_digits(0.456), "0.46"), (two_digits(-0.001), "0.00"), (times(1.254), "1.25×"),
        (as_set(0.8), "0.8"), (as_set(30.0), "30"), (as_set(0.1 + 0.2), "0.3"), (as_set(1e6), "1,000,000"),
        (as_set(123456789012), "123,456,789,012"), (as_set(0.00001), "0.00001"), (as_set(float("inf")), "inf"),
        (beside_limit(0.10004, 0.1), "0.10004"), (beside_limit(0.2, 0.1), "0.2"),
        (beside_limit(1 / 30_000, 0), "0.0000333"),
        (beside_limit(1 + 2**-40, 1), "1.000000000001"), (beside_limit(1234.5, 1), "1,234"),
        (target(0.7), "0.70"), (target(0.005), "0.005"), (target(30), "30"),
        (target(1000), "1,000"), (target(12.5), "12.5"),
        (p_words(0.042), "p = 0.042"), (p_words(1e-9), "p < 0.001"), (p_words(None), "p not known"),

        (seconds_taken(1234.56), "1,234.6 s"), (milliseconds(0.00821), "8.2 ms"), (milliseconds(1.5), "1,500 ms"),
        (rough_dollars(0.004), "under $0.01"), (money_words(0.001, "EUR"), "0.0010 EUR"),
    ],
)  # fmt: skip
def test_figures_times_sizes_and_money(told: str, shown: str) -> None:
    assert told == shown


def test_all_but_a_few_are_not_all() -> None:
    assert [percent(share) for share in (0.99, 0.994, 0.9991, 0.99999, 1.0)] == [
        "99%", "99.4%", "99.9%", "over 99.9%", "100%",
    ]  # fmt: skip


@given(st.text(max_size=200), st.integers(3, 100))
def test_a_text_is_cut_where_it_is_too_long(text: str, most: int) -> None:
    cut = shortened(text, most)
    assert cut == text or (len(cut) == most and text.startswith(cut[:-1]) and cut[-1] == "…")
    assert (cut == text) == (len(text) <= most)
    assert shown(text, most + 2) == repr(cut)


def test_a_value_is_shown_but_not_all_of_it() -> None:
    assert shown("x" * 100, 10) == repr("x" * 7 + "…")
    assert shown(["y" * 100], 10) == "['yyyyyyy…"
    assert [shown(value) for value in (None, 1.5, 10**39)] == ["None", "1.5", str(10**39)]
    assert shown(10**5000) == "a number of more than 40 digits"


def test_a_noun_with_y_has_its_plural() -> None:
    assert [plural(2, noun) for noun in ("entry", "day", "query", "chunk")] == [
        "entries", "days", "queries", "chunks",
    ]  # fmt: skip
