"""A text with its id and layout, and places in it."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import shown
from chunkwise.core.layout import Block, Box, Link, PageBoxes

AS_WRITTEN = ("text", "markdown", "code", "rst", "tex", "asciidoc", "org")
"""Formats whose text is the file's own, line by line and character by character."""

FORMATS = (
    *AS_WRITTEN, "html", "pdf", "table", "docx", "odt", "rtf", "epub", "pptx", "odp", "xlsx", "ods", "eml", "notebook",
    "man", "subtitles", "xml", "picture",
)  # fmt: skip
"""Formats of documents that do not say their blocks; with blocks, a loader may name any other."""

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


_NO_TEXTS: tuple[tuple[type | UnionType, str, str], ...] = (
    (type(None), "None", "leave out what has no text"),
    (bytes | bytearray, "bytes", "decode it first, text.decode('utf-8')"),
    (os.PathLike, "a path", "chunkwise.chunk reads files, and chunkwise.read makes documents of them"),
    (list | tuple | set, "a list", "call it for each of them, or give chunkwise.chunk a list of Document"),
)  # fmt: skip


def no_text(given: object) -> str:
    """What stands where a text is needed, and what to do about it."""
    if isinstance(given, Document):
        return "a Document; a str is needed: chunkwise.ext.chunk_document takes it"
    for kind, name, remedy in _NO_TEXTS:
        if isinstance(given, kind):
            return f"{name}; a str is needed: {remedy}"
    return f"{shown(given)}; a str is needed"


class Span(NamedTuple):
    """Half-open range of Unicode code points of a document's text.

    Example:
        >>> chunkwise.Span(0, 5)
    """

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """An immutable text with a stable id; all offsets refer to `text`.

    Example:
        >>> document = chunkwise.Document("leave.md", "Managers approve leave.")
    """

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
    """The rectangle of each line on its page; None: unknown."""
    links: tuple[Link, ...] = field(default=(), repr=False)
    """Links of formats whose text does not contain them, such as HTML."""
    revision: str = field(default="", repr=False, compare=False)
    """Of which state of its source it was read, where a store says: an index reads only what has another by now."""

    def __post_init__(self) -> None:
        if not isinstance(self.id, str):
            raise InvalidParameter(f"the id of a document is {self.id!r}; a str is needed")
        if not isinstance(self.text, str):
            raise InvalidParameter(f"the text of the document {self.id!r} is {no_text(self.text)}")
        for name in ("title", "source", "language"):
            if not isinstance(given := getattr(self, name), str):
                own = ": pass metadata as `metadata`" if isinstance(given, Mapping) else ""
                raise InvalidParameter(
                    f"the {name} of the document {self.id!r} is {shown(given)}; a str is needed{own}"
                )
        if not isinstance(self.metadata, Mapping):
            raise InvalidParameter(
                f"the metadata of the document {self.id!r} is {shown(self.metadata)}; a dict is needed: "
                '{"year": 2024}'
            )
        if self.blocks is None and self.format not in FORMATS:
            raise InvalidParameter(
                f"the format of the document {self.id!r} is {self.format!r}; allowed: {', '.join(FORMATS)}; "
                "a custom format needs `blocks`, else say text"
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
        """The rectangles of a span, page by page; none if the format has no pages."""
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


class PlaceInDocument:
    """What a chunk and a hit say of their place, by their document."""

    __slots__ = ()

    document: Document
    start: int
    end: int
    summary: str
    summarized: tuple[Span, ...]
    level: int

    if TYPE_CHECKING:

        @property
        def section(self) -> tuple[str, ...]: ...

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
        """The spans it covers, in order: one, or several for a summary."""
        return self.summarized or (self.span,)

    @property
    def section_path(self) -> str:
        return SECTION_SEPARATOR.join(self.section)

    @property
    def page(self) -> int | None:
        """Number of the page it starts on, from 1; None where the format has no pages."""
        return self.document.page(self.start)

    @property
    def last_page(self) -> int | None:
        return self.document.page(max(self.start, self.end - 1))

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Its rectangles, page by page, in PDF points; none if the format has no pages."""
        return tuple(box for span in self.spans for box in self.document.boxes_of(*span))

    @property
    def metadata(self) -> Mapping[str, object]:
        """What its document is known by beside text and title: fields of its record, its front matter."""
        return self.document.metadata
