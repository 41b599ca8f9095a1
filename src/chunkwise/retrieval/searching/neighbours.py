"""The chunks around a hit, handed out with it."""

from __future__ import annotations

from collections.abc import Iterable

from chunkwise.core import Span
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.place import Place
from chunkwise.retrieval.searchable import FoundChunk, Searchable


def widened(source: Searchable, place: Place, count: int, only: Filter = EVERYTHING) -> Place:
    """The place with up to `count` chunks on either side, none of another document or beyond what the filter takes."""
    low, high = source.chunk_range(place.document)
    first, last = max(low, place.first - count), min(high - 1, place.last + count)
    if (first, last) == (place.first, place.last):
        return place
    around = source.chunks(range(first, last + 1))
    before, behind = around[: place.first - first], around[place.last - first + 1 :]
    taken = [
        *_until_shut(source, reversed(before), only),
        *_until_shut(source, behind, only),
    ]
    if not taken:
        return place
    core = place.core or Span(place.start, place.end)
    return place._replace(
        start=min(place.start, *(chunk.start for chunk in taken)),
        end=max(place.end, *(chunk.end for chunk in taken)),
        first=min(place.first, *(chunk.number for chunk in taken)),
        last=max(place.last, *(chunk.number for chunk in taken)),
        chunk=None,
        core=core,
    )


def _until_shut(
    source: Searchable, chunks: Iterable[FoundChunk], only: Filter
) -> Iterable[FoundChunk]:
    """Chunks, going away from the hit, up to the first that the filter does not take; no summary is a neighbour."""
    for chunk in chunks:
        if chunk.level or not only.takes_section(chunk.section):
            return
        if only.pages is not None:
            page = source.document(chunk.document).page
            if not only.takes_pages(page(chunk.start), page(max(chunk.start, chunk.end - 1))):
                return
        yield chunk
