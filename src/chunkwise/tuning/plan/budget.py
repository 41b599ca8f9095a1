"""What a sweep may take: "10 min", "1 h 30 min", or "5 EUR" where models are paid for."""

from __future__ import annotations

import re
from typing import NamedTuple

from chunkwise.base.errors import InvalidParameter

_UNITS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
}
_AMOUNT = r"[0-9]{1,9}(?:\.[0-9]{1,6})?"
_TIME = re.compile(rf"({_AMOUNT})\s*([a-z]+)\s*", re.ASCII)
_MONEY = re.compile(rf"(?P<before>[$€£])?\s*(?P<amount>{_AMOUNT})\s*(?P<behind>[A-Z]{{3}}|[$€£])?")
_ALLOWED = "a time ('90 s', '10 min', '1 h 30 min') or money ('5 USD', '5 EUR')"


class SweepBudget(NamedTuple):
    """Seconds, or money."""

    seconds: float | None = None
    money: float | None = None
    currency: str = ""


def parse_budget(text: str) -> SweepBudget:
    """What was written; an error says what can be."""
    stripped = text.strip()
    found = _time(stripped) or _money(stripped)
    if found is None:
        raise InvalidParameter(f"budget is {text[:80]!r}; allowed: {_ALLOWED}")
    if not (found.seconds or found.money):
        raise InvalidParameter(
            f"budget is {text[:80]!r}, which leaves nothing to spend; allowed: {_ALLOWED}"
        )
    return found


def parse_time(text: str) -> float:
    """Seconds of "10 min"; money is no time."""
    seconds = parse_budget(text).seconds
    if seconds is None:
        raise InvalidParameter(
            f"time is {text!r}; a time is needed: '90 s', '10 min', '1 h'. Money is for a plan: budget = \"5 USD\""
        )
    return seconds


def _time(stripped: str) -> SweepBudget | None:
    parts = _TIME.findall(stripped.lower())
    if not parts or _TIME.sub("", stripped.lower()) or any(unit not in _UNITS for _, unit in parts):
        return None
    units = [_UNITS[unit] for _, unit in parts]
    # 1 h 30 min: each unit once, the larger first.
    if units != sorted(set(units), reverse=True):
        return None
    return SweepBudget(
        sum(float(amount) * unit for (amount, _), unit in zip(parts, units, strict=True))
    )


def _money(stripped: str) -> SweepBudget | None:
    match = _MONEY.fullmatch(stripped)
    if match is None or bool(match["before"]) == bool(match["behind"]):
        return None
    return SweepBudget(None, float(match["amount"]), match["before"] or match["behind"])


def parse_price(text: str) -> tuple[float, str]:
    """What a million tokens cost, and the currency."""
    found = _money(text.strip())
    if found is None or not found.money:
        raise InvalidParameter(f"price is {text[:80]!r}; allowed: money, such as '0.02 USD'")
    return found.money, found.currency


def budget_text(budget: SweepBudget) -> str:
    """As it can be read again; empty: none."""
    if budget.seconds is not None:
        for unit, seconds in (("h", 3600), ("min", 60)):
            if budget.seconds >= seconds and budget.seconds % seconds == 0:
                return f"{budget.seconds / seconds:.0f} {unit}"
        return f"{_shown(budget.seconds)} s"
    if budget.money is not None:
        return f"{_shown(budget.money)} {budget.currency}"
    return ""


def _shown(amount: float) -> str:
    return f"{amount:.6f}".rstrip("0").rstrip(".")
