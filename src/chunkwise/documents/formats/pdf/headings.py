"""Headings of a PDF: by its bookmarks, found again in its text, and by how they are set: larger, bolder, alone."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from chunkwise.core import Block, Document
from chunkwise.documents.formats.pdf.headers_footers import PAGE_NUMBER
from chunkwise.documents.formats.pdf.lines import Line
from chunkwise.documents.formats.pdf.paragraphs import Body, Group, is_caption

if TYPE_CHECKING:
    import pypdfium2


_LARGER = 1.07
"""Times the body's size."""
_NO_SMALLER = 0.95
_HEAVIER = 1.35
_LINES, _CHARACTERS = 4, 200
_FEWEST_LINES = 3
"""Of running text."""
_DEEPEST = 9
_NUMBER = re.compile(
    r"(?:(?:chapter|part|section|appendix|annex|kapitel|teil|abschnitt|anhang|chapitre|partie|capítulo|article)\s+)?"
    r"(?P<number>(?:\d{1,3}|[A-Z]|[IVXLC]{1,6})(?:\.\d{1,3}){0,5})[.:)]?(?=\s|$)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:(?:chapter|section|kapitel|abschnitt|chapitre|capítulo)\s+)?"
    r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,5}|[A-Z](?:\.\d{1,3}){1,5})[.:)]?(?=\s|$)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:chapter|part|appendix|annex|book|kapitel|teil|anhang|chapitre|partie|capítulo|parte)\s+(?:\d{1,3}|[A-Z]|[IVXLC]{1,6})[.:]?",
    re.IGNORECASE,
)
"""A line above a title that has its number alone."""
_LEADER = re.compile(r"(?:[.·…_]\s?){4,}")
_WORD = re.compile(r"[^\W\d_]{3}|[^\W\d_](?<=[\u0900-\U0010ffff])")
_MATH = frozenset("=+<>≤≥≈∑∏∫√∞∈∀∃→⇒×·|∂∇{}")
_ENDS_NO_TITLE = frozenset(",;")
_MATH_SHARE = 0.12


class StyledHeading(NamedTuple):
    """A group, or several, that are one heading."""

    first: int
    last: int
    level: int


class _Style(NamedTuple):
    """Sorted, the heaviest is first."""

    size: float
    light: bool


def is_bold(line: Line, body: Body) -> bool:
    return line.all_bold or (body.weight > 0 and line.font.weight > _HEAVIER * body.weight)


class StyledOutline(NamedTuple):
    """What the type of a document tells of its headings."""

    headings: list[StyledHeading]
    """In order, with their levels."""
    names: frozenset[int]
    """Groups that are set like headings before the text begins, and are above nothing: of a title page, of authors."""


def styled_outline(groups: Sequence[Group], body: Body) -> StyledOutline:
    """By size, weight, place and repetition."""
    result: list[tuple[int, int, _Style, str]] = []
    at = 0
    while at < len(groups):
        style = _style(groups, at, body)
        if style is None:
            at += 1
            continue
        last, text = at, groups[at].text
        # "Chapter 1", and below it the title, larger or smaller.
        if _LABEL.fullmatch(text.strip()) and at + 1 < len(groups):
            below = _style(groups, at + 1, body)
            if below is not None and groups[at + 1].column == groups[at].column:
                last, style, text = (
                    at + 1,
                    min(style, below, key=lambda row: (-row.size, row.light)),
                    f"{text} {groups[at + 1].text}",
                )
        # One title in two sizes of gap: lines of one style right below each other.
        while (
            last + 1 < len(groups)
            and last - at < _LINES
            and _is_rest(groups[last], groups[last + 1])
        ):
            if _style(groups, last + 1, body) != style or _depth(groups[last + 1].text):
                break
            last += 1
        result.append((at, last, style, text))
        at = last + 1
    result = _above_text(groups, result, body)
    names = _names_in_front(groups, result, body)
    result = [row for row in result if row not in names]
    levels = _levels([(style, _depth(text)) for _, _, style, text in result])
    headings = [
        StyledHeading(first, last, level)
        for (first, last, _, _), level in zip(result, levels, strict=True)
    ]
    own = (range(first, last + 1) for first, last, _, _ in names)
    return StyledOutline(headings, frozenset(at for item in own for at in item))


