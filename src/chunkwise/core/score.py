"""What a metric says about one question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """A figure, or the reason why there is none: unscored is a state, not a number."""

    value: float | None
    reason: str = ""
    """Why it is unscored; empty where it is scored."""
