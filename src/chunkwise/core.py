"""The values everything is made of: spans, blocks, documents, chunks, hits. Frozen, standard library only."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, NamedTuple, Protocol

BlockKind = Literal["heading", "paragraph", "item", "header", "row", "code"]
"""What a block is: `header` and `row` are lines of a table, `item` one entry of a list."""

BLOCK_KINDS: tuple[BlockKind, ...] = ("heading", "paragraph", "item", "header", "row", "code")

SECTION_SEPARATOR = " > "


class Span(NamedTuple):
    """Half-open range of Unicode code points of a document's text."""

    start: int
    end: int


class Block(NamedTuple):
    """A piece of layout the source format declares: blocks are ordered and do not overlap."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """Depth of a heading (1 = top) or nesting of a list item (0 = outermost)."""
    group: int = 0
    """Items of one list and rows of one table share a number; neighbours differ."""


class Piece(NamedTuple):
    """What a strategy returns when it knows more than a span."""

    start: int
    end: int
    context: str = ""
    """Text to index beside the chunk, never part of it (a split table's header)."""
    token_count: int = -1
    """Exact count when the strategy already knows it; -1: to be counted."""
    parent: Span | None = None
    """The larger span handed out when this one is found; None: the piece itself."""
    summary: str = ""
    """Text made from others, where the piece is a summary; they are pieces of the level below."""
    summarised: tuple[Span, ...] = ()
    """What a summary stands for, in order and without overlap; `start` and `end` are those of the whole."""
    level: int = 0
    """0: a place in the document; 1: a summary of such places; 2: a summary of summaries."""


@dataclass(frozen=True, slots=True)
class Document:
    """An immutable text with a stable id; offsets everywhere refer to `text`."""

    id: str
    text: str = field(repr=False)
    title: str = ""
    source: str = ""
    format: str = "text"
    """text, markdown, code, or the format the text was extracted from (html, pdf, docx, epub, table)."""
    language: str = ""
    """Programming language of source code, in lower case; empty for prose."""
    metadata: Mapping[str, object] = field(default_factory=dict, hash=False)
    blocks: tuple[Block, ...] | None = field(default=None, repr=False)
    """Layout declared by the source format; None: to be found in the text."""
    pages: tuple[int, ...] = field(default=(), repr=False)
    """Offset at which each page starts, the first page first."""

    def page(self, position: int) -> int | None:
        """Number of the page a position lies on, from 1; None where the format has no pages."""
        return bisect_right(self.pages, position) if self.pages else None


class Outline(Protocol):
    """Knows the section path of any place in a document."""

    def section(self, start: int, end: int) -> tuple[str, ...]: ...


class KnownSection(NamedTuple):
    """The outline of one chunk that left the process its document was analysed in."""

    path: tuple[str, ...]

    def section(self, start: int, end: int) -> tuple[str, ...]:
        return self.path


@dataclass(frozen=True, slots=True, init=False)
class Chunk:
    """A place in a document. `text` is always `document.text[start:end]`.

    A summary (`level` above 0) stands for several places, `spans`: its `text` was written by a model and is no part of
    the document, and `start` and `end` are where the first of its places begins and the last one ends.
    """

    document: Document = field(repr=False)
    index: int
    start: int
    end: int
    token_count: int
    context: str = ""
    """Text indexed beside the chunk, never part of it."""
    strategy: str = field(default="", repr=False)
    outline: Outline | None = field(default=None, repr=False, compare=False)
    """Where the section path comes from; looked up when asked, most chunks never are."""
    parent: Span | None = None
    """The larger span handed out when this chunk is found."""
    summary: str = ""
    """What was written for the places it stands for; empty: it is no summary."""
    summarised: tuple[Span, ...] = ()
    level: int = 0
    """0: a place in the document; 1: a summary of such places; 2: a summary of summaries."""

    def __init__(
        self, document: Document, index: int, start: int, end: int, token_count: int, context: str = "",
        strategy: str = "", outline: Outline | None = None, parent: Span | None = None, summary: str = "",
        summarised: tuple[Span, ...] = (), level: int = 0,
    ) -> None:  # fmt: skip
        # Chunks are made by the million, and what dataclasses would write here takes twice the time.
        _set_document(self, document)
        _set_index(self, index)
        _set_start(self, start)
        _set_end(self, end)
        _set_token_count(self, token_count)
        _set_context(self, context)
        _set_strategy(self, strategy)
        _set_outline(self, outline)
        _set_parent(self, parent)
        _set_summary(self, summary)
        _set_summarised(self, summarised)
        _set_level(self, level)

    @property
    def id(self) -> str:
        return f"{self.document.id}::{self.index}"

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
    def index_text(self) -> str:
        """What is embedded and searched: the context, then the text."""
        return f"{self.context}\n{self.text}" if self.context else self.text

    @property
    def section(self) -> tuple[str, ...]:
        """Titles from the outermost heading down to the chunk's own."""
        return self.outline.section(self.start, self.end) if self.outline else ()

    @property
    def section_path(self) -> str:
        return SECTION_SEPARATOR.join(self.section)

    @property
    def page(self) -> int | None:
        """Number of the page the chunk starts on, from 1; None where the format has no pages."""
        return self.document.page(self.start)

    @property
    def last_page(self) -> int | None:
        return self.document.page(max(self.start, self.end - 1))

    @property
    def word_count(self) -> int:
        return len(self.text.split())

    # The names other splitters use for the same two offsets.
    @property
    def start_index(self) -> int:
        return self.start

    @property
    def end_index(self) -> int:
        return self.end

    def __reduce__(self) -> tuple[object, ...]:
        # A document's analysis stays in the process that made it; the path it gives travels.
        values = (self.document, self.index, self.start, self.end, self.token_count, self.context)
        derived = (self.summary, self.summarised, self.level)
        return Chunk, (*values, self.strategy, KnownSection(self.section), self.parent, *derived)


(
    _set_document, _set_index, _set_start, _set_end, _set_token_count, _set_context,
    _set_strategy, _set_outline, _set_parent, _set_summary, _set_summarised, _set_level,
) = (vars(Chunk)[each.name].__set__ for each in fields(Chunk))  # fmt: skip


class Passage(NamedTuple):
    """A place in a document that is known by its id."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reference:
    """A place that holds something a question asks for."""

    doc_id: str
    start: int
    end: int
    alternatives: tuple[Passage, ...] = ()
    """Places that say the same: covering any of them is covering the reference."""

    @property
    def places(self) -> tuple[Passage, ...]:
        """The place itself, then its alternatives."""
        return (Passage(self.doc_id, self.start, self.end), *self.alternatives)


class Fact(NamedTuple):
    """Something a complete answer names, in any of its spellings."""

    text: str
    aliases: tuple[str, ...] = ()


class Label(NamedTuple):
    """What a person said about a place as an answer to a question."""

    doc_id: str
    start: int
    end: int
    relevant: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A question with an id that results can be joined by, and what is known about its answer."""

    id: str
    text: str
    references: tuple[Reference, ...] = ()
    answer: str | None = None
    facts: tuple[Fact, ...] = ()
    types: tuple[str, ...] = ()
    """What kind of question it is, in words of its author: tables are made by them."""
    labels: tuple[Label, ...] = ()
    split: str = ""
    """validation or test; empty: not split."""


@dataclass(frozen=True, slots=True)
class Score:
    """A figure, or the reason why there is none: unscored is a state, not a number."""

    value: float | None
    reason: str = ""
    """Why it is unscored; empty where it is scored."""


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


class Advance(Protocol):
    """Takes note of work done: how much since the last call, and what is being done."""

    def __call__(self, amount: int, note: str) -> None: ...
