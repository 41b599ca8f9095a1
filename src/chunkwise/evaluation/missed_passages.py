"""Of the gold passages of a question, what no hit covers, and at which rank the rest would have come."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core import Document, Hit, Passage, Query
from chunkwise.evaluation.results import Missed

Spans = list[tuple[int, int]]
_SHOWN = 400
"""Characters of a missed passage that are kept."""


def missed(
    query: Query, hits: Sequence[Hit], further: Sequence[Hit], documents: dict[str, Document]
) -> tuple[Missed, ...]:
    """The parts of the references that no hit covers; `further` are hits down to where was searched, best first."""
    found: dict[Passage, Missed] = {}
    for reference in query.references:
        held = [_rest(place, hits) for place in reference.places]
        least = min(range(len(held)), key=lambda at: _share(reference.places[at], held[at]))
        for start, end in held[least]:
            place = Passage(reference.places[least].doc_id, start, end)
            document = documents.get(place.doc_id)
            text = document.text[start : min(end, start + _SHOWN)] if document else ""
            if document is None or text.strip():
                found.setdefault(place, Missed(place, text, _rank(place, further)))
    return tuple(found.values())


def _rest(place: Passage, hits: Sequence[Hit]) -> Spans:
    """The parts of a place outside the hits."""
    own = sorted(
        (each.start, each.end) for hit in hits for each in hit.places if each.doc_id == place.doc_id
    )
    left: Spans = []
    at = place.start
    for start, end in own:
        if start > at:
            left.append((at, min(start, place.end)))
        at = max(at, end)
        if at >= place.end:
            return left
    return [*left, (at, place.end)]


def _share(place: Passage, left: Spans) -> float:
    return sum(end - start for start, end in left) / max(place.end - place.start, 1)


def _rank(place: Passage, further: Sequence[Hit]) -> int | None:
    """The rank down to which the hits together hold half of the place."""
    size, seen = place.end - place.start, []
    for hit in further:
        if any(each.touches(*place) for each in hit.places):
            seen.append(hit)
            if 2 * sum(end - start for start, end in _rest(place, seen)) <= size:
                return hit.rank
    return None
