"""Which questions word search answers whatever the chunking: they tell no strategy from another."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core import Advance, Document, Hit, Passage, Query
from chunkwise.retrieval.indexes import Index, index

STRATEGIES = (
    "sentences(max_tokens=200)",
    "recursive(max_tokens=1000, overlap=200, tokenizer='characters')",
    "structure",
)
DEPTH = 5
_COVERED = 0.95
"""Of a reference's characters: blanks at an edge belong to no chunk."""


class WordSearch:
    """The documents, cut in the usual ways, each searched by words alone."""

    def __init__(self, documents: Sequence[Document], advance: Advance | None = None) -> None:
        self._indexes: list[Index] = []
        for number, strategy in enumerate(STRATEGIES, 1):
            if advance is not None:
                advance(
                    0, f"cutting the documents for word search, way {number} of {len(STRATEGIES)}"
                )
            self._indexes.append(index(documents, strategy, vectors="none", advance=advance))

    def finds(self, query: Query) -> bool:
        """Whether every reference is among the first few chunks of every strategy."""
        return all(
            _covers(query, each.search(query.text, k=DEPTH, retriever="bm25"))
            for each in self._indexes
        )


def _covers(query: Query, hits: Sequence[Hit]) -> bool:
    return all(
        any(_share(place, hits) >= _COVERED for place in reference.places)
        for reference in query.references
    )


def _share(place: Passage, hits: Sequence[Hit]) -> float:
    spans = sorted(
        (max(hit.start, place.start), min(hit.end, place.end))
        for hit in hits
        if hit.doc_id == place.doc_id and hit.start < place.end and place.start < hit.end
    )
    covered, reached = 0, place.start
    for start, end in spans:
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered / max(1, place.end - place.start)
