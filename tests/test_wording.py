"""Numbers and lists are short, and right where they round to the next unit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.wording import (
    all_listed,
    as_set,
    counted,
    format_change,
    format_estimate,
    format_interval,
    format_number,
    from_to,
    listed,
    one_or_many,
    percent,
    plural,
    points,
    shortened,
    shown,
    thousands,
)
from tables import cases


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
        (format_number(0.812, "score"), "81%"), (format_number(0.0812, "share"), "8.1%"),
        (format_number(-0.0212, "change"), "−2.1 pts"), (format_number(0.0001, "change"), "0.0 pts"),
        (format_number(-0.0001, "change"), "0.0 pts"), (points(0.0712), "7.1 pts"),
        (format_number(0.71234, "number"), "0.712"), (format_number(12.34, "number"), "12.3"),
        (format_number(1234.5, "number"), "1,234"), (format_number(-0.5, "number"), "−0.5"),
        (format_number(12, "bytes"), "12 bytes"), (format_number(1_482_112, "bytes"), "1.5 MB"),
        (format_number(2e9, "bytes"), "2.0 GB"), (format_number(0.00821, "seconds"), "8.2 ms"),
        (format_number(1.54, "seconds"), "1.5 s"), (format_number(40, "seconds"), "40 s"),
        (format_number(4800, "seconds"), "80 min"), (format_number(9000, "seconds"), "2.5 h"),
        (format_number(0, "money"), "$0.00"), (format_number(1234.5, "money"), "$1,234.50"),
        (format_number(1e-7, "money"), "under $0.01"), (format_number(1e-9, "p"), "<0.001"),
        (format_change(0.05, "score"), "+5.0 pts"), (format_change(0.05, "number"), "+0.05"),
        (format_interval(0.1, 0.25, "score"), "10–25"), (format_interval(None, 0.2, "score"), ""),
        (format_interval(-0.012, 0.3, "change"), "−1.2 to 30.0"),
        (format_estimate(0.5, 0.4, 0.6, "score"), "50% (40–60)"),
        (format_estimate(-0.5, -0.6, 0.4, "number"), "−0.5 (−0.6 to 0.4)"),
        (format_estimate(0.5, None, None, "score"), "50%"),
        (all_listed(["a"]), "a"), (all_listed(["a", "b", "c"]), "a, b and c"),
        (plural(1, "token"), "token"), (plural(0, "token"), "tokens"),
        (thousands(1234), "1,234"), (thousands(1234.5), "1,234"), (from_to(1200, 1350), "1,200–1,350"),
        (counted(1.2, "token"), "1 token"),
        (one_or_many(1, "is", "are"), "is"), (one_or_many(0, "is", "are"), "are"),
        (as_set(0.8), "0.8"), (as_set(30.0), "30"), (as_set(0.1 + 0.2), "0.3"), (as_set(1e6), "1,000,000"),
        (as_set(123456789012), "123,456,789,012"), (as_set(0.00001), "0.00001"), (as_set(float("inf")), "inf"),
    ],
)  # fmt: skip
def test_figures_times_sizes_and_money(told: str, shown: str) -> None:
    assert told == shown


def test_all_but_a_few_are_not_all() -> None:
    assert [percent(share) for share in (0.99, 0.994, 0.9991, 0.99999, 1.0)] == [
        "99%", "99.4%", "99.9%", ">99.9%", "100%",
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
    assert shown(10**5000) == "a number with more than 40 digits"


def test_a_noun_with_y_has_its_plural() -> None:
    assert [plural(2, noun) for noun in ("entry", "day", "query", "chunk")] == [
        "entries", "days", "queries", "chunks",
    ]  # fmt: skip
