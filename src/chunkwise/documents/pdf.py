"""PDF: the text of every page and where each page starts, with the bookmarks as headings.

PDFium marks every hyphen at the end of a line between letters, that of "well-known" as that of "hyphen-ated"; only the
words of the document tell which of the two it is.
"""

from __future__ import annotations

import ctypes
import re
import threading
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Block, Document
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.ocr import EXAMPLE, Ocr, recognised_pages
from chunkwise.documents.source import Source

if TYPE_CHECKING:
    import pypdfium2


_MARKS = "\ufffe\x02"
# Behind no letter, or each letter of a long word would be tried as its first.
_CUT = re.compile(rf"(?<![^\W\d_])([^\W\d_]++)[{_MARKS}](?=([^\W\d_]++))")
_WORD = re.compile(r"[^\W\d_]++(?:-[^\W\d_]++)*+")


def without_hyphens(pages: Sequence[str]) -> list[str]:
    """The pages with each mark gone, or turned into a hyphen where nothing speaks against one."""
    if not any(mark in page for page in pages for mark in _MARKS):
        return list(pages)
    words = {word.lower() for page in pages for word in _WORD.findall(page)}

    def mended(cut: re.Match[str]) -> str:
        first, second = cut[1].lower(), cut[2].lower()
        whole = first + second in words and f"{first}-{second}" not in words
        return cut[1] if whole else f"{cut[1]}-"

    hyphens = str.maketrans(dict.fromkeys(_MARKS, "-"))
    return [_CUT.sub(mended, page).translate(hyphens) for page in pages]


PAGE_BREAK = "\n\n"
_EDGE = 2
"""Lines that may head a page, and as many that may foot it."""
_RUNNING_PAGES = 3
_DIGITS = re.compile(r"\d+")
PAGE_NUMBER = re.compile(r"\W*(?:page |p\. ?)?\d{1,4}(?: ?(?:of|/) ?\d{1,4})?\W*", re.IGNORECASE)
_ITEM = re.compile(r"(?:[a-z]|[ivx]{1,5})[.)]\s")
_FEWEST_WORDS = 3
"""Of a line that goes on: a shorter one may be anything."""


