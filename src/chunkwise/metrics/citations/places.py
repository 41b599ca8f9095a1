"""The text a citation points at."""

from __future__ import annotations

from collections.abc import Mapping

from chunkwise.core import Passage
from chunkwise.metrics.claims.answers import Citation


def cited_place(citation: Citation, texts: Mapping[str, str]) -> Passage | None:
    """Where it points: its offsets, else where its quote stands, else the whole document; None: nowhere."""
    text = texts.get(citation.doc_id)
    if text is None:
        return None
    start, end = citation.start, citation.end
    if start is not None:
        if end is None:
            end = start + len(citation.quote)
        return Passage(citation.doc_id, start, end) if 0 <= start < end <= len(text) else None
    if citation.quote:
        at = text.find(citation.quote)
        return Passage(citation.doc_id, at, at + len(citation.quote)) if at >= 0 else None
    return Passage(citation.doc_id, 0, len(text)) if text else None
