"""Several requests under way at once, the results in the order of what was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Item, Event], Result], items: Sequence[Item], most: int
) -> list[Result]:
    """`work` on every item, at most `most` at a time; the first failure stops what has not begun.

    The event that `work` gets is set when the others should give up: after a failure or Ctrl-C.
    """
    stop = Event()
    if most < 2 or len(items) < 2:
        return [work(item, stop) for item in items]
    pool = ThreadPoolExecutor(min(most, len(items)), thread_name_prefix="chunkwise-endpoint")
    try:
        futures = [pool.submit(work, item, stop) for item in items]
        return [future.result() for future in futures]
    finally:
        stop.set()
        # Not waited for: a request under way ends with its time-out, the caller should not.
        pool.shutdown(wait=False, cancel_futures=True)
