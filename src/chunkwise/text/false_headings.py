"""Lines that look like numbered headings and are none: items of lists, days of months, amounts."""

from __future__ import annotations

import sys
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from chunkwise.text.heading_words import BRACKETED, NUMBER
from chunkwise.text.lines import Lines

_PARAGRAPH_AT_MOST = 100
"""Lines of a paragraph among which another number is looked for."""


class Found(NamedTuple):
    """What a line would be as a heading."""

    line: int
    level: int
    depth: int
    """Parts of the heading's number; 0 for one without."""
    number: tuple[int, ...]
    alone: bool
    named: bool = False
    bracketed: bool = False
    titled: bool = False
    """The next line is its title."""
    day: bool = False
    """It may be a day of a month: "4. Mars" stands behind "3. Earth", or it is one."""
    amount: bool = False
    """It may say how many, since nothing marks its number: "3 Eier", "1 Prise Salz"."""


def without_false(lines: Lines, found: list[Found], *, dense: bool) -> list[Found]:
    """The others; numbered lines that follow each other with nothing between them are a list."""
    single = [heading for heading in found if heading.depth == 1]
    numbers = {heading.number[0] for heading in single}
    numbers_below = {heading.number[0] for heading in found if heading.depth > 1}
    dropped = _among_items(lines, found)
    for heading in single:
        if heading.day and not _in_order(heading.number[0], numbers, numbers_below):
            dropped.add(heading.line)
    dropped |= _amounts(single, numbers_below)
    numbered = [heading for heading in found if heading.depth]
    for one, other in pairwise(numbered):
        touching = other.line == one.line + 1
        if other.depth > one.depth or not (touching or one.depth == other.depth == 1):
            continue
        if touching or lines.blank[one.line + 1 : other.line].all():
            dropped |= {one.line, other.line}
    for heading in reversed(numbered):
        if heading.alone or heading.line in dropped:
            continue
        line = heading.line
        if heading.depth == 1:
            in_order = _in_order(heading.number[0], numbers, numbers_below)
            if not in_order or (not dense and _numbered_again(lines, line)):
                dropped.add(line)
        if line + 1 < len(lines) and (line + 1 in dropped or _same_list(lines, line, heading)):
            dropped.add(line)
    for heading in numbered:  # what only a dropped line opened
        if not heading.alone and heading.line - 1 in dropped:
            dropped.add(heading.line)
    return [heading for heading in found if heading.line not in dropped]


def _amounts(single: list[Found], numbers_below: set[int]) -> set[int]:
    """Lines whose bare numbers neither rise as those of headings do nor have a neighbour: "3 Eier", "1 Prise Salz"."""
    bare = [heading for heading in single if heading.amount]
    found = [heading.number[0] for heading in bare]
    numbers = set(found)
    most_before = [-1, *accumulate(found, max)]
    least_behind = [*reversed([*accumulate(reversed(found), min)]), sys.maxsize]
    return {
        heading.line
        for at, heading in enumerate(bare)
        if not most_before[at] < found[at] < least_behind[at + 1]
        and not _in_order(found[at], numbers, numbers_below)
    }


def _in_order(number: int, numbers: set[int], numbers_below: set[int]) -> bool:
    """Whether a number has a neighbour, or parts of its own."""
    return bool(numbers & {number - 1, number + 1}) or number in numbers_below


def _among_items(lines: Lines, found: list[Found]) -> set[int]:
    """Lines such as "(1) Scope" that what stands around them makes items of a list."""
    bracketed = [heading.line for heading in found if heading.bracketed]
    if not bracketed:
        return set()
    items: set[int] = set()
    solid = np.flatnonzero(~lines.blank)
    for line, at in zip(bracketed, solid.searchsorted(bracketed).tolist(), strict=True):
        before = lines.text(int(solid[at - 1])).strip() if at else ""
        after = lines.text(int(solid[at + 1])).strip() if at + 1 < len(solid) else ""
        own = after and after[0] not in "([" and not after[0].islower()
        if not own or before.endswith(":") or BRACKETED.match(before):
            items.add(line)
    return items


def _same_list(lines: Lines, line: int, heading: Found) -> bool:
    """Whether the next line is numbered no deeper than this one."""
    following = NUMBER.match(lines.text(line + 1).strip())
    return following is not None and following["number"].count(".") < heading.depth


def _numbered_again(lines: Lines, line: int) -> bool:
    """Whether a later line of the same paragraph opens with a number of one part."""
    text = lines.characters.text
    for later in range(line + 1, min(line + _PARAGRAPH_AT_MOST, len(lines))):
        if lines.blank[later]:
            return False
        number = NUMBER.match(text, int(lines.first[later]), int(lines.end[later]))
        if number and "." not in number["number"]:
            return True
    return False