def _is_rest(above: Group, group: Group) -> bool:
    """Whether a group goes on with the title above it."""
    return (
        above.column == group.column
        and group.gap < 1.3
        and above.lines[-1].x1 > above.right - 0.35 * (above.right - above.left)
    )


def _style(groups: Sequence[Group], at: int, body: Body) -> _Style | None:
    """How a group is set, if it is set like a heading and reads like one."""
    group = groups[at]
    if group.kind not in ("text", "item") or len(group.lines) > _LINES:
        return None
    size = group.size
    bold = not body.bold and all(is_bold(line, body) for line in group.lines)
    large = size >= _LARGER * body.size
    if not (large or (bold and size >= _NO_SMALLER * body.size)):
        return None
    if not reads_like_a_title(group):
        return None
    return _Style(round(size * 2) / 2, not bold)


def reads_like_a_title(group: Group) -> bool:
    """Words, and no formula, label, caption, item of a list or line of a table of contents."""
    text = group.text.strip()
    if len(text) > _CHARACTERS or not _WORD.search(text) or is_caption(text):
        return False
    number = _NUMBER.match(text)
    if group.kind == "item" and not number:
        return False
    if text[-1] in _ENDS_NO_TITLE or _LEADER.search(text):
        return False
    if text[-1] == "." and not number and len(text.split()) > 3:
        return False
    if text[0].islower() and not number:
        return False
    dense = [item for item in text if not item.isspace()]
    if sum(item in _MATH for item in dense) > _MATH_SHARE * len(dense):
        return False
    if sum(map(str.isalpha, dense)) < 0.5 * len(dense):
        return False
    if any(line.font.mono for line in group.lines) and all(line.font.mono for line in group.lines):
        return False
    return not any(_is_row(line) for line in group.lines)


def stands_like_a_title(group: Group, body: Body) -> bool:
    """Whether it begins at the left of its column or stands in the middle: words in a figure stand anywhere."""
    first = group.lines[0]
    middle = abs(first.x0 + first.x1 - group.left - group.right) / 2 <= max(
        body.size, 0.03 * (group.right - group.left)
    )
    return middle or first.x0 <= group.left + 2.5 * body.size


def _is_row(line: Line) -> bool:
    """Whether a line has cells beside each other; a number in front of a title is none."""
    if not line.cells:
        return False
    return len(line.cells) > 2 or not _NUMBER.match(line.text) or line.text.split()[-1].isdigit()


def _depth(text: str) -> int:
    """Parts of the number in front of a title; 0 where there is none, or a letter or a word that need not nest."""
    match = _NUMBERED.match(text.strip())
    return match["number"].count(".") + 1 if match else 0


def _above_text(
    groups: Sequence[Group], found: list[tuple[int, int, _Style, str]], body: Body
) -> list[tuple[int, int, _Style, str]]:
    """Those with a text below: the words in a figure, and bold cells, have none of their own."""
    starts = {first for first, *_ in found}
    kept = []
    for first, last, style, text in found:
        group = groups[first]
        if style.size < _LARGER * body.size:
            # Bold alone: at the left of its column or in its middle, with some room above.
            if not stands_like_a_title(group, body):
                continue
            below = last + 1
            if below >= len(groups):
                continue
            under = groups[below]
            if below not in starts and (
                under.kind in ("table", "aside")
                and under.column == group.column
                and not _depth(text)
            ):
                continue
        kept.append((first, last, style, text))
    return kept


