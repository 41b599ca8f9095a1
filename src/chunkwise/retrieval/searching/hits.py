"""Places become hits: documents instead of their numbers, ranks, sizes."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core import Hit
from chunkwise.retrieval.place import Place
from chunkwise.retrieval.searching.reader import Reader


def hits_of(reader: Reader, places: Sequence[Place]) -> list[Hit]:
    """In the order given; what was assembled from sentences is given in reading order and ranked by its score."""
    return [
        Hit(
            document=reader.document(place.document),
            start=place.start,
            end=place.end,
            score=place.score,
            rank=rank,
            token_count=reader.size(place),
            section=place.section,
            chunk=place.chunk,
            summary=place.summary,
            summarised=place.spans,
            summarised_tokens=place.span_tokens,
            level=place.level,
        )
        for rank, place in zip(_ranks(places), places, strict=True)
    ]


def _ranks(places: Sequence[Place]) -> list[int]:
    ranks = list(range(1, len(places) + 1))
    if places and places[0].first < 0:
        best_first = sorted(range(len(places)), key=lambda at: -places[at].score)
        for rank, at in enumerate(best_first, 1):
            ranks[at] = rank
    return ranks
