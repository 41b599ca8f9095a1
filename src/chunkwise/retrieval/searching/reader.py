"""What a search reads of an index: documents and the sizes of spans, each looked up once."""

from __future__ import annotations

from chunkwise.core import Document
from chunkwise.retrieval.place import Place
from chunkwise.retrieval.searchable import Searchable
from chunkwise.text.tokenizers import get_tokenizer


class Reader:
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

    def size(self, place: Place) -> int:
        """Tokens of what is shown of a place: its text, or the summary."""
        if place.level:
            return self.tokenizer.count(place.summary)
        return self.count(place.document, place.start, place.end)