def _names_in_front(
    groups: Sequence[Group], found: list[tuple[int, int, _Style, str]], body: Body
) -> list[tuple[int, int, _Style, str]]:
    """Of what is set like a heading before the first running text all but the title, which is the largest, what opens
    that text, and what has a number or a style that comes again."""
    text = next((at for at, group in enumerate(groups) if _is_running_text(group, body)), None)
    front = [] if text is None else [row for row in found if row[0] < text]
    if text is None or len(front) < 2:
        return []
    again = {style for first, _, style, _ in found if first >= text}
    kept = [min(front, key=lambda row: (-row[2].size, row[2].light))]
    if _page(groups[front[-1][0]]) == _page(groups[text]):
        kept.append(front[-1])
    return [
        row for row in front if row not in kept and row[2] not in again and not _is_numbered(row[3])
    ]


def _is_running_text(group: Group, body: Body) -> bool:
    """A paragraph in the size of the body; lines that stand alone may be anything."""
    if group.kind != "text" or len(group.lines) < _FEWEST_LINES:
        return False
    plain = _NO_SMALLER * body.size <= group.size <= _LARGER * body.size
    return plain and (body.bold or not all(is_bold(line, body) for line in group.lines))


def _page(group: Group) -> int:
    return group.lines[0].page


def _is_numbered(text: str) -> bool:
    return bool(_depth(text) or _LABEL.match(text.strip()))


def _levels(headings: Sequence[tuple[_Style, int]]) -> list[int]:
    """By size and weight; by the depth of their numbers where most headings of a style have one."""
    depths: defaultdict[_Style, Counter[int]] = defaultdict(Counter)
    for style, depth in headings:
        depths[style][depth] += 1
    level_of: dict[_Style, int] = {}
    offset: int | None = None
    deepest = 0
    for style in sorted(depths, key=lambda row: (-row.size, row.light)):
        numbered = [depth for depth in depths[style] if depth]
        if 2 * depths[style][0] > depths[style].total():
            numbered = []
        if not numbered:
            deepest += 1
            level_of[style] = deepest
            continue
        least = min(numbered)
        if offset is None:
            offset = deepest + 1 - least
        level_of[style] = max(offset + least, 1)
        deepest = max(deepest, *(offset + depth for depth in numbered))
    levels = []
    for style, depth in headings:
        by_number = depth and offset is not None and 2 * depths[style][0] <= depths[style].total()
        level = (offset or 0) + depth if by_number else level_of[style]
        levels.append(min(max(level, 1), _DEEPEST))
    return levels


_MOST = 5_000
_DEEPEST_BOOKMARK = 8
_LONGEST = 200
_MOST_LINES = 3
"""A long title goes over as many."""
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_BOOKMARK_NUMBER = re.compile(
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

    result = []
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
            result.append(Bookmark(title, level, page))
    return result


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
        if level < _DEEPEST_BOOKMARK:
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
    blocks: list[Block] = []
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
            blocks.append(Block("heading", start, end, mark.level))
    return blocks


def _lines(text: str, start: int, end: int) -> dict[str, list[tuple[int, int]]]:
    """Where a page has a line or a few that a title may be, by their letters, with a number in front and without."""
    spans = [match.span() for match in _LINE.finditer(text, start, end)]
    lines: dict[str, list[tuple[int, int]]] = {}
    for first, (begin, _) in enumerate(spans):
        number = _BOOKMARK_NUMBER.match(text, begin, end)
        for _, stop in spans[first : first + _MOST_LINES]:
            if stop - begin > 2 * _LONGEST:
                break
            starts = (begin, number.start(1), number.end()) if number else (begin,)
            for key in {_letters(text[start:stop]) for start in starts} - {""}:
                lines.setdefault(key, []).append((begin, stop))
    return lines


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
    result = text[start:end]
    if not result.strip():
        return []
    first = start + len(result) - len(result.lstrip())
    last = start + len(result.rstrip())
    if start > block.start and block.kind != "heading":
        return [Block("paragraph", first, last)]  # an item ends where a heading stands in it
    return [block._replace(start=first, end=last)]
