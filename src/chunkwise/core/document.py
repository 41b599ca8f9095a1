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
    (type(None), "None", "skip documents without text"),
    (bytes | bytearray, "bytes", "decode it first, text.decode('utf-8')"),
    (os.PathLike, "a path", "to read a file, use chunkwise.chunk or chunkwise.read"),
    (list | tuple | set, "a list", "call it per document, or pass a list of Document to chunkwise.chunk"),
)  # fmt: skip


def no_text(given: object) -> str:
    """Describe a value given instead of text, and how to fix it."""
    if isinstance(given, Document):
        return "a Document; expected a str: chunkwise.ext.chunk_document takes it"
    for kind, name, remedy in _NO_TEXTS:
        if isinstance(given, kind):
            return f"{name}; expected a str: {remedy}"
    return f"{shown(given)}; expected a str"


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
    """Markup of the text (text, markdown, code, rst, tex, asciidoc, org) or source format (html, pdf, docx, pptx,
    table …)."""
    language: str = ""
    """Programming language of source code; empty for prose."""
    metadata: Mapping[str, object] = field(default_factory=dict, hash=False)
    blocks: tuple[Block, ...] | None = field(default=None, repr=False)
    """Layout declared by the source format; None to detect it in the text."""
    pages: tuple[int, ...] = field(default=(), repr=False)
    """Start offset of each page."""
    boxes: PageBoxes | None = field(default=None, repr=False, hash=False)
    """Rectangle of each line on its page, if known."""
    links: tuple[Link, ...] = field(default=(), repr=False)
    """Links that the text doesn't contain, as in HTML."""
    revision: str = field(default="", repr=False, compare=False)
    """Version of its source in an object store; an index update skips unchanged ones."""

    def __post_init__(self) -> None:
        if not isinstance(self.id, str):
            raise InvalidParameter(f"the id of a document is {self.id!r}; expected a str")
        if not isinstance(self.text, str):
            raise InvalidParameter(f"the text of the document {self.id!r} is {no_text(self.text)}")
        for name in ("title", "source", "language"):
            if not isinstance(given := getattr(self, name), str):
                own = ": pass metadata as `metadata`" if isinstance(given, Mapping) else ""
                raise InvalidParameter(
                    f"the {name} of the document {self.id!r} is {shown(given)}; expected a str{own}"
                )
        if not isinstance(self.metadata, Mapping):
            raise InvalidParameter(
                f"the metadata of the document {self.id!r} is {shown(self.metadata)}; expected a "
                "dict: "
                '{"year": 2024}'
            )
        if self.blocks is None and self.format not in FORMATS:
            raise InvalidParameter(
                f"the format of the document {self.id!r} is {self.format!r}; allowed: "
                f"{', '.join(FORMATS)}; a custom format needs `blocks`; otherwise use text"
            )

    def page(self, position: int) -> int | None:
        """Page number of an offset, from 1; None without pages."""
        return bisect_right(self.pages, position) if self.pages else None

    def text_without(self, span: Span, hidden: Sequence[Span]) -> str:
        """Text of a span without the hidden spans."""
        start, parts = span.start, []
        for row in hidden:
            parts.append(self.text[start : max(start, row.start)])
            start = max(start, row.end)
        return "".join(parts) + self.text[start : max(start, span.end)]

    def boxes_of(self, start: int, end: int) -> tuple[Box, ...]:
        """Rectangles of a span by page; empty without pages."""
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
        """The spans covered, in order; several for a summary."""
        return self.summarized or (self.span,)

    @property
    def section_path(self) -> str:
        return SECTION_SEPARATOR.join(self.section)

    @property
    def page(self) -> int | None:
        """Page number of its start, from 1; None without pages."""
        return self.document.page(self.start)

    @property
    def last_page(self) -> int | None:
        return self.document.page(max(self.start, self.end - 1))

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Rectangles by page, in PDF points; empty without pages."""
        return tuple(box for span in self.spans for box in self.document.boxes_of(*span))

    @property
    def metadata(self) -> Mapping[str, object]:
        """Metadata of its document: record fields, front matter."""
        return self.document.metadata
