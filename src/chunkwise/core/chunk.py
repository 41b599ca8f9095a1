"""A place that a strategy cut out of a document."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, Protocol, Self, final

from chunkwise.base.repr_html import beginning, card
from chunkwise.base.spec import size_and_overlap
from chunkwise.base.wording import from_to
from chunkwise.core.document import Document, PlaceInDocument, Span, plain_value

WrittenContext = Literal["neighbors", "document"]
"""What a language model writes beside a chunk: from the chunks around, or from the whole document."""
WRITTEN_CONTEXTS: tuple[WrittenContext, ...] = ("neighbors", "document")


class Piece(NamedTuple):
    """A chunk returned by a strategy, with more than a span."""

    start: int
    end: int
    context: str = ""
    """Text to index with the chunk but outside of it, such as a table header."""
    token_count: int = -1
    """Token count, if known; else -1."""
    parent: Span | None = None
    """The larger span to return when this one is found."""
    summary: str = ""
    """The summary text of pieces of the level below."""
    summarized: tuple[Span, ...] = ()
    """The spans a summary covers, in order and without overlap."""
    level: int = 0
    """RAPTOR level: 0 for chunks, 1 for summaries, 2 for summaries of summaries."""


class SectionStretch(NamedTuple):
    """A stretch of a document in which all places have one section path."""

    start: int
    end: int
    path: tuple[str, ...]


class Outline(Protocol):
    """Knows the section path of any place in a document."""

    def section(self, start: int, end: int) -> tuple[str, ...]: ...

    def stretch(self, start: int, end: int) -> SectionStretch:
        """The section path of a place, and from where to where all places have the same."""


class KnownSection(NamedTuple):
    """The outline of one chunk that left the process its document was analyzed in."""

    path: tuple[str, ...]

    def section(self, start: int, end: int) -> tuple[str, ...]:
        return self.path

    def stretch(self, start: int, end: int) -> SectionStretch:
        return SectionStretch(start, end, self.path)


@final
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Chunk(PlaceInDocument):
    """A span of a document; `text` is always `document.text[start:end]`.

    A summary (`level` above 0) covers several spans, `spans`: a model wrote its `text`, and `start` and `end` are the
    outer bounds.

    Example:
        >>> chunk = chunkwise.chunk_text("One. Two.")[0]
        >>> chunk.start, chunk.end, chunk.token_count
    """

    document: Document
    index: int
    start: int
    end: int
    token_count: int
    context: str = ""
    """Text indexed with the chunk, but not part of it."""
    strategy: str = ""
    outline: Outline | None = field(default=None, compare=False)
    """Source of the section path, evaluated lazily."""
    parent: Span | None = None
    """The larger span returned when this chunk is found."""
    summary: str = ""
    """The summary text; empty for other chunks."""
    summarized: tuple[Span, ...] = ()
    level: int = 0
    """RAPTOR level: 0 for chunks, 1 for summaries, 2 for summaries of summaries."""
    context_token_count: int = -1
    """Tokens in `context`; -1 if not counted."""

    def __new__(
        cls, document: Document, index: int, start: int, end: int, token_count: int, context: str = "",
        strategy: str = "", outline: Outline | None = None, parent: Span | None = None, summary: str = "",
        summarized: tuple[Span, ...] = (), level: int = 0, context_token_count: int = -1,
    ) -> Self:  # fmt: skip
        # Chunks are made by the million, and what is not frozen yet is filled in half the time.
        made: Any = _Open()
        made.document = document
        made.index = index
        made.start = start
        made.end = end
        made.token_count = token_count
        made.context = context
        made.strategy = strategy
        made.outline = outline
        made.parent = parent
        made.summary = summary
        made.summarized = summarized
        made.level = level
        made.context_token_count = context_token_count
        made.__class__ = cls
        return made

    def __init_subclass__(cls) -> None:
        raise TypeError("Chunk can't be subclassed; wrap it in your own class")

    @property
    def id(self) -> str:
        return f"{self.document.id}::{self.index}"

    @property
    def index_text(self) -> str:
        """The indexed text: context, then text."""
        return f"{self.context}\n{self.text}" if self.context else self.text

    @property
    def section(self) -> tuple[str, ...]:
        """Headings from the outermost to its own."""
        return self.outline.section(self.start, self.end) if self.outline else ()

    @property
    def word_count(self) -> int:
        return len(self.text.split())

    @property
    def chunk_size_config(self) -> int | None:
        """Size parameter of the strategy, in its unit."""
        return size_and_overlap(self.strategy)[0]

    @property
    def overlap_config(self) -> int | None:
        """Overlap parameter of the strategy, in its unit."""
        return size_and_overlap(self.strategy)[1]

    # The names other splitters use for the same two offsets.
    @property
    def start_index(self) -> int:
        return self.start

    @property
    def end_index(self) -> int:
        return self.end

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; the same names as the columns of a file of chunks."""
        parent = self.parent
        return {
            "id": self.id,
            "doc_id": self.doc_id,
            "index": self.index,
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "context": self.context,
            "token_count": self.token_count,
            "context_token_count": None
            if self.context_token_count < 0
            else self.context_token_count,
            "word_count": self.word_count,
            "section": self.section_path,
            "page": self.page,
            "last_page": self.last_page,
            "title": self.document.title,
            "source": self.document.source,
            "strategy": self.strategy,
            "chunk_size_config": self.chunk_size_config,
            "overlap_config": self.overlap_config,
            "level": self.level,
            "spans": [list(span) for span in self.spans],
            "boxes": [list(box) for box in self.boxes],
            "parent_start": parent.start if parent else None,
            "parent_end": parent.end if parent else None,
            "metadata": plain_value(self.metadata),
        }

    def __repr__(self) -> str:
        """What tells it from others: where it is, its size, how it begins."""
        shown = (
            beginning(self.summary)
            if self.level
            else beginning(self.document.text, self.start, self.end)
        )
        known = (
            f"id={self.id!r}, start={self.start}, end={self.end}, token_count={self.token_count}"
        )
        level = f", level={self.level}" if self.level else ""
        parent = f", parent={self.parent}" if self.parent else ""
        return f"Chunk({known}{level}{parent}, text={shown!r})"

    def _repr_html_(self) -> str:
        place = from_to(self.start, self.end)
        return card(
            self.id,
            {"at": place, "tokens": self.token_count, "in": self.section_path or "–"},
            self.text,
        )

    def __reduce__(self) -> tuple[object, ...]:
        # A document's analysis stays in the process that made it; the path it gives travels.
        values = (self.document, self.index, self.start, self.end, self.token_count, self.context)
        derived = (self.summary, self.summarized, self.level, self.context_token_count)
        return Chunk, (*values, self.strategy, KnownSection(self.section), self.parent, *derived)


class _Open(PlaceInDocument):
    """A chunk while it is filled."""

    __slots__ = tuple(item.name for item in fields(Chunk))
