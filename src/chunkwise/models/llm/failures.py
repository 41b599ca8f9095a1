"""When a failure is one request's own, and when every other would meet it."""

from __future__ import annotations

from threading import Lock

from chunkwise.models.endpoint.error import EndpointError

_ALWAYS = frozenset({401, 402})
"""No key, no money."""
_AT_FIRST = frozenset({403, 404})
"""No such model; after an answer it is about one request, as a filter in front of a server has it."""
_IN_A_ROW = 5
"""Requests one after the other, each tried several times, after which nothing is to be expected."""


class Failures:
    """What was met since the last answer."""

    def __init__(self) -> None:
        self._row = 0
        self._has_answered = False
        self._lock = Lock()

    def answered(self) -> None:
        with self._lock:
            self._row, self._has_answered = 0, True

    def met(self, error: EndpointError) -> None:
        """Raises it where the others need not be tried."""
        status = error.status
        nobody = status is None
        with self._lock:
            self._row += 1
            at_first = not self._has_answered
            lasting = nobody or status == 429 or (status or 0) >= 500
            hopeless = self._row >= _IN_A_ROW and (at_first or lasting)
        spent_out = status == 429 and "insufficient_quota" in error.reason
        if (
            status in _ALWAYS
            or spent_out
            or hopeless
            or (at_first and (nobody or status in _AT_FIRST))
        ):
            raise error
