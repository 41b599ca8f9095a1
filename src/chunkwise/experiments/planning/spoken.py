"""Times and money in words."""

from __future__ import annotations


def time_words(seconds: float) -> str:
    """As exact as a guess can be: 40 s, 3 min, 1 h 20 min."""
    if seconds < 59.5:
        return f"{seconds:.0f} s" if seconds >= 0.5 else "a moment"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours:,} h {rest} min" if rest and hours < 10 else f"{round(minutes / 60):,} h"


def money_words(amount: float, currency: str) -> str:
    """Cents, and what is less than one in full."""
    shown = f"{amount:,.2f}" if amount >= 0.01 or not amount else f"{amount:.4f}"
    return f"{shown} {currency}".rstrip()
