"""Small chunks are found, the larger span around them is handed out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chunkwise.core import Span
from chunkwise.retrieval.place import Place


def in_parents(found: Iterable[tuple[Place, tuple[int, int]]]) -> Iterator[Place]:
    """Each parent once, where its best chunk ranks and with its score; a chunk without a parent is its own.

    A summary has none: it stands beside the chunks it is made of.
    """
    seen: set[tuple[int, int, int]] = set()
    for place, (start, end) in found:
        if place.level:
            yield place
            continue
        key = place.document, start, end
        if key in seen:
            continue
        seen.add(key)
        if key == place[:3]:
            yield place
        else:
            core = Span(place.start, place.end)
            yield place._replace(start=start, end=end, chunk=None, core=core)
