"""PDF: lines of every page with their type and place, read as one text with headings, tables, code and boxes.

PDFium marks every hyphen at the end of a line between letters, that of "well-known" as that of "hyphen-ated"; only the
words of the document tell which of the two it is.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.wording import counted, one_or_many
from chunkwise.core import Block, Document, PageBoxes
from chunkwise.documents.formats.pdf.headers_footers import furniture
from chunkwise.documents.formats.pdf.headings import (
    Bookmark,
    StyledHeading,
    bookmarks,
    is_bold,
    merged,
    reads_like_a_title,
    stands_like_a_title,
    styled_outline,
    with_bookmarks,
)
from chunkwise.documents.formats.pdf.lines import (
    Line,
    Page,
    read_page,
    recognized_page,
    without_hyphens,
)
from chunkwise.documents.formats.pdf.paragraphs import Body, Group, body_of, groups, page_starts
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.ocr import EXAMPLE, Ocr, recognized_pages
from chunkwise.documents.source import Source

if TYPE_CHECKING:
    import pypdfium2

_WHOLE = 5
"""Headings by their type that make an outline: body text is none then, whatever its words."""
_PASSWORD_ERRORS = (4, 5)
_LOCK = threading.Lock()  # PDFium may be called by one thread at a time


class PdfLoader:
    """By its first bytes, whatever the name."""

    suffixes: tuple[str, ...] = (".pdf",)
    stream = False

    def __init__(self, *, keep_boilerplate: bool = False) -> None:
        self.keep_boilerplate = keep_boilerplate

    def accepts(self, name: str, head: bytes) -> bool:
        if suffix_of(name) in self.suffixes and b"%PDF-" in head[:1024]:
            return True  # some writers put other bytes in front
        return head.lstrip().startswith(b"%PDF-")

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        data = source.read(options.max_bytes)
        with _LOCK:
            title, pages, marks = _pages(data, source.origin, options.ocr)
        if not any(page.lines for page in pages):
            message = one_or_many(
                len(pages), "its only page", f"any of its {counted(len(pages), 'page')}"
            )
            raise UnreadableDocument(
                source.origin, f"no text on {message} (scanned?); use OCR: {EXAMPLE}"
            )
        keep = self.keep_boilerplate or options.keep_boilerplate
        layout = PdfLayout(pages, keep_boilerplate=keep)
        document = Document(
            source.id,
            layout.text,
            title=title,
            source=source.origin,
            format="pdf",
            pages=layout.pages,
            boxes=layout.boxes,
        )
        yield with_bookmarks(layout.with_blocks(document), marks)


class PdfLayout:
    """The text of some pages, and where everything in it comes from."""

    def __init__(self, pages: Sequence[Page], *, keep_boilerplate: bool = False) -> None:
        left_out = furniture(pages)
        lines = [line for page in pages for line in page.lines if id(line) not in left_out]
        self.body = body_of(lines)
        self.groups = groups(pages, self.body, left_out, keep=keep_boilerplate)
        parts: list[str] = []
        placed: list[tuple[int, int, Line]] = []
        self._spans: list[tuple[int, int]] = []
        length = 0
        above: Group | None = None
        for group in self.groups:
            if above is not None:
                parts.append(_between_groups(above, group))
                length += len(parts[-1])
            start = length
            for at, line in enumerate(group.lines):
                if at:
                    parts.append(group.between(at))
                    length += len(parts[-1])
                parts.append(line.text)
                placed.append((length, length + len(line.text), line))
                length += len(line.text)
            self._spans.append((start, length))
            above = group
        self.text, gone = without_hyphens("".join(parts))
        self._move(placed, gone)
        self.pages = page_starts(
            [(line.page, start) for start, _, line in self._placed], len(pages), len(self.text)
        )

    def _move(self, placed: list[tuple[int, int, Line]], gone: list[int]) -> None:
        """Places behind hyphens that are gone lie further in front."""
        self._placed = placed
        if gone:
            where = np.array(gone)
            starts = np.array([start for start, _, _ in placed])
            ends = np.array([end for _, end, _ in placed])
            starts -= where.searchsorted(starts)
            ends -= where.searchsorted(ends)
            self._placed = [
                (start, end, line)
                for start, end, (_, _, line) in zip(
                    starts.tolist(), ends.tolist(), placed, strict=True
                )
            ]
            spans = np.array(self._spans)
            self._spans = list(map(tuple, (spans - where.searchsorted(spans)).tolist()))

    @property
    def boxes(self) -> PageBoxes:
        return PageBoxes.of(
            (start, end, (line.page + 1, *line.box)) for start, end, line in self._placed
        )

    def with_blocks(self, document: Document) -> Document:
        """The document with its headings, tables and code declared, where its type tells any."""
        from chunkwise.text.analyzed import Analyzed

        headings, names = styled_outline(self.groups, self.body)
        declared = self._declared(headings)
        if not declared and not any(group.kind == "aside" for group in self.groups):
            return document
        result = [self._checked(block, len(headings), names) for block in Analyzed(document).blocks]
        blocks = merged(document.text, _joined(document.text, result), declared)
        return replace(document, blocks=tuple(blocks))

    def _declared(self, headings: Sequence[StyledHeading]) -> list[Block]:
        blocks = [
            Block(
                "heading",
                self._spans[heading.first][0],
                self._spans[heading.last][1],
                heading.level,
            )
            for heading in headings
        ]
        number = 0
        starts = [start for start, _, _ in self._placed]
        for group, (start, end) in zip(self.groups, self._spans, strict=True):
            if group.kind == "code" and len(group.lines) > 1:
                blocks.append(Block("code", start, end))
            if group.kind == "table":
                number += 1
                first = bisect_right(starts, start) - 1
                rows = [self._placed[first + row][0] for row in group.rows]
                for at, (low, high) in enumerate(zip(rows, [*rows[1:], end + 1], strict=True)):
                    head = at == 0 and len(rows) > 2 and _is_head(group, self.body)
                    blocks.append(Block("header" if head else "row", low, high - 1, 0, number))
        return sorted(blocks, key=lambda block: block.start)

    def _checked(self, block: Block, headings: int, names: frozenset[int]) -> Block:
        """A heading by its words is one by its place, too: no cell, formula, label, note or line of code."""
        if block.kind != "heading":
            return block
        at = bisect_right(self._spans, (block.start, len(self.text))) - 1
        group = self.groups[max(at, 0)]
        line = self._line(block.start)
        alone = Group([line], group.kind, group.column, group.left, group.right)
        plain = (
            at in names
            or group.kind in ("aside", "table", "code")
            or 0 < line.size < 0.93 * self.body.size
        )
        if plain or not (reads_like_a_title(alone) and stands_like_a_title(alone, self.body)):
            return Block("paragraph", block.start, block.end)
        heavy = is_bold(line, self.body) and not self.body.bold
        if headings >= _WHOLE and not heavy:
            return Block("paragraph", block.start, block.end)
        return block

    def _line(self, position: int) -> Line:
        at = bisect_right(self._placed, position, key=lambda placed: placed[0]) - 1
        return self._placed[max(at, 0)][2]


def _is_head(group: Group, body: Body) -> bool:
    """Whether the first row of a table names its columns: heavier than the next, or words above numbers."""
    second = group.rows[1]
    first, below = group.lines[:second], group.lines[second:]
    if all(is_bold(line, body) for line in first) and not all(
        is_bold(line, body) for line in below
    ):
        return True
    text = "".join(line.text for line in first)
    return not any(map(str.isdigit, text)) and any(
        item.isdigit() for line in below for item in line.text
    )


def _between_groups(above: Group, group: Group) -> str:
    """Items of one list stand close; all else is parted by a blank line."""
    close = above.kind == group.kind == "item" and group.gap < 1.25 and above.column == group.column
    return "\n" if close else "\n\n"


def _joined(text: str, blocks: Sequence[Block]) -> list[Block]:
    """Paragraphs that only what was taken for a heading parted are one."""
    result: list[Block] = []
    for block in blocks:
        last = result[-1] if result else None
        if (
            last is not None
            and last.kind == block.kind == "paragraph"
            and text[last.end : block.start] == "\n"
        ):
            result[-1] = last._replace(end=block.end)
        else:
            result.append(block)
    return result


def _title(pdf: pypdfium2.PdfDocument) -> str:
    try:
        title: str = pdf.get_metadata_value("Title")
    except UnicodeDecodeError:  # half a surrogate pair
        return ""
    return title.replace("\x00", "").replace("\r", "").strip()


def _pages(data: bytes, origin: str, ocr: Ocr | None) -> tuple[str, list[Page], list[Bookmark]]:
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in _PASSWORD_ERRORS:
            raise UnreadableDocument(origin, "encrypted; save it without a password") from error
        raise UnreadableDocument(origin, "damaged or truncated PDF") from error
    try:
        title = _title(pdf)
        pages = []
        for number in range(len(pdf)):
            try:
                pages.append(read_page(pdf, number))
            except pypdfium2.PdfiumError as error:
                raise UnreadableDocument(
                    origin, f"damaged PDF: page {number + 1} is broken"
                ) from error
        if ocr is not None:
            known = ["\n".join(line.text for line in page.lines) for page in pages]
            texts = recognized_pages(pdf, known, ocr, origin)
            pages = [
                page if page.lines else recognized_page(page, number, text)
                for number, (page, text) in enumerate(zip(pages, texts, strict=True))
            ]
        return title, pages, bookmarks(pdf)
    finally:
        pdf.close()
