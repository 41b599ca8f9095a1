"""Times and money as people write them."""

from __future__ import annotations

import re
from typing import NamedTuple

_UNITS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
    **dict.fromkeys(("w", "week", "weeks"), 7 * 86_400.0),
    **dict.fromkeys(("mo", "month", "months"), 365.25 / 12 * 86_400),
    **dict.fromkeys(("y", "year", "years"), 365.25 * 86_400),
}
_AMOUNT = r"[0-9]{1,9}(?:\.[0-9]{1,6})?"
_TIME = re.compile(rf"({_AMOUNT})\s*([a-z]+)\s*", re.ASCII)
_MONEY = re.compile(rf"(?P<before>[$€£])?\s*(?P<amount>{_AMOUNT})\s*(?P<behind>[A-Z]{{3}}|[$€£])?")


class Money(NamedTuple):
    """An amount with its currency as the user wrote it."""

    amount: float
    currency: str

    def __str__(self) -> str:
        return f"{self.amount:.6f}".rstrip("0").rstrip(".") + f" {self.currency}"


def parse_time(text: str) -> float:
    """Read "90 s", "1 h 30 min" or "8w" as seconds."""
    text = text.strip().lower()
    parts = _TIME.findall(text)
    units = [_UNITS.get(unit, 0.0) for _, unit in parts]
    # 1 h 30 min: each unit once, the larger first.
    is_ordered = units == sorted(set(units), reverse=True)
    if not parts or _TIME.sub("", text) or not all(units) or not is_ordered:
        raise ValueError(
            "expected a time: 90 s, 10 min, 1 h 30 min, 12h, 90d, 8w, 6mo, 1y; m could mean minutes or months"
        )
    return sum(float(amount) * unit for (amount, _), unit in zip(parts, units, strict=True))


def parse_money(text: str) -> Money:
    """Read "5 USD" or "$5"."""
    match = _MONEY.fullmatch(text.strip())
    if (
        match is None
        or bool(match["before"]) == bool(match["behind"])
        or not float(match["amount"])
    ):
        raise ValueError("expected money: 5 USD, 2.50 EUR")
    return Money(float(match["amount"]), match["before"] or match["behind"])
