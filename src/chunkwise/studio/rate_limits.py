"""How much a caller may ask of a server: units per minute, tries to log in, requests at work or waiting."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from chunkwise.studio.read_request import TooMuch

_MOST_CALLERS = 10_000
"""Names whose use is remembered; of more the one that was not heard of for longest is forgotten."""


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """What one server takes."""

    units_a_minute: float = 1200.0
    """For each caller; what an address costs is declared beside it, a search is 1."""
    units_a_second: float = 10.0
    """What the processor time of a request costs where that is more than what was declared."""
    at_once: int = 4
    """Requests that are worked on at the same time."""
    waiting: int = 200
    """Requests that may wait for their turn; others are refused."""
    most_bytes: int = 1 << 20
    """Of the body of a request."""


USUAL_LIMITS = RequestLimits()


class RateLimit:
    """A bucket for each caller: it fills steadily, and holds what half a minute gives."""

    def __init__(self, units_a_minute: float, now: Callable[[], float] = monotonic) -> None:
        self._rate = units_a_minute / 60
        self._most = max(units_a_minute / 2, 1.0)
        self._now = now
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, units: float) -> int:
        """0: go on; else the seconds after which asking again is worth while. What is refused costs nothing."""
        with self._lock:
            now = self._now()
            left, then = self._left.pop(name, (self._most, now))
            left = min(self._most, left + (now - then) * self._rate)
            # What costs more than a full bucket holds is taken from a full one.
            needed = min(units, self._most)
            fits = left >= needed
            self._left[name] = (left - needed if fits else left), now
            if len(self._left) > _MOST_CALLERS:
                self._left.popitem(last=False)
            return 0 if fits else max(1, math.ceil((needed - left) / self._rate))

    def charge(self, name: str, units: float) -> None:
        """For what was done already; the bucket may then hold less than nothing."""
        with self._lock:
            left, then = self._left.get(name, (self._most, self._now()))
            self._left[name] = left - units, then


class RequestQueue:
    """Counts who is at work or waits; a queue without end would only answer those who have left."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self.length = 0

    def enter(self) -> bool:
        with self._lock:
            if self.length >= self._most:
                return False
            self.length += 1
            return True

    def leave(self) -> None:
        with self._lock:
            self.length -= 1


TRIES_A_MINUTE = 20
"""Passwords that are tried from one address; for one name half as many."""


class AskedTooOften(TooMuch):
    """Refused until some seconds have passed."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds
