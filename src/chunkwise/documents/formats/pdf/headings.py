"""Headings of a PDF by how they are set: larger or bolder than the body, alone, and above a text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from chunkwise.documents.formats.pdf.layout import Body, Group, is_caption
from chunkwise.documents.formats.pdf.lines import Line

_LARGER = 1.07
"""Times the body's size."""
_NO_SMALLER = 0.95
_HEAVIER = 1.35
_LINES, _CHARACTERS = 4, 200
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


def styled_headings(groups: Sequence[Group], body: Body) -> list[StyledHeading]:
    """In order, with their levels."""
    found: list[tuple[int, int, _Style, str]] = []
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
                    min(style, below, key=lambda each: (-each.size, each.light)),
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
        found.append((at, last, style, text))
        at = last + 1
    found = _above_text(groups, found, body)
    levels = _levels([(style, _depth(text)) for _, _, style, text in found])
    return [
        StyledHeading(first, last, level)
        for (first, last, _, _), level in zip(found, levels, strict=True)
    ]


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
    dense = [each for each in text if not each.isspace()]
    if sum(each in _MATH for each in dense) > _MATH_SHARE * len(dense):
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


def _levels(headings: Sequence[tuple[_Style, int]]) -> list[int]:
    """By size and weight; by the depth of their numbers where most headings of a style have one."""
    depths: defaultdict[_Style, Counter[int]] = defaultdict(Counter)
    for style, depth in headings:
        depths[style][depth] += 1
    level_of: dict[_Style, int] = {}
    offset: int | None = None
    deepest = 0
    for style in sorted(depths, key=lambda each: (-each.size, each.light)):
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
    found = []
    for style, depth in headings:
        by_number = depth and offset is not None and 2 * depths[style][0] <= depths[style].total()
        level = (offset or 0) + depth if by_number else level_of[style]
        found.append(min(max(level, 1), _DEEPEST))
    return found
