"""The blocks of a Markdown text: lines are classified by array arithmetic, then read once in order."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import BLOCK_KINDS
from chunkwise.text.blocks import lines as kinds
from chunkwise.text.blocks.blocks import CODE_OF, Blocks
from chunkwise.text.blocks.lines import Lines

_FRONT_MATTER_LINES = 200
_BULLETS = "-*+"
_LATER_NUMBER = re.compile(r"(?!0*1[.)])\d")
"""Opens no list in the middle of a paragraph: a year, a page, the end of a sum."""


def markdown_blocks(lines: Lines) -> Blocks:
    """Headings, paragraphs, items, tables and code of a Markdown text, in order."""
    if not len(lines):
        return Blocks()
    levels = np.maximum(kinds.atx_levels(lines), kinds.html_levels(lines))
    fenced, comments = kinds.verbatim(lines)
    kind = _classify(lines, levels, fenced, comments)
    return _Reader(lines, kind, levels, dict(fenced)).read()


def _classify(
    lines: Lines,
    levels: NDArray[np.int64],
    fenced: list[tuple[int, int]],
    comments: list[tuple[int, int]],
) -> NDArray[np.int8]:
    kind = np.full(len(lines), kinds.TEXT, dtype=np.int8)
    rule = kinds.rules(lines)
    kind[kinds.bullets(lines, _BULLETS) | kinds.numbered(lines)] = kinds.ITEM
    kind[(lines.indent >= 4) & (kind == kinds.TEXT)] = kinds.INDENTED
    kind[rule] = kinds.RULE
    underline = kinds.underlines(lines) > 0
    if underline.any():
        # An underline needs a line of text above it; "- - -" and a lone "---" are rules.
        above = (kind[:-1] == kinds.TEXT) & ~lines.blank[:-1] & (lines.head[:-1] != ord(">"))
        underline[0], underline[1:] = False, underline[1:] & above
        kind[underline] = kinds.UNDERLINE
    kind[levels > 0] = kinds.HEADING
    for first, last in comments:
        # Text behind its end, in the same line, is text.
        alone = lines.text(last).rstrip().endswith("-->")
        kind[first : last + 1] = kinds.COMMENT if alone else kinds.TEXT
    kind[lines.blank] = kinds.BLANK
    _mark_tables(lines, kind)
    for first, last in fenced:
        kind[first : last + 1] = kinds.FENCED
    _mark_front_matter(lines, kind)
    return kind


def _mark_tables(lines: Lines, kind: NDArray[np.int8]) -> None:
    delimiters = kinds.delimiter_rows(lines)
    if not len(delimiters):
        return
    row = (lines.holds("|") > 0) & np.isin(kind, (kinds.TEXT, kinds.INDENTED, kinds.ITEM))
    quoted = lines.head == ord(">")
    # A table ends where its quote does, and where one begins.
    after_table = (~row | np.append(False, quoted[1:] != quoted[:-1])).nonzero()[0]
    after_table = np.append(after_table, len(lines))
    for line in delimiters.tolist():
        apart = line == 0 or not row[line - 1] or quoted[line - 1] != quoted[line]
        if apart or kind[line] == kinds.ROW:
            continue
        end = int(after_table[after_table.searchsorted(line + 1)])
        kind[line - 1] = kinds.HEADER
        kind[line] = kinds.DELIMITER
        kind[line + 1 : end] = kinds.ROW


def _mark_front_matter(lines: Lines, kind: NDArray[np.int8]) -> None:
    if lines.text(0).lstrip("\ufeff").rstrip() != "---":
        return
    for line in range(1, min(len(lines), _FRONT_MATTER_LINES)):
        if lines.text(line).rstrip() in ("---", "..."):
            kind[: line + 1] = kinds.FENCED
            return


_HEADING, _PARAGRAPH, _ITEM, _HEADER, _ROW, _CODE = (CODE_OF[kind] for kind in BLOCK_KINDS)
_NOTHING = -1


class _Reader:
    """Reads runs of like lines; at most one paragraph or item is open at a time."""

    def __init__(
        self,
        lines: Lines,
        kind: NDArray[np.int8],
        levels: NDArray[np.int64],
        fences: dict[int, int],
    ) -> None:
        self.lines, self.kind, self.levels, self.fences = lines, kind, levels, fences
        self.first, self.end = lines.outset.tolist(), lines.end.tolist()
        self.indent = lines.indent.tolist()
        # Columns rather than objects: a text may have a million blocks.
        self.kinds: list[int] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.depths: list[int] = []
        self.groups: list[int] = []
        self.group = 0
        self.in_list = False
        self.after_blank = True

    def read(self) -> Blocks:
        starts = np.concatenate(([0], np.diff(self.kind).nonzero()[0] + 1))
        ends = np.append(starts[1:], len(self.kind))
        run = self.kind[starts]
        apart = np.ones(len(run), dtype=np.bool_)
        apart[1:] = np.isin(run[:-1], (kinds.BLANK, kinds.RULE, kinds.COMMENT))
        solid = run != kinds.BLANK
        handlers = {
            kinds.TEXT: self._text, kinds.INDENTED: self._indented, kinds.HEADING: self._headings,
            kinds.ITEM: self._items, kinds.HEADER: self._header, kinds.ROW: self._rows,
            kinds.FENCED: self._fenced, kinds.UNDERLINE: self._underline,
            kinds.RULE: self._rule, kinds.DELIMITER: self._delimiter, kinds.COMMENT: self._comment,
        }  # fmt: skip
        columns = (run[solid], starts[solid], ends[solid], apart[solid])
        for kind, lo, hi, self.after_blank in zip(*(c.tolist() for c in columns), strict=True):
            handlers[kind](lo, hi)
        return Blocks(self.kinds, self.starts, self.ends, self.depths, self.groups)

    def _rule(self, lo: int, hi: int) -> None:
        self.in_list = False

    def _comment(self, lo: int, hi: int) -> None:
        """A paragraph of its own, unless it stands in an item: the text behind it begins anew."""
        if not self.in_list:
            self._add(_PARAGRAPH, self.first[lo], self.end[hi - 1])
        else:
            self._text(lo, hi)

    def _delimiter(self, lo: int, hi: int) -> None:
        """Taken in with the header above it."""

    def _add(self, kind: int, start: int, end: int, level: int = 0, group: int = 0) -> None:
        self.kinds.append(kind)
        self.starts.append(start)
        self.ends.append(end)
        self.depths.append(level)
        self.groups.append(group)

    @property
    def last(self) -> int:
        return self.kinds[-1] if self.kinds else _NOTHING

    def _text(self, lo: int, hi: int) -> None:
        # Inside a list an indented paragraph still belongs to the item, without a blank line any does.
        deep = self.indent[lo] >= 2
        belongs = self.in_list and self.last == _ITEM and (not self.after_blank or deep)
        if belongs or (self.last == _PARAGRAPH and not self.after_blank):
            self.ends[-1] = self.end[hi - 1]
            return
        self.in_list = self.in_list and deep
        self._add(_PARAGRAPH, self.first[lo], self.end[hi - 1])

    def _indented(self, lo: int, hi: int) -> None:
        if self.last == _PARAGRAPH and not self.after_blank:
            self.ends[-1] = self.end[hi - 1]
        elif self.in_list:
            self._text(lo, hi)
        elif self.last == _CODE and self.depths[-1] == 1:
            self.ends[-1] = self.end[hi - 1]
        else:
            self._add(_CODE, int(self.lines.start[lo]), self.end[hi - 1], level=1)

    def _headings(self, lo: int, hi: int) -> None:
        self.in_list = False
        for line in range(lo, hi):
            self._add(_HEADING, self.first[line], self.end[line], int(self.levels[line]))

    def _underline(self, lo: int, hi: int) -> None:
        if self.last != _PARAGRAPH or self.after_blank:
            self.in_list = False
            return
        self.kinds[-1] = _HEADING
        self.ends[-1] = self.end[hi - 1]
        self.depths[-1] = 1 if self.lines.head[lo] == ord("=") else 2

    def _items(self, lo: int, hi: int) -> None:
        if not self.in_list:
            lo = self._no_items(lo, hi)
            if lo == hi:
                return
            self.group += 1
            self.in_list = True
        self.kinds += [_ITEM] * (hi - lo)
        self.starts += self.first[lo:hi]
        self.ends += self.end[lo:hi]
        self.depths += [indent // 2 for indent in self.indent[lo:hi]]
        self.groups += [self.group] * (hi - lo)

    def _no_items(self, lo: int, hi: int) -> int:
        """Takes lines that only look like items as text or code; returns the first that is one."""
        prose = self.last == _PARAGRAPH and not self.after_blank
        text, first = self.lines.characters.text, lo
        while lo < hi and (
            self.indent[lo] >= kinds.CODE_INDENT
            or (prose and _LATER_NUMBER.match(text, self.first[lo]))
        ):
            lo += 1
        if lo > first:
            (self._indented if self.indent[first] >= kinds.CODE_INDENT else self._text)(first, lo)
        return lo

    def _header(self, lo: int, hi: int) -> None:
        self.in_list = False
        self.group += 1
        # The delimiter row below it belongs to the header.
        self._add(_HEADER, self.first[lo], self.end[hi], 0, self.group)

    def _rows(self, lo: int, hi: int) -> None:
        self.kinds += [_ROW] * (hi - lo)
        self.starts += self.first[lo:hi]
        self.ends += self.end[lo:hi]
        self.depths += [0] * (hi - lo)
        self.groups += [self.group] * (hi - lo)

    def _fenced(self, lo: int, hi: int) -> None:
        while lo < hi:  # two fences may touch without a line between them
            last = self.fences.get(lo, hi - 1)
            self._add(_CODE, self.first[lo], self.end[last])
            lo = last + 1
