"""Pages of lines as one text: columns in reading order, paragraphs, tables, and what parts a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple

from chunkwise.documents.formats.pdf.lines import (
    HYPHEN_MARKS,
    Line,
    Page,
    cell_texts,
    columns,
    same_row,
)

GroupKind = Literal["text", "item", "code", "table", "aside"]


class Body(NamedTuple):
    """How most of a document is set."""

    size: float = 10.0
    leading: float = 1.2
    """From one baseline to the next, in sizes of the type."""
    bold: bool = False
    mono: bool = False
    weight: int = 0


@dataclass(slots=True)
class Group:
    """Lines that belong together: a paragraph, an item of a list, a piece of code, a table."""

    lines: list[Line]
    kind: GroupKind = "text"
    column: int = 0
    """Counts on over all columns of all pages."""
    left: float = 0.0
    right: float = 0.0
    """Of the column."""
    gap: float = 0.0
    """Above it, in leadings of the body; a column begins with a wide one."""
    rows: list[int] = field(default_factory=list)
    """Of a table: which of its lines begin a row."""
    behind: list[Group] = field(default_factory=list)
    """What stood between its parts."""

    @property
    def size(self) -> float:
        return max(self.lines, key=lambda line: len(line.text)).size

    @property
    def bold(self) -> bool:
        return all(line.all_bold for line in self.lines)

    @property
    def text(self) -> str:
        return "".join(
            line.text if at == 0 else self.between(at) + line.text
            for at, line in enumerate(self.lines)
        )

    def between(self, at: int) -> str:
        """What parts a line from the one above: nothing behind a hyphen, a space or a bar on one row, else its end."""
        above, line = self.lines[at - 1], self.lines[at]
        if above.text and above.text[-1] in HYPHEN_MARKS:
            return ""
        if same_row(above, line):
            return _BAR if self.kind == "table" else " "
        return "\n"


_BAR = " | "
"""Between cells, as in tables of HTML."""


def body_of(lines: Sequence[Line]) -> Body:
    """By characters, not by lines."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    sizes.pop(0.0, None)
    if not sizes:
        return Body()
    size = sizes.most_common(1)[0][0]
    own = [line for line in lines if abs(line.size - size) < 0.06]
    steps: Counter[float] = Counter()
    for above, line in pairwise(own):
        step = (above.baseline - line.baseline) / size
        if above.page == line.page and 0.8 < step < 3 and len(line.text) > 2:
            steps[round(step, 1)] += 1
    # Of two steps that are about as frequent the smaller is that inside of paragraphs.
    often = max(steps.values(), default=0)
    leading = min((step for step, count in steps.items() if count >= 0.5 * often), default=1.2)
    weights: Counter[int] = Counter()
    bold: Counter[bool] = Counter()
    mono: Counter[bool] = Counter()
    for line in own:
        weights[line.font.weight] += len(line.text)
        bold[line.all_bold] += len(line.text)
        mono[line.font.mono] += len(line.text)
    return Body(
        size,
        leading,
        bold.most_common(1)[0][0],
        mono.most_common(1)[0][0],
        weights.most_common(1)[0][0],
    )


# Paragraphs

_GAP = 1.25
"""Leadings from one line to the next that part paragraphs."""
_INDENT = 0.7
"""Sizes of type by which a first line is indented."""
_OTHER_SIZE = 1.1
_SHORT = 0.75
"""Of a column's width: a sentence that ends before ends its paragraph."""
_BULLET = re.compile(
    r"[-*•‣◦▪–—●○■□\x88\uf0b7\uf0a7]\s|\(?(?:[a-zA-Z]|[ivx]{1,5}|\d{1,3})[.)]\s|\[\d{1,3}\]\s"
)
_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)?|table|tab\.|listing|algorithm|scheme|plate|chart|abb(?:ildung|\.)?|tabelle|figura|tabla|tableau)"
    r"\s*\d{1,3}(?:[.-]\d{1,3})*\s*(?:[:.|–—-]|$|\s[A-Z])",
    re.IGNORECASE,
)
_SMALL = 0.93
"""Of the body's size: below it a text stands beside the others."""
_ENDS = frozenset('.!?…:;。！？"”’»)')


def is_caption(text: str) -> bool:
    return _CAPTION.match(text) is not None


def groups(
    pages: Sequence[Page], body: Body, furniture: set[int], *, keep: bool = False
) -> list[Group]:
    """What a document is made of, in reading order; furniture is left out, or kept beside the text."""
    result: list[Group] = []
    number = 0
    for page in pages:
        lines = [line for line in page.lines if id(line) not in furniture and line.upright]
        for column in columns(lines):
            number += 1
            result += _column(column, number, body)
        rest = [line for line in page.lines if not line.upright and id(line) not in furniture]
        if keep:
            rest += [line for line in page.lines if id(line) in furniture]
        result += [Group([line], "aside", number) for line in rest]
    return _whole_paragraphs(result, body)


