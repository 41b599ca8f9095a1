"""What a search finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from chunkwise.base.repr_html import beginning, card
from chunkwise.base.wording import format_number, from_to
from chunkwise.core.document import Document, PlaceInDocument, Span, plain_value


class HitPlace(NamedTuple):
    """A span of a hit, with its document."""

    document: Document
    start: int
    end: int
    tokens: int

    @property
    def doc_id(self) -> str:
        return self.document.id

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]

    def touches(self, doc_id: str, start: int, end: int) -> bool:
        """Whether the spans overlap."""
        return self.document.id == doc_id and self.start < end and start < self.end


@dataclass(frozen=True, slots=True, repr=False)
class Hit(PlaceInDocument):
    """A span of a document that a search returned, or a summary of several spans."""

    document: Document
    start: int
    end: int
    score: float
    rank: int
    """Rank from 1. Hits are sorted by rank, multi-scale hits in reading order."""
    token_count: int
    """Tokens of the shown text."""
    section: tuple[str, ...] = ()
    chunk: int | None = None
    """Index of the chunk in its document, if the hit is exactly one chunk."""
    summary: str = ""
    """The summary text; empty for other chunks."""
    summarized: tuple[Span, ...] = ()
    summarized_tokens: tuple[int, ...] = ()
    """Tokens of each summarized span."""
    level: int = 0
    matched_chunk: int | None = None
    """Index of the matching chunk, even if more is returned; None if sentences matched."""
    matched: Span | None = None
    """Span of that chunk: the hit itself, or a child of it."""
    parent: Span | None = None
    """The larger span returned for its chunks, if they have one."""
    opening: str = ""
    """Text shown before a hit that starts inside a block: a code fence or table header."""
    closing: str = ""
    """Text shown after a hit that ends inside code: the closing fence."""
    elsewhere: tuple[HitPlace, ...] = ()
    """Spans of a summary in other documents."""
    hidden: tuple[Span, ...] = ()
    """Hidden spans inside it, such as Markdown comments."""

    @property
    def chunk_id(self) -> str | None:
        """Id of the chunk, if the hit is exactly one chunk."""
        return None if self.chunk is None else f"{self.doc_id}::{self.chunk}"

    @property
    def matched_id(self) -> str | None:
        """Id of the matching chunk."""
        return None if self.matched_chunk is None else f"{self.doc_id}::{self.matched_chunk}"

    @property
    def shown(self) -> str:
        """The text to show to a reader or model: without comments, with code fences and table headers."""
        text = self.text if self.level else self.document.text_without(self.span, self.hidden)
        return f"{self.opening}{text}{self.closing}"

    @property
    def span_tokens(self) -> tuple[int, ...]:
        """Tokens of each span."""
        return self.summarized_tokens or (self.token_count,)

    @property
    def places(self) -> tuple[HitPlace, ...]:
        """All spans in all documents, used for citations and metrics."""
        own = zip(self.spans, self.span_tokens, strict=True)
        return (*(HitPlace(self.document, *span, size) for span, size in own), *self.elsewhere)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "rank": self.rank,
            "score": self.score,
            "doc_id": self.doc_id,
            "start": self.start,
            "end": self.end,
            "token_count": self.token_count,
            "title": self.document.title,
            "source": self.document.source,
            "section": self.section_path,
            "page": self.page,
            "last_page": self.last_page,
            "text": self.text,
            "opening": self.opening,
            "closing": self.closing,
            "hidden": [list(span) for span in self.hidden],
            "level": self.level,
            "spans": [list(span) for span in self.spans],
            "elsewhere": [
                {"doc_id": place.doc_id, "start": place.start, "end": place.end}
                for place in self.elsewhere
            ],
            "boxes": [list(box) for box in self.boxes],
            "chunk_id": self.chunk_id,
            "matched_id": self.matched_id,
            "matched": list(self.matched) if self.matched else None,
            "parent": list(self.parent) if self.parent else None,
            "metadata": plain_value(self.metadata),
        }

    def __repr__(self) -> str:
        """Where it is, how good it is, how it begins."""
        shown = (
            beginning(self.summary)
            if self.level
            else beginning(self.document.text, self.start, self.end)
        )
        place = f"doc_id={self.doc_id!r}, start={self.start}, end={self.end}"
        score = format_number(self.score, "number")
        facts = f"rank={self.rank}, score={score}, {place}, token_count={self.token_count}"
        return f"Hit({facts}, text={shown!r})"

    def _repr_html_(self) -> str:
        facts = {
            "score": format_number(self.score, "number"),
            "at": from_to(self.start, self.end),
            "tokens": self.token_count,
            "in": self.section_path or "–",
        }
        return card(f"{self.rank}. {self.document.title or self.doc_id}", facts, self.shown)
