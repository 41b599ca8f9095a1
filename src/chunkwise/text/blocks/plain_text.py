"""The blocks of plain text: paragraphs between blank lines, enumerations, and headings, which no mark tells."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.blocks import lines as kinds
from chunkwise.text.blocks.blocks import CODE_OF, Blocks
from chunkwise.text.blocks.lines import Lines
from chunkwise.text.blocks.plain_text_headings import (
    LETTERED,
    NUMBER,
    OTHER_CAPITALS,
    ROMAN,
    division,
    in_capitals,
    nest_titles,
    runs_in,
    shouts,
)
from chunkwise.text.characters import LOWER, UPPER, one_of
from chunkwise.text.language import MONTH_NUMBERS


class HeadingCandidate(NamedTuple):
    """What a line would be as a heading."""

    line: int
    level: int
    depth: int
    """Parts of the heading's number; 0 for one without."""
    number: tuple[int, ...]
    alone: bool
    named: bool = False


def drop_false_headings(lines: Lines, found: list[HeadingCandidate]) -> list[HeadingCandidate]:
    """The others; numbered lines that follow each other with nothing between them are a list."""
    single = [heading for heading in found if heading.depth == 1]
    numbers = {heading.number[0] for heading in single}
    numbers_below = {heading.number[0] for heading in found if heading.depth > 1}
    dropped: set[int] = set()
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
            number = heading.number[0]
            if not numbers & {number - 1, number + 1} and number not in numbers_below:
                dropped.add(line)
        if line + 1 in dropped:
            dropped.add(line)
    for heading in numbered:  # what only a dropped line opened
        if not heading.alone and heading.line - 1 in dropped:
            dropped.add(heading.line)
    return [heading for heading in found if heading.line not in dropped]


GOES_ON = -1
"""Level of the line under a title."""
_LONGEST = 100
_LONGEST_TIGHT = 80
_SHORT_SHARE = 0.7
"""A heading among lines no blank one parts stops well short of where full lines end."""
_NARROWEST, _NARROWEST_BEHIND_BLANK = 24, 40
_DEEPEST = 9
_ENDS_SENTENCE = frozenset('.!?…。！？"”’»)')
_ENDS_TEXT = frozenset(".,;:")
_ENDS_NO_TITLE = frozenset(".,;:!?-–—。，、；：！？।؟،؛")


def heading_levels(lines: Lines, *, dense: bool) -> NDArray[np.int64]:
    """Heading level of each line, 0 for none."""
    levels = np.zeros(len(lines), dtype=np.int64)
    blank = lines.blank
    blank_before, blank_after = np.ones_like(blank), np.ones_like(blank)
    blank_before[1:], blank_after[:-1] = blank[:-1], blank[1:]
    size = lines.end - lines.first
    alone = blank_before & blank_after
    tight = (lines.head >= ord("0")) & (lines.head <= ord("9"))
    if dense:
        tight |= lines.head_is(UPPER) | (lines.head == ord("§")) | (lines.head == ord("第"))
    else:
        tight |= blank_before & ~blank_after & ~blank
    if tight.any():
        tight &= size < _short(size[~blank], _NARROWEST if dense else _NARROWEST_BEHIND_BLANK)
    above = tight[:-1].nonzero()[0]
    tight[above] = ~lines.characters.have(lines.first[above + 1], LOWER)  # else a paragraph goes on
    candidates = (~blank & (size <= _LONGEST) & (alone | tight)).nonzero()[0]
    if not len(candidates):
        return levels
    heading_candidates: list[HeadingCandidate] = []
    columns = (candidates, lines.start[candidates], lines.end[candidates], alone[candidates])
    for line, start, end, parted in zip(*(column.tolist() for column in columns), strict=True):
        text = lines.characters.text[start:end].strip()
        heading = _heading(text, line, parted)
        if heading is None:
            continue
        if heading.named and not (heading.alone or dense):
            continue
        if not (heading.alone or _may_be_tight(heading, text, dense=dense)):
            continue
        if not (heading.alone or blank_before[line]):
            after_heading = heading_candidates and heading_candidates[-1].line == line - 1
            opens = dense and lines.text(line - 1).rstrip()[-1] in _ENDS_SENTENCE
            if not (after_heading or opens):
                continue
        heading_candidates.append(heading)
    for heading in drop_false_headings(lines, heading_candidates):
        levels[heading.line] = heading.level
    nest_titles(lines, levels)
    return levels


