"""A text, its places and its layout."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from typing import Any, Literal, NamedTuple

from chunkwise.base.errors import InvalidParameter
from chunkwise.core.boxes import Box, PageBoxes

BlockKind = Literal["heading", "paragraph", "item", "header", "row", "code"]
"""What a block is: `header` and `row` are lines of a table, `item` one entry of a list."""

BLOCK_KINDS: tuple[BlockKind, ...] = ("heading", "paragraph", "item", "header", "row", "code")

AS_WRITTEN = ("text", "markdown", "code", "rst", "tex", "asciidoc", "org")
"""Formats whose text is the file's own, line by line and character by character."""

SECTION_SEPARATOR = " > "


def plain_value(value: object) -> Any:
    """Ready for JSON: dates and times as ISO 8601 writes them, what is no plain value in words."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(each) for each in value]
    return str(value)


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


@dataclass(frozen=True, slots=True)
class Document:
    """An immutable text with a stable id; offsets everywhere refer to `text`."""

    id: str
    text: str = field(repr=False)
    title: str = ""
    source: str = ""
    format: str = "text"
    """How it is written: text (no markup is looked for), markdown, code, rst, tex, asciidoc, org; or what it was
    extracted from: html, pdf, docx, pptx, table …"""
    language: str = ""
    """Programming language of source code, in lower case; empty for prose."""
    metadata: Mapping[str, object] = field(default_factory=dict, hash=False)
    blocks: tuple[Block, ...] | None = field(default=None, repr=False)
    """Layout declared by the source format; None: to be found in the text."""
    pages: tuple[int, ...] = field(default=(), repr=False)
    """Offset at which each page starts, the first page first."""
    boxes: PageBoxes | None = field(default=None, repr=False, hash=False)
    """Where each line stands on its page; None: the format does not say."""
    revision: str = field(default="", repr=False, compare=False)
    """Of which state of its source it was read, where a store says: an index reads only what has another by now."""

    def __post_init__(self) -> None:
        if not isinstance(self.id, str):
            raise InvalidParameter(f"the id of a document is {self.id!r}; a str is needed")
        if not isinstance(self.text, str):
            shown = "None" if self.text is None else type(self.text).__name__
            raise InvalidParameter(
                f"the text of the document {self.id!r} is {shown}; a str is needed: decode bytes first, and leave out "
                "what has no text (chunkwise.read makes documents of files)"
            )

    def page(self, position: int) -> int | None:
        """Number of the page a position lies on, from 1; None where the format has no pages."""
        return bisect_right(self.pages, position) if self.pages else None

    def text_without(self, span: Span, hidden: Sequence[Span]) -> str:
        """The text of a span without the places that are not to be shown, given in order."""
        start, parts = span.start, []
        for each in hidden:
            parts.append(self.text[start : max(start, each.start)])
            start = max(start, each.end)
        return "".join(parts) + self.text[start : max(start, span.end)]

    def boxes_of(self, start: int, end: int) -> tuple[Box, ...]:
        """The rectangles a span stands in, page by page; none where the format has no pages."""
        return () if self.boxes is None else self.boxes.within(start, end)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; layout and places on pages are left out."""
        return {
            "id": self.id,
            "text": self.text,
            "title": self.title,
            "source": self.source,
            "format": self.format,
            "language": self.language,
            "metadata": plain_value(self.metadata),
        }
