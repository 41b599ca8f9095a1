"""What a search reads of an index, each document and size once, and how found spans become hits."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core import Document, Hit
from chunkwise.retrieval.searchable import CandidateSpan, Searchable
from chunkwise.text.tokens.tokenizers import get_tokenizer


class IndexReader:
    """Kept for one call of `search`: many questions meet the same documents."""

    def __init__(self, source: Searchable) -> None:
        self.source = source
        self.tokenizer = get_tokenizer(source.settings.tokenizer)
        self._documents: dict[int, Document] = {}
        self._counts: dict[tuple[int, int, int], int] = {}

    def document(self, number: int) -> Document:
        found = self._documents.get(number)
        if found is None:
            found = self._documents[number] = self.source.document(number)
        return found

    def text(self, document: int) -> str:
        return self.document(document).text

    def count(self, document: int, start: int, end: int) -> int:
        """Tokens of the span's text by itself, to the token: what a prompt will be charged for."""
        key = document, start, end
        count = self._counts.get(key)
        if count is None:
            count = self.tokenizer.count(self.text(document)[start:end])
            self._counts[key] = count
        return count

    def size(self, place: CandidateSpan) -> int:
        """Tokens of what is shown of a place: its text, or the summary."""
        if place.level:
            return self.tokenizer.count(place.summary)
        return self.count(place.document, place.start, place.end)


def hits_of(reader: IndexReader, places: Sequence[CandidateSpan]) -> list[Hit]:
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
            matched_chunk=place.matched,
            matched=place.matched_span,
            parent=place.parent,
        )
        for rank, place in zip(_ranks(places), places, strict=True)
    ]


def _ranks(places: Sequence[CandidateSpan]) -> list[int]:
    ranks = list(range(1, len(places) + 1))
    if places and places[0].first < 0:
        best_first = sorted(range(len(places)), key=lambda at: -places[at].score)
        for rank, at in enumerate(best_first, 1):
            ranks[at] = rank
    return ranks
