"""Many texts in several requests: in batches, some under way at once, halved where a server refuses them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Event
from typing import TypeVar

from chunkwise.base.parameters import check, param
from chunkwise.models.http_client import ENDPOINT_THREADS, EndpointError, first_words

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
    pool = ThreadPoolExecutor(min(most, len(items)), thread_name_prefix=ENDPOINT_THREADS)
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


@dataclass(frozen=True)
class Batches:
    """How much goes into one request, and how many requests are under way at once."""

    batch: int = param(64, "maximum texts per request", low=1)
    concurrency: int = param(4, "concurrent requests", low=1)
    batch_characters: int | None = param(None, "maximum characters per request", low=1)

    def __post_init__(self) -> None:
        check(self)

    def of(self, texts: Sequence[str], places: Iterable[int]) -> Iterator[list[int]]:
        """Batches of these places, bounded by count and by characters; a text over the bound goes alone."""
        batch: list[int] = []
        size = 0
        for place in places:
            more = size + len(texts[place])
            over = self.batch_characters is not None and more > self.batch_characters
            if batch and (len(batch) == self.batch or over):
                yield batch
                batch, more = [], len(texts[place])
            batch.append(place)
            size = more
        if batch:
            yield batch


REFUSED = frozenset({400, 413, 422})
"""Bad request, too large, not processable: what servers say to too many or too long texts."""


def ask_in_halves(
    ask: Callable[[Sequence[str]], Sequence[Result]], texts: Sequence[str]
) -> list[Result]:
    """What `ask` gives for all at once, or in halves where that is refused; a single text that is refused is named."""
    try:
        return list(ask(texts))
    except EndpointError as error:
        if error.status not in REFUSED:
            raise
        if len(texts) > 1:
            middle = len(texts) // 2
            return ask_in_halves(ask, texts[:middle]) + ask_in_halves(ask, texts[middle:])
        raise EndpointError(
            error.endpoint,
            f"rejected the text starting {first_words(texts[0])}; it {error.reason}",
            f"use smaller chunks if it exceeds the model's limit; {error.advice}",
            error.status,
        ) from None
