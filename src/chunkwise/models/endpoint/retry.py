"""When to ask an endpoint again, and how long to wait before."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_AGAIN = frozenset({408, 409, 425, 429})
_NEVER = frozenset({501, 505, 511})


def worth_another_try(status: int, body: bytes) -> bool:
    """Whether the same request may be answered later; a spent quota will not be."""
    if status == 429 and b"insufficient_quota" in body:
        return False
    return status in _AGAIN or (500 <= status < 600 and status not in _NEVER)


def retry_after(header: str | None) -> float | None:
    """Seconds the server asks to wait: a number, or a date; anything else is as if it said nothing."""
    if not header:
        return None
    try:
        seconds = float(header)
        return max(0.0, seconds) if seconds == seconds else None
    except ValueError:
        pass
    try:
        then = parsedate_to_datetime(header)
    except (ValueError, IndexError, OverflowError):
        return None
    if then.tzinfo is None:  # "-0000" and a missing zone are UTC
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())


def pause(attempt: int, unit: float, longest: float, asked: float | None = None) -> float:
    """Seconds before attempt number `attempt` + 1: what the server asked for, else doubling with jitter."""
    grown = min(longest, unit * 2.0 ** min(attempt - 1, 60))
    if asked is None:
        return grown * random.uniform(0.5, 1.0)
    # Those who were turned away together should not all come back in the same moment.
    return min(longest, asked + unit * random.uniform(0.0, 1.0))
