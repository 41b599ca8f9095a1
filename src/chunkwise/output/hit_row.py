"""One hit as a flat record, to be joined with its question by `query_id`."""

from __future__ import annotations

from typing import TypedDict

from chunkwise.core import Hit, Query


class HitRow(TypedDict):
    """The fields, in order. Offsets are half-open, in Unicode code points of the document's text."""

    query_id: str
    query: str
    rank: int
    score: float
    doc_id: str
    start: int
    end: int
    tokens: int
    title: str
    section: str
    page: int | None
    text: str
    level: int
    spans: tuple[tuple[int, int], ...]


def hit_row(query: Query, hit: Hit) -> HitRow:
    """A hit's record; `section` is the path.

    `spans` has the places it stands for: its own; of a summary (`level` above 0, its `text` is the summary) all it
    summarises.
    """
    return {
        "query_id": query.id,
        "query": query.text,
        "rank": hit.rank,
        "score": hit.score,
        "doc_id": hit.doc_id,
        "start": hit.start,
        "end": hit.end,
        "tokens": hit.token_count,
        "title": hit.document.title,
        "section": hit.section_path,
        "page": hit.page,
        "text": hit.text,
        "level": hit.level,
        "spans": hit.spans,
    }
