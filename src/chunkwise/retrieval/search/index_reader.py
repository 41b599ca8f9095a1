"""What a search reads of an index for its hits: each document and size once."""

from __future__ import annotations

from chunkwise.core import Document, Span
from chunkwise.retrieval.searchable import CandidateSpan, Searchable
from chunkwise.retrieval.tables_lists_code import NO_FRAME, Frame, WholeBlocks
from chunkwise.text.tokens.tokenizers import TokenizerLike, get_tokenizer


class IndexReader:
    """Kept for one call of `search`: many questions meet the same documents."""

    def __init__(self, source: Searchable, tokenizer: TokenizerLike | None = None) -> None:
        """`tokenizer` counts budgets and sizes of hits; None: the one the index was made with."""
        self.source = source
        of_index = get_tokenizer(source.settings.tokenizer)
        self.tokenizer = of_index if tokenizer is None else get_tokenizer(tokenizer)
        self.counts_as_index = self.tokenizer.name == of_index.name
        """Whether the sizes of atoms and chunks in the index are those a budget is counted in."""
        self._blocks: dict[int, WholeBlocks] = {}
        self._counts: dict[tuple[int, int, int], int] = {}
        self.frame_tokens: int | None = None
        """The most that fences and headers around a span may take; None: whatever they take."""

    def document(self, number: int) -> Document:
        return self.blocks(number).document

    def blocks(self, document: int) -> WholeBlocks:
        found = self._blocks.get(document)
        if found is None:
            found = self._blocks[document] = self.source.blocks(document)
        return found

    def text(self, document: int) -> str:
        return self.document(document).text

    def frame(self, document: int, start: int, end: int) -> Frame:
        """What is shown around a span so that it can be read; nothing where that would take too much of a budget."""
        found = self.blocks(document).frame(start, end)
        if found == NO_FRAME or self.frame_tokens is None:
            return found
        tokens = self.tokenizer.count(found.opening) + self.tokenizer.count(found.closing)
        return found if tokens <= self.frame_tokens else NO_FRAME

    def count(self, document: int, start: int, end: int) -> int:
        """Tokens of the span's text by itself as it is shown, to the token: what a prompt will be charged for."""
        key = document, start, end
        count = self._counts.get(key)
        if count is None:
            opening, closing = self.frame(document, start, end)
            hidden = self.blocks(document).hidden(start, end)
            shown = self.document(document).text_without(Span(start, end), hidden)
            count = self.tokenizer.count(f"{opening}{shown}{closing}")
            self._counts[key] = count
        return count

    def size(self, candidate: CandidateSpan) -> int:
        """Tokens of what is shown of a candidate: its text, or the summary."""
        if candidate.level:
            return self.tokenizer.count(candidate.summary)
        return self.count(candidate.document, candidate.start, candidate.end)
