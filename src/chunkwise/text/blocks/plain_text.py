"""The blocks of plain text: paragraphs between blank lines, enumerations, and headings that stand alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.blocks import lines as kinds
from chunkwise.text.blocks.blocks import CODE_OF, Blocks
from chunkwise.text.blocks.heading_words import ROMAN, division, shouts
from chunkwise.text.blocks.lines import Lines
from chunkwise.text.blocks.named_headings import GOES_ON
from chunkwise.text.blocks.plain_headings import heading_levels
from chunkwise.text.characters import one_of

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


def plain_blocks(lines: Lines, *, dense: bool = False, pages: Sequence[int] = ()) -> Blocks:
    """Blocks of plain text; `dense` for text whose paragraphs no blank line parts, as from a PDF."""
    if not len(lines):
        return Blocks()
    kind = _classify(lines)
    levels = heading_levels(lines, dense=dense, pages=pages)
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
    for line in np.flatnonzero(likely).tolist():
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
    bracket = np.flatnonzero((lines.head == ord("(")) | one_of(second, ".)") | roman)
    text, first, end = lines.characters.text, lines.first, lines.end
    for line in bracket.tolist():
        # "A. Smith" is a name as often as an item: letters count in brackets or before one.
        match = _ENUMERATION.match(text, int(first[line]), int(end[line]))
        if match and (")" in match.group() or match.group()[0].islower()):
            kind[line] = kinds.ITEM
    kind[lines.blank] = kinds.BLANK
    return kind


def _read(lines: Lines, kind: NDArray[np.int8], levels: NDArray[np.int64]) -> Blocks:
    heading, item = np.flatnonzero(kind == kinds.HEADING), np.flatnonzero(kind == kinds.ITEM)
    text = np.concatenate(([0], (kind == kinds.TEXT).view(np.int8), [0]))
    edges = np.flatnonzero(np.diff(text))
    first, last = edges[::2], edges[1::2] - 1
    # Text right below an item goes on with it; all other runs of text are paragraphs.
    ends = lines.end.copy()
    title = np.flatnonzero(kind == kinds.TITLE)
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
