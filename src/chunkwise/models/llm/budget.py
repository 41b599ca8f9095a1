"""Money that may be spent: set aside before a request is sent, settled when it was answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from chunkwise.errors import ChunkwiseError
from chunkwise.models.llm.prices import dollars


class LimitReached(ChunkwiseError):
    """What is left may not be enough for one more request."""


class Budget:
    """A limit in US dollars that is never passed, however many requests are under way; None: there is none."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self._spent = 0.0
        self._aside = 0.0
        self._changed = Condition()

    @contextmanager
    def aside(self, most: float) -> Iterator[None]:
        """Room for a request that costs `most` at most; waits for those under way, which mostly cost less."""
        if self.limit is None or not most:
            yield
            return
        with self._changed:
            while self._spent + self._aside + most > self.limit:
                if not self._aside:
                    raise self._reached(self.limit)
                self._changed.wait()
            self._aside += most
        try:
            yield
        finally:
            with self._changed:
                # Sums of floats leave crumbs, and only nothing at all says that nobody is under way.
                self._aside = max(0.0, self._aside - most)
                if self._aside < most * 1e-9:
                    self._aside = 0.0
                self._changed.notify_all()

    def pay(self, money: float) -> None:
        """Within `aside`: what the request has cost in the end."""
        with self._changed:
            self._spent += money

    def check(self) -> None:
        """Within `aside`, once an attempt is paid for: whether the same may be sent again."""
        with self._changed:
            if self.limit is not None and self._spent + self._aside > self.limit:
                raise self._reached(self.limit)

    @staticmethod
    def _reached(limit: float) -> LimitReached:
        return LimitReached(f"the limit of {dollars(limit)} would be passed by one more request")
