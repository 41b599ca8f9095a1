"""Figures, counts, times and money as sentences say them."""

from __future__ import annotations

from chunkwise.evaluation.results import Figure


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


def figure_words(given: Figure) -> str:
    """A mean with its interval."""
    if given.mean is None:
        return "not known"
    if given.low is None or given.high is None:
        return f"{given.mean:.3f}"
    return f"{given.mean:.3f} ({given.low:.3f} to {given.high:.3f})"


def points_words(low: float, high: float) -> str:
    """Both ends of an interval, in hundredths."""
    return f"{100 * low:.1f} to {100 * high:.1f}"


def count_words(count: int, what: str) -> str:
    """1 question, 2 questions."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def list_words(names: list[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
