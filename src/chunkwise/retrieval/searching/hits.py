"""Places become hits: documents instead of their numbers, ranks, sizes."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core import Hit
from chunkwise.retrieval.place import Place
from chunkwise.retrieval.searching.reader import Reader


def hits_of(reader: Reader, places: Sequence[Place]) -> list[Hit]:
    """In the order given, ranked from 1."""
    return [
        Hit(
            document=reader.document(place.document),
            start=place.start,
            end=place.end,
            score=place.score,
            rank=rank,
            token_count=reader.count(place.document, place.start, place.end),
            section=place.section,
            chunk=place.chunk,
        )
        for rank, place in enumerate(places, 1)
    ]
