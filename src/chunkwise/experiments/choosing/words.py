"""Figures as sentences say them."""

from __future__ import annotations

from chunkwise.evaluation.results import Figure


def figure(given: Figure) -> str:
    """A mean with its interval."""
    if given.mean is None:
        return "not known"
    if given.low is None or given.high is None:
        return f"{given.mean:.3f}"
    return f"{given.mean:.3f} ({given.low:.3f} to {given.high:.3f})"


def points(low: float, high: float) -> str:
    """Both ends of an interval, in hundredths."""
    return f"{100 * low:.1f} to {100 * high:.1f}"


def several(count: int, what: str) -> str:
    """1 question, 2 questions."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def listed(names: list[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
