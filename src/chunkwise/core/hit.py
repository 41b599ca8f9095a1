"""What a search finds."""

from __future__ import annotations

from dataclasses import dataclass, field

from chunkwise.core.document import SECTION_SEPARATOR, Document, Span


@dataclass(frozen=True, slots=True)
class Hit:
    """A place in a document that answers a question; or a summary of several, whose `text` is the summary."""

    document: Document = field(repr=False)
    start: int
    end: int
    score: float
    rank: int
    """From 1, the best. Hits come in this order, except those of several sizes: they come in reading order."""
    token_count: int
    """Of its text."""
    section: tuple[str, ...] = ()
    chunk: int | None = None
    """Index of the chunk in its document, where the hit is exactly one; None: a parent, a chunk with its
    neighbours, a part of one, or sentences, whatever the chunks are."""
    summary: str = ""
    """What was written for the places it stands for; empty: it is no summary."""
    summarised: tuple[Span, ...] = ()
    summarised_tokens: tuple[int, ...] = ()
    """Of each of these places: metrics hold a summary to what it stands for."""
    level: int = 0

    @property
    def doc_id(self) -> str:
        return self.document.id

    @property
    def text(self) -> str:
        return self.summary if self.level else self.document.text[self.start : self.end]

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The places it stands for, in order: one, but for a summary."""
        return self.summarised or (self.span,)

    @property
    def span_tokens(self) -> tuple[int, ...]:
        """Of each of `spans`."""
        return self.summarised_tokens or (self.token_count,)

    @property
    def section_path(self) -> str:
        return SECTION_SEPARATOR.join(self.section)

    @property
    def page(self) -> int | None:
        """Number of the page the hit starts on, from 1; None where the format has no pages."""
        return self.document.page(self.start)

    @property
    def last_page(self) -> int | None:
        return self.document.page(max(self.start, self.end - 1))
