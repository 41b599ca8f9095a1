"""Several requests under way at once: the results in the order of what was asked, or as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Item, Event], Result], items: Sequence[Item], most: int
) -> list[Result]:
    """`work` on every item, at most `most` at a time; the first failure stops what has not begun."""

    def placed(place: int, stop: Event) -> tuple[int, Result]:
        return place, work(items[place], stop)

    results = dict(as_done(placed, range(len(items)), most, Event()))
    return [results[place] for place in range(len(items))]


def as_done(
    work: Callable[[Item, Event], Result], items: Sequence[Item], most: int, stop: Event
) -> Iterator[Result]:
    """The results as they come, at most `most` under way; once `stop` is set, of what has begun only.

    The event is set, too, when the others should give up: after a failure or Ctrl-C.
    """
    if most < 2 or len(items) < 2:
        for item in items:
            if stop.is_set():
                return
            yield work(item, stop)
        return
    pool = ThreadPoolExecutor(min(most, len(items)), thread_name_prefix="chunkwise-endpoint")
    try:
        futures = {pool.submit(work, item, stop) for item in items}
        for future in as_completed(futures):
            futures.discard(future)
            if not future.cancelled():
                yield future.result()
            if stop.is_set():
                for waiting in futures:
                    waiting.cancel()
    finally:
        stop.set()
        # Not waited for: a request under way ends with its time-out, the caller should not.
        pool.shutdown(wait=False, cancel_futures=True)
