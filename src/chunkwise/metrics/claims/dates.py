"""Dates, however they are written: 5 March 2021, March 5th, 2021, 2021-03-05 and 3/5/21 may be the same day."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_MONTHS = (
    "january jan januar janvier enero gennaio janeiro",
    "february feb februar février febrero febbraio fevereiro",
    "march mar märz mars marzo março",
    "april apr avril abril aprile",
    "may mai mayo maggio maio",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug août agosto",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre diciembre dicembre dezembro",
)
_MONTH = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_NAME = "|".join(sorted(_MONTH, key=len, reverse=True))
_SMALL = r"(?:(?:of|de|the|do) )?"
_FORMS = (
    (re.compile(rf" (?P<month>{_NAME}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?P<year>\d{{4}})(?= )"), ""),
    (re.compile(rf" (?P<day>\d{{1,2}})(?:st|nd|rd|th|er)? {_SMALL}(?P<month>{_NAME}) {_SMALL}(?P<year>\d{{4}})(?= )"),
     ""),
    (re.compile(r" (\d{4}) (\d{1,2}) (\d{1,2})(?= )"), "ymd"),
    (re.compile(r" (\d{1,2}) (\d{1,2}) (\d{4}|\d{2})(?= )"), "mdy dmy"),
)  # fmt: skip
_JOINED = re.compile(r"(?<![\w.])(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?![\w]|\.\d)")
_CENTURY = 100
_PIVOT = 50
"""Of two digits those below it are years of this century."""


class Day(NamedTuple):
    """One day of the calendar."""

    year: int
    month: int
    day: int


Readings = frozenset[Day]
"""The days that one date may mean: 3/5/2021 two."""


@lru_cache(maxsize=1 << 12)
def dates_of(plain: str) -> tuple[Readings, ...]:
    """Every date of a text in its plain form."""
    found: list[Readings] = []
    for pattern, orders in _FORMS:
        for match in pattern.finditer(plain):
            if not orders:
                days = [_day(match["year"], str(_MONTH[match["month"]]), match["day"])]
            else:
                parts = (dict(zip(order, match.groups(), strict=True)) for order in orders.split())
                days = [_day(each["y"], each["m"], each["d"]) for each in parts]
            found.append(
                frozenset(day for day in days if 1 <= day.month <= 12 and 1 <= day.day <= 31)
            )
    return tuple(readings for readings in found if readings)


def are_same(one: Readings, other: Readings) -> bool:
    """Whether two dates are one day; of two that both may be read in two ways nobody can say it."""
    return bool(one & other) and min(len(one), len(other)) == 1


def _day(year: str, month: str, day: str) -> Day:
    number = int(year)
    if number < _CENTURY and len(year) == 2:
        number += 2000 if number < _PIVOT else 1900
    return Day(number, int(month), int(day))


def apart(text: str) -> str:
    """The text with the numbers of its dates as words of their own: 31.12.2014 has three."""
    return _JOINED.sub(r"\1 \3 \4", text)


def is_day(plain: str) -> bool:
    """Whether a text in its plain form is a date and nothing else."""
    found = (pattern.match(plain) for pattern, _ in _FORMS)
    return any(match is not None and match.end() == len(plain) - 1 for match in found)
