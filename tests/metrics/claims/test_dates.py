"""Dates of one day are the same however they are written; the calendar of Python says which day it is."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from chunkwise.metrics.claims.quantities import Day, Reading, are_same, is_day, quantities_of
from chunkwise.metrics.claims.text_normalization import plain_form
from tables import cases

NAMES = (
    "January February March April May June July August September October November December".split()
)


def forms(day: date) -> list[str]:
    name = NAMES[day.month - 1]
    return [
        f"{name} {day.day}, {day.year}", f"{day.day} {name} {day.year}", day.isoformat(),
        f"the {day.day}th of {name}, {day.year}", f"{day.day} {name[:3]}. {day.year}",
    ]  # fmt: skip


def dates_of(plain: str) -> list[frozenset[Reading]]:
    return [each.readings for each in quantities_of(plain)]


def read(text: str) -> list[date]:
    found = dates_of(plain_form(text))
    return [date(*day) for readings in found for day in readings if isinstance(day, Day)]


@given(st.dates(date(1200, 1, 1), date(2099, 12, 31)))
def test_every_form_is_the_day(day: date) -> None:
    for form in forms(day):
        assert read(f"It was signed on {form} in Bern.") == [day]
    assert are_same(*(dates_of(plain_form(form))[0] for form in forms(day)[:2]))


@given(st.dates(date(1990, 1, 1), date(2039, 12, 31)))
def test_numbers_alone_may_be_two_days(day: date) -> None:
    months_first, days_first = f"{day:%m/%d/%y}", f"{day:%d.%m.%Y}"
    one, other = (dates_of(plain_form(text))[0] for text in (months_first, days_first))
    assert tuple(day.timetuple()[:3]) in one & other
    assert are_same(one, other) == (day.day > 12 or day.day == day.month)


@cases("text, expected", [
    ("12/31/14", True), ("March 5, 2021", True), ("since March 5, 2021", False), ("2021", False), ("", False),
    ("99/99/99", True),
])  # fmt: skip
def test_a_date_and_nothing_else(text: str, expected: bool) -> None:
    assert is_day(plain_form(text)) is expected


@cases(
    "text",
    [
        "rooms 3, 5, 12",
        "they scored 5 3 21",
        "ages 3 5 12 were asked",
        "version 10.12.14",
        "v. 10.12.14",
    ],
)
def test_numbers_side_by_side_are_no_day(text: str) -> None:
    assert not any(isinstance(each, Day) for day in dates_of(plain_form(text)) for each in day)


@cases("text", ["3/5/21", "3-5-21", "3.5.21", "3/5/2021", "3. 5. 2021", "03.05.2021"])
def test_days_in_numbers_are_still_read(text: str) -> None:
    assert dates_of(plain_form(f"signed {text} in Bern")) == [{Day(2021, 3, 5), Day(2021, 5, 3)}]
    assert is_day(plain_form(text))