def joined_pages(pages: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The text, and where each page starts in it."""
    edges = [_edges(page) for page in pages]
    running = _running(edges)
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for number, page in enumerate(pages):
        between = PAGE_BREAK if number else ""
        if number and _goes_on(edges[number - 1][1], edges[number][0], running):
            length -= len(parts[-1])
            parts[-1], page = parts[-1].rstrip(), page.lstrip()
            length += len(parts[-1])
            # A word cut in two is put together as it is at the end of a line.
            between = "" if re.search(r"[^\W\d_]-\Z", parts[-1]) else "\n"
        parts += (between, page)
        starts.append(length + len(between))
        length = starts[-1] + len(page)
    return "".join(parts), tuple(starts)


def _edges(page: str) -> tuple[list[str], list[str]]:
    """The lines with text at the head of a page, and those at its foot, outermost first."""
    lines = [line.strip() for line in page.split("\n") if line.strip()]
    return lines[: _EDGE + 1], lines[: -_EDGE - 2 : -1]


def _running(edges: Sequence[tuple[list[str], list[str]]]) -> frozenset[str]:
    """The lines that head or foot most pages, but for the numbers in them."""
    seen = Counter(
        line for edge in edges for line in {_but_numbers(line) for side in edge for line in side}
    )
    most = max(_RUNNING_PAGES, len(edges) / 2)
    return frozenset(line for line, count in seen.items() if count >= most)


def _but_numbers(line: str) -> str:
    return _DIGITS.sub("#", line)


def _innermost(edge: list[str], running: frozenset[str]) -> str:
    """The outermost line that is text and no page number or running head."""
    for line in edge:
        if not PAGE_NUMBER.fullmatch(line) and _but_numbers(line) not in running:
            return line
    return ""


def _goes_on(foot: list[str], head: list[str], running: frozenset[str]) -> bool:
    """Whether the text of a page ends in the midst of a sentence and that of the next goes on small."""
    last, first = _innermost(foot, running), _innermost(head, running)
    if not last or not first[:1].islower() or _ITEM.match(first):
        return False
    words = last.split()
    if len(words) < _FEWEST_WORDS or not any(word[0].islower() for word in words):
        return False  # a heading, or a running foot of few pages
    return last[-1].isalpha() or last[-1] == "," or (last[-1] == "-" and last[-2].isalpha())


_MOST = 5_000
_DEEPEST = 8
_LONGEST = 200
_MOST_LINES = 3
"""A long title goes over as many."""
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_NUMBER = re.compile(
    r"(?:[^\W\d_]{4,12}[^\S\n]+)?((?:\d{1,3}|[A-Z]|[IVXLC]{1,6})(?:\.\d{1,3}){0,5}[.:)]?[^\S\n]+)"
)
"""`1.2 ` and `Appendix A `: outlines have all of it, the number alone, or neither."""
_WHOLE = 5
"""Headings that make an outline that of a whole document, and not of its cover and contents."""


class Bookmark(NamedTuple):
    """Where a title leads."""

    title: str
    level: int
    """1 is the outermost."""
    page: int
    """From 0."""


def bookmarks(pdf: pypdfium2.PdfDocument) -> list[Bookmark]:
    """In their order; of an outline without end the first."""
    from pypdfium2 import PdfBookmark

    found = []
    for handle, level in islice(_outline(pdf), _MOST):
        mark = PdfBookmark(handle, pdf, level)
        place = mark.get_dest()
        page = place.get_index() if place else None
        try:
            title = mark.get_title()
        except UnicodeDecodeError:
            continue
        # Some writers mark every page by its number.
        if page is not None and len(title) <= _LONGEST and not PAGE_NUMBER.fullmatch(title):
            found.append(Bookmark(title, level, page))
    return found


def _outline(pdf: pypdfium2.PdfDocument) -> Iterator[tuple[object, int]]:
    """Handles and levels; the library's own walk writes to the log about what is too deep or runs in a circle."""
    from pypdfium2.raw import FPDFBookmark_GetFirstChild, FPDFBookmark_GetNextSibling

    seen: set[int] = set()
    pending = [(FPDFBookmark_GetFirstChild(pdf, None), 1)]
    while pending:
        handle, level = pending.pop()
        if not handle or (address := ctypes.addressof(handle.contents)) in seen:
            continue
        seen.add(address)
        yield handle, level
        pending.append((FPDFBookmark_GetNextSibling(pdf, handle), level))
        if level < _DEEPEST:
            pending.append((FPDFBookmark_GetFirstChild(pdf, handle), level + 1))


def with_bookmarks(document: Document, marks: Sequence[Bookmark]) -> Document:
    """The document with its layout declared: what its text shows, and the bookmarks found in it."""
    headings = _headings(document, marks)
    if not headings:
        return document
    from chunkwise.text.analysis import Analyzed

    blocks = _merged(document.text, Analyzed(document).blocks, headings)
    return replace(document, blocks=tuple(blocks))


def _headings(document: Document, marks: Sequence[Bookmark]) -> list[Block]:
    """In their order in the text, and apart; of equal lines of a page the first behind the last heading is meant."""
    bounds = [*document.pages, len(document.text)]
    found: list[Block] = []
    lines: dict[str, list[tuple[int, int]]] = {}
    page, end = -1, 0
    for mark in sorted(marks, key=lambda mark: mark.page):
        if not 0 <= mark.page < len(document.pages):
            continue
        if mark.page != page:
            page = mark.page
            lines = _lines(document.text, bounds[page], bounds[page + 1])
        places = lines.get(_letters(mark.title), [])
        at = bisect_left(places, (end, 0))
        if at < len(places):
            start, end = places[at]
            found.append(Block("heading", start, end, mark.level))
    return found


def _lines(text: str, start: int, end: int) -> dict[str, list[tuple[int, int]]]:
    """Where a page has a line or a few that a title may be, by their letters, with a number in front and without."""
    spans = [match.span() for match in _LINE.finditer(text, start, end)]
    found: dict[str, list[tuple[int, int]]] = {}
    for first, (begin, _) in enumerate(spans):
        number = _NUMBER.match(text, begin, end)
        for _, stop in spans[first : first + _MOST_LINES]:
            if stop - begin > 2 * _LONGEST:
                break
            starts = (begin, number.start(1), number.end()) if number else (begin,)
            for key in {_letters(text[start:stop]) for start in starts} - {""}:
                found.setdefault(key, []).append((begin, stop))
    return found


def _letters(text: str) -> str:
    """Spaces, marks and ligatures differ between an outline and a page."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _merged(text: str, blocks: Iterable[Block], headings: Sequence[Block]) -> list[Block]:
    """All headings, and of the blocks what they leave."""
    parts: list[Block] = []
    known = frozenset(headings)
    differences: list[int] = []
    at = 0
    for block in blocks:
        while at < len(headings) and headings[at].end <= block.start:
            at += 1
        start, following = block.start, at
        while following < len(headings) and headings[following].start < block.end:
            heading = headings[following]
            if block.kind == "heading":
                differences.append(heading.level - block.level)
            parts += _part(text, block, start, heading.start)
            start = heading.end
            following += 1
        parts += _part(text, block, start, block.end)
    # Where both know a heading, they tell how the levels of the one are to be read in those of the other.
    shift = Counter(differences).most_common(1)[0][0] if differences else 0
    merged: list[Block] = []
    least = 1
    for block in sorted([*headings, *parts], key=lambda block: block.start):
        if block in known:
            # What the outline of a whole document leaves out stands below what it has.
            least = block.level + 1 if len(headings) >= _WHOLE else 1
        elif block.kind == "heading":
            block = block._replace(level=max(least, block.level + shift))
        merged.append(block)
    return merged


def _part(text: str, block: Block, start: int, end: int) -> list[Block]:
    """The block from here to there without white space at its ends, if anything is left."""
    found = text[start:end]
    if not found.strip():
        return []
    first = start + len(found) - len(found.lstrip())
    last = start + len(found.rstrip())
    if start > block.start and block.kind != "heading":
        return [Block("paragraph", first, last)]  # an item ends where a heading stands in it
    return [block._replace(start=first, end=last)]


_PASSWORD_ERRORS = (4, 5)
_LOCK = threading.Lock()  # PDFium may be called by one thread at a time
# NUL is a glyph without a character.
_REPAIRS = str.maketrans({"\x00": None, "\r": None})


class PdfLoader:
    """By its first bytes, whatever the name."""

    suffixes: tuple[str, ...] = (".pdf",)
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        if suffix_of(name) in self.suffixes and b"%PDF-" in head[:1024]:
            return True  # some writers put other bytes in front
        return head.lstrip().startswith(b"%PDF-")

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        data = source.read(options.max_bytes)
        with _LOCK:
            title, texts, marks = _pages(data, source.origin, options.ocr)
        if not any(text.strip() for text in texts):
            pages = "its only page" if len(texts) == 1 else f"any of its {len(texts)} pages"
            raise UnreadableDocument(
                source.origin, f"no text on {pages} (scanned?); read it with {EXAMPLE}"
            )
        text, starts = joined_pages(without_hyphens(texts))
        document = Document(
            source.id,
            text,
            title=title,
            source=source.origin,
            format="pdf",
            pages=starts,
        )
        yield with_bookmarks(document, marks)


def _pages(data: bytes, origin: str, ocr: Ocr | None) -> tuple[str, list[str], list[Bookmark]]:
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in _PASSWORD_ERRORS:
            raise UnreadableDocument(origin, "encrypted; save it without its password") from error
        raise UnreadableDocument(origin, "damaged or truncated PDF") from error
    try:
        title = pdf.get_metadata_value("Title").translate(_REPAIRS).strip()
        texts = [_page_text(pdf, number, origin) for number in range(len(pdf))]
        if ocr is not None:
            texts = recognised_pages(pdf, texts, ocr, origin)
        return title, texts, bookmarks(pdf)
    finally:
        pdf.close()


def _page_text(pdf: pypdfium2.PdfDocument, number: int, origin: str) -> str:
    from pypdfium2 import PdfiumError

    try:
        page = pdf[number]
        try:
            content = page.get_textpage()
            try:
                text: str = content.get_text_range()
            finally:
                content.close()
        finally:
            page.close()
    except PdfiumError as error:
        raise UnreadableDocument(origin, f"damaged PDF: page {number + 1} is broken") from error
    return text.translate(_REPAIRS)
