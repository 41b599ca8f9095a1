"""Headings of a page that has no heading elements: a short line that is set larger, set in bold, or called a title."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from chunkwise.core import Block

_LONGEST = 120
_BODY = 16.0
"""Size of text of which nothing is said, in pixels."""
_LARGER = 1.1
_DEEPEST = 6
_IN_A_ROW = 3
"""Lines that may follow each other as headings: a title, a subtitle, the first part. More are something else."""
BOLD = frozenset({"b", "strong"})
_WEIGHT = re.compile(
    r"font-weight\s*:\s*(bold|bolder|[6-9]00|normal|lighter|[1-5]00)", re.IGNORECASE
)
_SIZE = re.compile(
    r"font-size\s*:\s*(?:(\d{1,4}(?:\.\d{1,4})?)\s*(px|pt|em|rem|%)|((?:xx?-)?large|medium|(?:xx?-)?small|larger))",
    re.IGNORECASE,
)
_UNITS = {"px": 1.0, "pt": 4 / 3, "em": _BODY, "rem": _BODY, "%": _BODY / 100}
_NAMED_SIZES = {"larger": 19.2, "large": 18.0, "x-large": 24.0, "xx-large": 32.0}
_FONT_SIZES = (10.0, 13.0, _BODY, 18.0, 24.0, 32.0, 48.0)
"""Of `<font size=1>` to 7."""
_CALLED = re.compile(
    r"(?:^|[\s_-])(?:(title|headline)|(?:sub-?)?(?:title|head(?:ing|line)?)[\s_-]?([1-6])?|h([1-6]))(?:$|[\s_-])",
    re.IGNORECASE,
)
_NO_HEADING = tuple(".,;:…。、，；：")


class _Set(NamedTuple):
    """How an element's text is set."""

    depth: int
    bold: bool
    size: float
    level: int | None
    """What its name says of it as a heading: 0 is a title, None nothing."""


class _Look(NamedTuple):
    """How a block looks."""

    bold: bool
    size: float
    level: int | None


_PLAIN = _Look(False, _BODY, None)


class Styles:
    """Watches how text is set, block by block; `headings` is the result."""

    def __init__(self) -> None:
        self._open = [_Set(0, False, _BODY, None)]
        self.depth = 0
        """Of the innermost element that sets its text in its own way, how many were open with it."""
        self._blocks: list[_Look] = []
        self._looks: dict[_Look, _Look] = {}
        self._look = _PLAIN
        self._text = 0
        self._bold = 0
        self._sizes: set[float] = set()
        self._levels: set[int | None] = set()
        self._last: _Set | None = None

    def start(self, depth: int, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins, the so manyth of those that are open."""
        _, bold, size, level = self._open[-1]
        new_bold, new_size, new_level = bold or tag in BOLD, size, level
        if attributes:
            style = attributes.get("style")
            if style and (weight := _WEIGHT.search(style)):
                new_bold = weight[1].lower()[0] in "b6789"
            if style and (found := _SIZE.search(style)):
                new_size = _pixels(found, size)
            if tag == "font" and (given := attributes.get("size")):
                new_size = _font_size(given, size)
            if called := _CALLED.search((attributes.get("class") or "")[:200]):
                digit = called[2] or called[3]
                new_level = int(digit) if digit else 0 if called[1] else 2
        if (new_bold, new_size, new_level) != (bold, size, level):
            self._open.append(_Set(depth, new_bold, new_size, new_level))
            self.depth = depth

    def end(self) -> None:
        """The innermost element that sets its text in its own way ends."""
        self._open.pop()
        self.depth = self._open[-1].depth

    def characters(self, length: int) -> None:
        """So many of a block, white space around them not counted."""
        opened = self._open[-1]
        self._text += length
        if opened.bold:
            self._bold += length
        if opened is not self._last:  # most of a block is set alike
            self._last = opened
            self._sizes.add(opened.size)
            self._levels.add(opened.level)

    def block(self, length: int) -> None:
        """A block was made of the text since the last one, of which these characters were not counted yet."""
        if not self.depth and not self._sizes:  # nothing in it is set in its own way
            self._blocks.append(_PLAIN)
            return
        if length:
            self.characters(length)
        level = next(iter(self._levels)) if len(self._levels) == 1 else None
        size = min(self._sizes) if self._sizes else _BODY  # a large first letter makes no heading
        bold = self._bold == self._text > 0
        if (bold, size, level) != self._look:  # most look as the one before
            look = _Look(bold, size, level)
            self._look = self._looks.setdefault(look, look)
        self._blocks.append(self._look)
        self._text = self._bold = 0
        self._sizes.clear()
        self._levels.clear()
        self._last = None

    def headings(self, blocks: Sequence[Block], kept: Sequence[bool], text: str) -> list[Block]:
        """The blocks, some of them headings now; they stay as they are where one is a heading already."""
        if not self._looks:  # all text is set alike
            return list(blocks)
        order = [number for number, keep in enumerate(kept) if keep]
        if any(blocks[number].kind == "heading" for number in order):
            return list(blocks)
        body = self._body_size(blocks, order)
        found = {n for n in order if self._is_heading(blocks[n], self._blocks[n], text, body)}
        found = _apart(found, order)
        paragraphs = sum(blocks[number].kind == "paragraph" for number in order)
        if not found or len(found) > paragraphs / 2 + 1:
            return list(blocks)
        sizes = sorted({self._blocks[number].size for number in found}, reverse=True)
        made = list(blocks)
        titled = any(self._blocks[number].level == 0 for number in found)
        for number in found:
            look = self._blocks[number]
            rank = 1 + sizes.index(look.size) + titled
            level = rank if look.level is None else max(look.level, 1)
            made[number] = blocks[number]._replace(kind="heading", level=min(level, _DEEPEST))
        return made

    def _body_size(self, blocks: Sequence[Block], order: Sequence[int]) -> float:
        sizes: Counter[float] = Counter()
        for number in order:
            sizes[self._blocks[number].size] += blocks[number].end - blocks[number].start
        return sizes.most_common(1)[0][0] if sizes else _BODY

    @staticmethod
    def _is_heading(block: Block, look: _Look, text: str, body: float) -> bool:
        if block.kind != "paragraph" or block.end - block.start > _LONGEST:
            return False
        if look.level is None and not look.bold and look.size < _LARGER * body:
            return False
        line = text[block.start : block.end].strip()
        return not line.endswith(_NO_HEADING) and any(map(str.isalpha, line))


def _apart(found: set[int], order: Sequence[int]) -> set[int]:
    """Those with text below them, and not among many in a row."""
    kept: set[int] = set()
    run: list[int] = []
    for number in order:
        if number in found:
            run.append(number)
        else:
            if len(run) <= _IN_A_ROW:
                kept.update(run)
            run = []
    return kept


def _pixels(found: re.Match[str], around: float) -> float:
    if found[3]:
        return _NAMED_SIZES.get(found[3].lower(), _BODY)
    unit = found[2].lower()
    of = around / _BODY if unit in ("em", "%") else 1.0
    # Of em in em in em there is no end.
    return min(float(found[1]) * _UNITS[unit] * of, 1000.0)


def _font_size(given: str, around: float) -> float:
    given = given.strip()
    number = given.lstrip("+-")
    if len(number) != 1 or number not in "01234567":
        return around
    step = int(number)
    if given[0] in "+-":
        step = 3 + (step if given[0] == "+" else -step)
    return _FONT_SIZES[min(max(step, 1), 7) - 1]
