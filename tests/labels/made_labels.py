"""Events, hits and pools as the tests of labels make them."""

from __future__ import annotations

from itertools import count
from typing import Any

from chunkwise.core import Document, Hit, Query
from chunkwise.labels.pool import pooled
from chunkwise.labels.store import LabelEvent, Pool

_numbers = count(1)


def event(kind: str = "grade", who: str = "ada", query: str = "q1", **values: Any) -> LabelEvent:
    """A grade of the first ten characters of a.md, unless something else is said."""
    if kind in ("grade", "gold", "adjudicate"):
        values = {"doc_id": "a.md", "start": 0, "end": 10, "text": "ten chars.", **values}
    if kind in ("grade", "adjudicate"):
        values = {"grade": 3, **values}
    given = {"key": f"k{next(_numbers)}", "when": "2026-01-31T08:00:00Z", **values}
    return LabelEvent(kind=kind, who=who, query_id=query, query=f"what is {query}?", **given)  # type: ignore[arg-type]


def hit(document: Document, start: int, end: int, rank: int) -> Hit:
    return Hit(document, start, end, 1 / rank, rank, 10)


def document(id: str = "a.md", sentences: int = 200) -> Document:
    text = "".join(f"Sentence number {number} says a thing or two. " for number in range(sentences))
    return Document(id=id, text=text)


def pool(query: str = "q1", places: tuple[tuple[int, int], ...] = ((0, 40), (100, 140))) -> Pool:
    own = document()
    hits = {"bm25": [hit(own, *place, rank) for rank, place in enumerate(places, 1)], "dense": []}
    return pooled(Query(query, f"what is {query}?"), hits, 10)
