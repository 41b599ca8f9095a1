"""Bounded retries and bounded waits, for models, webhooks and stores alike."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event, Thread
from typing import TypeVar

Result = TypeVar("Result")


class Retryable(Exception):
    """An attempt failed, and the next one may not; `wait` is how long the server asks to wait."""

    def __init__(self, error: Exception, wait: float | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.wait = wait


def retry(
    work: Callable[[int], Result],
    attempts: int,
    first_pause: float,
    longest_pause: float,
    stop: Event | None = None,
) -> Result:
    """Do the work, again after a pause if it raises `Retryable`; raise the error of the last attempt.

    Args:
        work: Gets the number of the attempt, from 1.
        attempts: How often it is done at most.
        first_pause: Seconds before the second attempt; then twice as many each time, with jitter.
        longest_pause: Seconds that no pause exceeds, whatever a server asks for.
        stop: Ends a pause, and with it the attempts.
    """
    stop = stop or Event()
    for attempt in range(1, attempts + 1):
        try:
            return work(attempt)
        except Retryable as failure:
            if attempt == attempts or stop.wait(
                pause(attempt, first_pause, longest_pause, failure.wait)
            ):
                raise failure.error from None
    raise AssertionError  # the last attempt returns or raises


def pause(attempt: int, first: float, longest: float, asked: float | None = None) -> float:
    """Seconds before the next attempt: what the server asked for, else doubling with jitter."""
    if asked is None:
        return min(longest, first * 2.0 ** min(attempt - 1, 60)) * random.uniform(0.5, 1.0)
    # Clients that were turned away together should not all come back in the same moment.
    return min(longest, asked + first * random.uniform(0.0, 1.0))


def retry_after(header: str | None) -> float | None:
    """Read the seconds, or the date, of a `Retry-After` header; None if it has neither."""
    try:
        seconds = float(header or "nan")
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            date = parsedate_to_datetime(header or "")
        except (ValueError, IndexError, OverflowError):
            return None
        if date.tzinfo is None:  # "-0000" and a missing zone are UTC
            date = date.replace(tzinfo=UTC)
        seconds = (date - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if seconds == seconds else None


def within(seconds: float, work: Callable[[], Result], thread_name: str) -> Result:
    """Do the work, or raise `TimeoutError`; time-outs of sockets count each byte anew, and resolving names has none.

    Work that takes longer is left to its thread, which does not keep the process alive.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised where it is waited for
            errors.append(error)

    thread = Thread(target=run, name=thread_name, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]