def _short(sizes: NDArray[np.int64], at_least: int) -> float:
    rank = int(0.9 * (len(sizes) - 1))
    full = float(np.partition(sizes, rank)[rank])
    return min(max(_SHORT_SHARE * full, at_least), _LONGEST_TIGHT + 1)


def _heading(text: str, line: int, alone: bool) -> HeadingCandidate | None:
    """What a line would be as a heading, by its words alone."""
    first = text[0]
    if first.isdigit():
        number = NUMBER.fullmatch(text)
        if number is None:
            return HeadingCandidate(line, 2, 0, (), alone) if shouts(text) else None
        if not _is_title(number["title"]) or _is_month_and_year(number["title"]):
            return None
        parts = tuple(map(int, number["number"].split(".")))
        return HeadingCandidate(line, min(2 + len(parts), _DEEPEST), len(parts), parts, alone)
    named = division(text)
    if named:
        level = 1 if named["top"] else 2 if named["chapter"] else 3
        title = text[-1] not in ",;" and not runs_in(text)
        return HeadingCandidate(line, level, 0, (), alone, named=True) if title else None
    lettered = LETTERED.fullmatch(text) if alone and text[1:2] == "." else None
    if lettered and _is_title(lettered["title"]) and ". " not in lettered["title"]:
        letter, *parts_below = lettered["number"].split(".")
        # No number of this kind is in order with those that start with a digit.
        parts = (-ord(letter), *map(int, parts_below))
        return HeadingCandidate(line, min(2 + len(parts), _DEEPEST), len(parts), parts, alone)
    roman = ROMAN.fullmatch(text) if first in "IVXLC" else None
    if roman and text[-1] not in _ENDS_TEXT and not roman["title"][0].islower():
        return HeadingCandidate(line, 2, 0, (), alone)
    loud = shouts(text) and not OTHER_CAPITALS.match(text)
    return HeadingCandidate(line, 2, 0, (), alone) if loud else None


def _is_month_and_year(title: str) -> bool:
    words = title.replace(",", " ").split()
    return words[0].lower().rstrip(".") in MONTH_NUMBERS and words[-1].isdigit()


def _is_title(words: str) -> bool:
    if words[0].islower() or not any(map(str.isalpha, words)):
        return False
    return words[-1] not in _ENDS_NO_TITLE or in_capitals(words)


def _may_be_tight(heading: HeadingCandidate, text: str, *, dense: bool) -> bool:
    """Whether a line may be a heading without blank lines around it."""
    if heading.depth:
        # ". " inside: the first line of a clause, not its title.
        return ". " not in text.split(None, 1)[-1] and text[-1] not in _ENDS_TEXT
    if not dense:
        return False
    named = division(text)
    if text[-1] in _ENDS_TEXT and not (named and in_capitals(text)):
        return False
    return named is not None or in_capitals(text)


_LONG_LINE = 200
"""Longer than any heading."""
_STARTS_LIKE_PROSE = re.compile(r"[^\W\d_]{2}")
_LINE_BREAK = re.compile("[\n\r\v\f\x85\u2028\u2029]")
_SOLID = re.compile(r"\S")
_ITEM = re.compile(r"[ivx]{2,5}[.)]", re.IGNORECASE)


def is_one_paragraph(text: str) -> bool:
    """Whether a text is one line that can be no heading and no item; where it is not plain to see, False."""
    if _STARTS_LIKE_PROSE.match(text) is None or _ITEM.match(text):
        return False
    if len(text) <= _LONG_LINE:
        line = text.rstrip()
        if shouts(line) or ROMAN.match(line) or division(line):
            return False
    broken = _LINE_BREAK.search(text)
    return broken is None or _SOLID.search(text, broken.end()) is None


_UNDERLINES = "=-~*^+#.:_'\"`"
_SHORTER, _LONGER = 2, 8
"""Characters by which an underline may be shorter, or longer, than its title."""
_BULLETS = "-*+•‣◦▪–—●"
_LOG_SHARE = 0.8

_ENUMERATION = re.compile(r"\(?(?:[a-zA-Z]|[ivx]{1,5}|\d{1,3})[.)]\s")


def plain_blocks(lines: Lines, *, dense: bool = False) -> Blocks:
    """Blocks of plain text; `dense` for text whose paragraphs no blank line parts, as from a PDF."""
    if not len(lines):
        return Blocks()
    kind = _classify(lines)
    levels = heading_levels(lines, dense=dense)
    if not dense:
        _mark_underlined(lines, kind, levels)
    kind[levels > 0] = kinds.HEADING
    kind[levels == GOES_ON] = kinds.TITLE
    return _read(lines, kind, levels)