def _column(lines: list[Line], number: int, body: Body) -> list[Group]:
    left = sorted(line.x0 for line in lines)[len(lines) // 10]
    right = sorted(line.x1 for line in lines)[(len(lines) - 1) * 19 // 20]
    result: list[Group] = []
    at = 0
    while at < len(lines):
        begins = at == 0 or not same_row(lines[at - 1], lines[at])
        stop = _table_end(lines, at) if begins else at
        if stop > at:
            rows = [
                index
                for index in range(at, stop)
                if index == at or not same_row(lines[index - 1], lines[index])
            ]
            for row in lines[at:stop]:
                row.text = _BAR.join(cell_texts(row))
            group = Group(
                lines[at:stop], "table", number, left, right, 9.0, [row - at for row in rows]
            )
            at = stop
        else:
            start = at
            at += 1
            while at < len(lines) and not _parted(lines, at, start, left, right, body):
                if not same_row(lines[at - 1], lines[at]) and _table_end(lines, at) > at:
                    break
                at += 1
            group = Group(lines[start:at], "text", number, left, right)
        result.append(group)
    for above, group in zip([None, *result], result, strict=False):
        first = group.lines[0]
        if above is None:
            group.gap = 9.0
        else:
            step = above.lines[-1].baseline - first.baseline
            group.gap = abs(step) / (body.leading * max(body.size, first.size, 1.0))
        if group.kind == "text":
            group.kind = _kind(group, body)
    _find_footnotes(result, body)
    return result


def _kind(group: Group, body: Body) -> GroupKind:
    first = group.lines[0].text
    if not body.mono and sum(line.font.mono for line in group.lines) * 2 > len(group.lines):
        return "code"
    if is_caption(first):
        return "aside"
    if _BULLET.match(first):
        return "item"
    return "text"


def _parted(lines: list[Line], at: int, start: int, left: float, right: float, body: Body) -> bool:
    """Whether a line begins a paragraph below the one above it."""
    above, line = lines[at - 1], lines[at]
    size = max(above.size, line.size, 1.0)
    if same_row(above, line):
        return False
    if line.font.mono != above.font.mono and not body.mono:
        return True
    step = above.baseline - line.baseline
    tiny = min(len(above.text), len(line.text)) < 4
    if step < -0.5 * size:
        return not tiny
    if step > _GAP * body.leading * size:
        return True
    if not tiny and max(above.size, line.size) > _OTHER_SIZE * min(above.size, line.size):
        return True
    if line.all_bold != above.all_bold and not tiny and above.text[-1:] not in HYPHEN_MARKS:
        return True
    if line.font.mono and above.font.mono:
        return False
    if _BULLET.match(line.text) and above.text[-1:] not in HYPHEN_MARKS:
        return line.x0 <= lines[start].x0 + 0.3 * size or above.text[-1:] in _ENDS
    indent = line.x0 - above.x0 > _INDENT * size and line.x0 - left > _INDENT * size
    if indent and not _BULLET.match(lines[start].text):
        below = lines[at + 1] if at + 1 < len(lines) else None
        back = (
            below is None or line.x0 - below.x0 > _INDENT * size or below.baseline > line.baseline
        )
        back = (
            back or above.baseline - line.baseline < line.baseline - below.baseline - 0.2 * size
            if below
            else back
        )
        if back and (above.text[-1:] in _ENDS or above.x1 < right - 0.1 * (right - left)):
            return True
    short = above.x1 < left + _SHORT * (right - left)
    return (
        short
        and above.text[-1:] in _ENDS
        and not line.text[:1].islower()
        and line.x0 <= above.x0 + size
    )


_MOST_ROWS = 2_000
_MARK = re.compile(rf"{_BULLET.pattern}|\d{{1,3}}(?:\.\d{{1,3}})*\.?\s")


def _table_end(lines: list[Line], at: int) -> int:
    """The line behind the last row of a table that begins here; `at` where none does."""
    if len(_cells(lines, at)[1]) < 2:
        return at
    rows: list[tuple[tuple[float, float], ...]] = []
    stop = at
    while stop < len(lines) and len(rows) < _MOST_ROWS:
        end, cells = _cells(lines, stop)
        if len(cells) < 2 or (rows and not _aligned(rows[-1], cells)):
            break
        if stop > at and lines[stop - 1].baseline - lines[stop].baseline > 4 * max(
            lines[stop].size, 1.0
        ):
            break
        rows.append(cells)
        stop = end
    return stop if len(rows) >= 3 or (len(rows) == 2 and len(rows[0]) > 2) else at


def _cells(lines: list[Line], at: int) -> tuple[int, tuple[tuple[float, float], ...]]:
    """The line behind a row, and its cells: parts of one line, or lines beside each other."""
    stop = at + 1
    while stop < len(lines) and same_row(lines[stop - 1], lines[stop]):
        stop += 1
    if stop == at + 1:
        cells = lines[at].cells
        # The number or the mark of an item stands apart from its text.
        return stop, () if len(cells) == 2 and _MARK.match(lines[at].text) else cells
    spans = [span for line in lines[at:stop] for span in (line.cells or ((line.x0, line.x1),))]
    size = max(lines[at].size, 1.0)
    return stop, tuple(
        span
        for number, span in enumerate(spans)
        if number == 0 or span[0] - spans[number - 1][1] > size
    )


def _aligned(
    above: tuple[tuple[float, float], ...], cells: tuple[tuple[float, float], ...]
) -> bool:
    """Whether two rows share a column behind the first: its left, its right or its middle."""
    for low, high in above[1:]:
        for left, right in cells[1:]:
            if min(abs(low - left), abs(high - right), abs(low + high - left - right) / 2) < 4:
                return True
    return False


_NOTE = re.compile(r"\W?\s?(?:\d{1,3}|[a-z*†‡§¶∗])(?:[^\w\s]|\s|(?=[A-Z\"“‘]))")


def _find_footnotes(found: list[Group], body: Body) -> None:
    """Small text at the foot of a column stands beside the text, as captions do."""
    at = len(found)
    while (
        at > 0
        and 0 < found[at - 1].size < _SMALL * body.size
        and found[at - 1].kind in ("text", "item")
    ):
        at -= 1
    if 0 < at < len(found) and _NOTE.match(found[at].lines[0].text):
        height = found[at].lines[0].y1 - found[-1].lines[-1].y0
        whole = found[0].lines[0].y1 - found[-1].lines[-1].y0
        if height <= 0.5 * max(whole, 1.0):
            for group in found[at:]:
                group.kind = "aside"


# Sentences over the end of a column or a page

_ITEM = re.compile(r"(?:[a-z]|[ivx]{1,5})[.)]\s")
_FEWEST_WORDS = 3
"""Of a line that goes on: a shorter one may be anything."""
_MOST_BETWEEN = 12


def _whole_paragraphs(found: list[Group], body: Body) -> list[Group]:
    """Paragraphs whose parts stand in two columns as one, with what stood between the parts behind them."""
    out: list[Group] = []
    pending = list(found)
    at = 0
    while at < len(pending):
        group = pending[at]
        following = at + 1
        while (
            following < len(pending)
            and following - at <= _MOST_BETWEEN
            and _is_beside(pending[following], body)
        ):
            following += 1
        other = pending[following] if following < len(pending) else None
        if other is not None and _goes_on(group, other, body, beyond=following > at + 1):
            last = group.lines[-1]
            if re.search(r"[^\W\d_]-\Z", last.text) and other.lines[0].text[:1].islower():
                # A word cut in two is put together as it is at the end of a line.
                last.text = last.text[:-1] + HYPHEN_MARKS[-1]
            group.lines += other.lines
            group.behind += [*pending[at + 1 : following], *other.behind]
            group.column, group.left, group.right = other.column, other.left, other.right
            pending[following] = group
            at = following
            continue
        out.append(group)
        out += group.behind
        group.behind = []
        at += 1
    return out


def _is_beside(group: Group, body: Body) -> bool:
    return group.kind in ("aside", "table") or (
        group.kind == "text" and 0 < group.size < _SMALL * body.size and len(group.text) < 60
    )


def _goes_on(group: Group, other: Group, body: Body, *, beyond: bool) -> bool:
    """Whether a paragraph ends in the midst of a sentence that another one goes on with."""
    if not beyond and group.column == other.column:
        return False
    if group.kind not in ("text", "item") or other.kind != "text":
        return False
    last, first = group.lines[-1], other.lines[0]
    if (
        abs(last.size - first.size) > 0.06 * max(last.size, first.size)
        or last.all_bold != first.all_bold
    ):
        return False
    end, begin = last.text.rstrip(), first.text.lstrip()
    words = end.split()
    if not begin or _ITEM.match(begin):
        return False
    if len(words) < _FEWEST_WORDS or not any(word[0].islower() for word in words):
        return False  # a heading, or a running foot of few pages
    stops = (
        end[-1].isalpha()
        or end[-1] == ","
        or (end[-1] in "-" + HYPHEN_MARKS and end[-2:-1].isalpha())
    )
    if not stops:
        return False
    if begin[0].islower():
        return True
    # A name or a noun in capitals may begin the next page: both lines are full then.
    width, other_width = group.right - group.left, other.right - other.left
    full = last.x1 >= group.right - 0.06 * width
    filled = first.x1 >= other.right - 0.25 * other_width and len(other.lines) > 1
    return full and filled and begin[0].isalpha() and first.x0 <= other.left + 0.5 * body.size


def page_starts(
    placed: Iterator[tuple[int, int]] | Sequence[tuple[int, int]], pages: int, end: int
) -> tuple[int, ...]:
    """Where each page begins, from the page and the start of every line; one without text where the next does."""
    starts = [end] * pages
    for page, start in placed:
        starts[page] = min(starts[page], start)
    for page in range(pages - 2, -1, -1):
        starts[page] = min(starts[page], starts[page + 1])
    if starts:
        starts[0] = 0
    return tuple(starts)
