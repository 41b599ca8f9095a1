"""What a search reads of an index for its hits: each document and size once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunkwise.core import Document, Span
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.searchable import CandidateSpan, FoundChunk, Searchable
from chunkwise.retrieval.tables_lists_code import NO_FRAME, Frame, WholeBlocks
from chunkwise.text.tokens.tokenizers import TokenizerLike, get_tokenizer

_AT_ONCE = 16
"""Chunks looked up together: most searches want no more than the first few."""
_SAMPLES, _SAMPLED = 8, 1000
"""Documents, and characters of each, that tell how the tokens of two tokenizers compare."""


class IndexReader:
    """Kept for one call of `search`: many questions meet the same documents."""

    def __init__(self, source: Searchable, tokenizer: TokenizerLike | None = None) -> None:
        """`tokenizer` counts budgets and sizes of hits; None: the one the index was built with."""
        self.source = source
        self._of_index = get_tokenizer(source.settings.tokenizer)
        self.tokenizer = self._of_index if tokenizer is None else get_tokenizer(tokenizer)
        self.counts_as_index = self.tokenizer.name == self._of_index.name
        """Whether the sizes of atoms and chunks in the index are those a budget is counted in."""
        self._blocks: dict[int, WholeBlocks] = {}
        self._counts: dict[tuple[int, int, int], int] = {}
        self._chunk_tokens: dict[tuple[int, int, int], int] = {}
        """Of chunks looked up, where the index counted as is asked: a tokenizer takes long to load."""
        self.frame_tokens: int | None = None
        """The most that fences and headers around a span may take; None: whatever they take."""

    def chunk_spans(self, ranking: Ranking) -> Iterator[tuple[CandidateSpan, tuple[int, int]]]:
        """The chunks of a ranking in order, each with its parent's span, looked up as far as they are wanted."""
        for begin in range(0, len(ranking.numbers), _AT_ONCE):
            numbers = ranking.numbers[begin : begin + _AT_ONCE].tolist()
            scores = ranking.scores[begin : begin + _AT_ONCE].tolist()
            for chunk, score in zip(self.source.chunks(numbers), scores, strict=True):
                if self.counts_as_index and not chunk.level:
                    self._chunk_tokens[chunk.document, chunk.start, chunk.end] = chunk.tokens
                yield _candidate_span(chunk, score), chunk.parent

    def document(self, number: int) -> Document:
        return self.blocks(number).document

    def blocks(self, document: int) -> WholeBlocks:
        whole_blocks = self._blocks.get(document)
        if whole_blocks is None:
            whole_blocks = self._blocks[document] = self.source.blocks(document)
        return whole_blocks

    def text(self, document: int) -> str:
        return self.document(document).text

    def frame(self, document: int, start: int, end: int) -> Frame:
        """What is shown around a span so that it can be read; nothing where that would take too much of a budget."""
        result = self.blocks(document).frame(start, end)
        if result == NO_FRAME or self.frame_tokens is None:
            return result
        tokens = self.tokenizer.count(result.opening) + self.tokenizer.count(result.closing)
        return result if tokens <= self.frame_tokens else NO_FRAME

    def count(self, document: int, start: int, end: int) -> int:
        """Tokens of the span's text by itself as it is shown, to the token: what a prompt will be charged for."""
        key = document, start, end
        count = self._counts.get(key)
        if count is None:
            frame = self.frame(document, start, end)
            hidden = self.blocks(document).hidden(start, end)
            if key in self._chunk_tokens and frame == NO_FRAME and not hidden:
                count = self._chunk_tokens[key]
            else:
                shown = self.document(document).text_without(Span(start, end), hidden)
                count = self.tokenizer.count(f"{frame.opening}{shown}{frame.closing}")
            self._counts[key] = count
        return count

    def index_tokens(self, tokens: int, texts: Sequence[str]) -> int:
        """How many of the index's tokens so many of the reader's are in such texts."""
        counted = sum(map(self.tokenizer.count, texts))
        of_index = sum(map(self._of_index.count, texts))
        return tokens * of_index // counted if counted else tokens

    def sample(self) -> list[str]:
        """The beginnings of a few documents."""
        numbers = self.source.document_numbers()
        return [self.text(at)[:_SAMPLED] for at in numbers[:: len(numbers) // _SAMPLES + 1]]

    def size(self, candidate: CandidateSpan) -> int:
        """Tokens of what is shown of a candidate: its text, or the summary."""
        if candidate.level:
            return self.tokenizer.count(candidate.summary)
        return self.count(candidate.document, candidate.start, candidate.end)


def _candidate_span(chunk: FoundChunk, score: float) -> CandidateSpan:
    number = chunk.number
    return CandidateSpan(
        chunk.document, chunk.start, chunk.end, score, chunk.section, number, number, chunk.position,
        level=chunk.level, summary=chunk.summary, spans=chunk.spans, span_tokens=chunk.span_tokens,
        matched=chunk.position, matched_span=Span(chunk.start, chunk.end),
    )  # fmt: skip
