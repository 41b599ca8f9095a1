"""The chunks around a hit, handed out with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chunkwise.core import Span
from chunkwise.retrieval.place import Place
from chunkwise.retrieval.searchable import Searchable


def widened(source: Searchable, place: Place, count: int) -> Place:
    """The place with up to `count` chunks on either side, none of another document."""
    low, high = source.chunk_range(place.document)
    first, last = max(low, place.first - count), min(high - 1, place.last + count)
    if (first, last) == (place.first, place.last):
        return place
    around = source.chunks(range(first, last + 1))
    start = min(place.start, *(chunk.start for chunk in around))
    end = max(place.end, *(chunk.end for chunk in around))
    core = place.core or Span(place.start, place.end)
    return place._replace(start=start, end=end, first=first, last=last, chunk=None, core=core)


def merged(places: Sequence[Place], text: Callable[[int], str]) -> list[Place]:
    """Places that overlap, or have nothing but space between them, as one: where the best of them ranks."""
    order = sorted(range(len(places)), key=lambda at: (places[at].document, places[at].start, at))
    groups: list[list[int]] = []
    reach = 0
    for at in order:
        place = places[at]
        if groups and places[groups[-1][0]].document == place.document and (
            place.start <= reach or text(place.document)[reach : place.start].isspace()
        ):  # fmt: skip
            groups[-1].append(at)
            reach = max(reach, place.end)
        else:
            groups.append([at])
            reach = place.end
    return [_one([places[at] for at in sorted(group)]) for group in sorted(groups, key=min)]


def _one(group: Sequence[Place]) -> Place:
    best = group[0]
    if len(group) == 1:
        return best
    return best._replace(
        start=min(place.start for place in group),
        end=max(place.end for place in group),
        score=max(place.score for place in group),
        first=min(place.first for place in group),
        last=max(place.last for place in group),
        chunk=None,
    )
