"""Texts in batches, as an endpoint takes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chunkwise.parameters import check, param


@dataclass(frozen=True)
class Batches:
    """How much goes into one request, and how many requests are under way at once."""

    batch: int = param(64, "texts of a request at most", low=1)
    concurrency: int = param(4, "requests under way at once", low=1)
    batch_characters: int | None = param(None, "characters of a request at most", low=1)

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