def _mark_underlined(lines: Lines, kind: NDArray[np.int8], levels: NDArray[np.int64]) -> None:
    """Titles above a line of one sign about as long as they are; the sign met first is that of the highest level."""
    third = lines.at(2)
    likely = one_of(lines.head, _UNDERLINES) & (lines.head == lines.second) & (lines.head == third)
    order: dict[str, int] = {}
    for line in likely.nonzero()[0].tolist():
        sign = lines.text(line).strip()
        title = lines.text(line - 1).rstrip() if line else ""
        if sign.strip(sign[0]) or likely[line - 1] or not any(map(str.isalnum, title)):
            continue
        over = line > 1 and lines.text(line - 2).strip().startswith(sign[0] * 3)
        stands_alone = line == 1 or bool(lines.blank[line - 2]) or over
        if not stands_alone or not len(title) - _SHORTER <= len(sign) <= len(title) + _LONGER:
            continue
        levels[line - 1] = order.setdefault(sign[0], len(order) + 1)
        levels[line] = GOES_ON
        if over:
            kind[line - 2] = kinds.BLANK


def _classify(lines: Lines) -> NDArray[np.int8]:
    kind = np.full(len(lines), kinds.TEXT, dtype=np.int8)
    kind[kinds.bullets(lines, _BULLETS) | kinds.numbered(lines, 3)] = kinds.ITEM
    second = lines.second
    roman = one_of(lines.head, "ivx") & one_of(second, "ivx")
    bracket = ((lines.head == ord("(")) | one_of(second, ".)") | roman).nonzero()[0]
    text, first, end = lines.characters.text, lines.first, lines.end
    for line in bracket.tolist():
        # "A. Smith" is a name as often as an item: letters count in brackets or before one.
        match = _ENUMERATION.match(text, int(first[line]), int(end[line]))
        if match and (")" in match.group() or match.group()[0].islower()):
            kind[line] = kinds.ITEM
    kind[lines.blank] = kinds.BLANK
    return kind


def _read(lines: Lines, kind: NDArray[np.int8], levels: NDArray[np.int64]) -> Blocks:
    heading, item = (kind == kinds.HEADING).nonzero()[0], (kind == kinds.ITEM).nonzero()[0]
    text = np.concatenate(([0], (kind == kinds.TEXT).view(np.int8), [0]))
    edges = np.diff(text).nonzero()[0]
    first, last = edges[::2], edges[1::2] - 1
    # Text right below an item goes on with it; all other runs of text are paragraphs.
    ends = lines.end.copy()
    title = (kind == kinds.TITLE).nonzero()[0]
    ends[title - 1] = lines.end[title]
    joined = np.append(False, kind == kinds.ITEM)[first]
    ends[first[joined] - 1] = lines.end[last[joined]]
    first, last = first[~joined], last[~joined]
    log = _like_a_log(lines, first, last)
    record = _numbers_in(first[log], last[log])
    first, last = first[~log], last[~log]
    line = np.concatenate((heading, item, first, record))
    order = np.argsort(line, kind="stable")
    sizes = (len(heading), len(item), len(first) + len(record))
    codes = np.repeat([CODE_OF["heading"], CODE_OF["item"], CODE_OF["paragraph"]], sizes)[order]
    nesting = np.concatenate(
        (levels[heading], lines.indent[item] // 2, np.zeros(sizes[2], np.int64))
    )
    stop = np.concatenate((ends[heading], ends[item], lines.end[last], lines.end[record]))
    is_item = codes == CODE_OF["item"]
    opens = is_item & ~np.append(False, is_item[:-1])
    group = np.where(is_item, np.cumsum(opens), 0)
    return Blocks(codes, lines.outset[line][order], stop[order], nesting[order], group)


def _numbers_in(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every number of the ranges `[first, last]`."""
    if not len(first):
        return first
    sizes = last - first + 1
    starts = np.repeat(first - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    return starts + np.arange(sizes.sum())


def _like_a_log(
    lines: Lines, first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether the lines of a run open like entries of a log, with a digit or a bracket: a block a line."""
    sizes = last - first + 1
    long = sizes >= 3
    if not long.any():
        return long
    record = (lines.head >= ord("0")) & (lines.head <= ord("9"))
    for bracket in "[<{":
        record |= lines.head == ord(bracket)
    before = np.concatenate(([0], np.cumsum(record)))
    return long & (before[last + 1] - before[first] >= _LOG_SHARE * sizes)
