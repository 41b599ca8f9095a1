"""Bookmarks of a PDF: the headings of its outline, found again in its text."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from chunkwise.core import Block, Document
from chunkwise.documents.formats.pdf.running_heads import PAGE_NUMBER

if TYPE_CHECKING:
    import pypdfium2


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
    from chunkwise.text.analyzed import Analyzed

    blocks = merged(document.text, Analyzed(document).blocks, headings)
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


def merged(text: str, blocks: Iterable[Block], headings: Sequence[Block]) -> list[Block]:
    """All that is declared (`headings`, and code and tables), and of the other blocks what they leave."""
    parts: list[Block] = []
    known = frozenset(headings)
    count = sum(block.kind == "heading" for block in headings)
    differences: list[int] = []
    at = 0
    for block in blocks:
        while at < len(headings) and headings[at].end <= block.start:
            at += 1
        start, following = block.start, at
        while following < len(headings) and headings[following].start < block.end:
            heading = headings[following]
            if block.kind == heading.kind == "heading":
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
        if block in known and block.kind == "heading":
            # What the outline of a whole document leaves out stands below what it has.
            least = block.level + 1 if count >= _WHOLE else 1
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
