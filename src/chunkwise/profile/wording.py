"""Numbers as people read them."""

from __future__ import annotations


def percent(share: float) -> str:
    """ "83 %", with a digit more where whole numbers would say nothing."""
    if 0 < share < 0.0005:
        return "under 0.1 %"
    value = 100 * share
    if 0 < value < 10:
        return f"{value:.1f} %"
    # All but a few are not all.
    return f"{min(round(value), 99) if share < 1 else 100} %"


def number(value: float) -> str:
    return f"{round(value):,}"


def counted(count: int, noun: str, plural: str = "") -> str:
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
