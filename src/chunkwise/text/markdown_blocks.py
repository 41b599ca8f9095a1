"""The blocks of a Markdown text: lines are classified by array arithmetic, then read once in order."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Block
from chunkwise.text import line_kinds as kinds
from chunkwise.text.lines import Lines

_FRONT_MATTER_LINES = 200
_BULLETS = "-*+"


def markdown_blocks(lines: Lines) -> list[Block]:
    """Headings, paragraphs, items, tables and code of a Markdown text, in order."""
    if not len(lines):
        return []
    levels = kinds.atx_levels(lines)
    fences = dict(kinds.fenced(lines))
    kind = _classify(lines, levels, fences)
    return _Reader(lines, kind, levels, fences).read()


def _classify(lines: Lines, levels: NDArray[np.int64], fences: dict[int, int]) -> NDArray[np.int8]:
    kind = np.full(len(lines), kinds.TEXT, dtype=np.int8)
    rule = kinds.rules(lines)
    kind[kinds.bullets(lines, _BULLETS) | kinds.numbered(lines)] = kinds.ITEM
    kind[(lines.indent >= 4) & (kind == kinds.TEXT)] = kinds.INDENTED
    kind[rule] = kinds.RULE
    underline = kinds.underlines(lines)
    # An underline needs a line of text above it; "- - -" and a lone "---" are rules.
    above = np.append(
        False, (kind[:-1] == kinds.TEXT) & ~lines.blank[:-1] & (lines.head[:-1] != ord(">"))
    )
    kind[(underline > 0) & above] = kinds.UNDERLINE
    kind[levels > 0] = kinds.HEADING
    kind[lines.blank] = kinds.BLANK
    _mark_tables(lines, kind)
    for first, last in fences.items():
        kind[first : last + 1] = kinds.FENCED
    _mark_front_matter(lines, kind)
    return kind


def _mark_tables(lines: Lines, kind: NDArray[np.int8]) -> None:
    delimiters = kinds.delimiter_rows(lines)
    if not len(delimiters):
        return
    row = (lines.holds("|") > 0) & np.isin(kind, (kinds.TEXT, kinds.INDENTED, kinds.ITEM))
    after_table = np.append(np.flatnonzero(~row), len(lines))
    for line in delimiters.tolist():
        if line == 0 or not row[line - 1] or kind[line - 1] == kinds.ROW:
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
        self.first, self.end = lines.first.tolist(), lines.end.tolist()
        self.indent = lines.indent
        self.blocks: list[Block] = []
        self.group = 0
        self.in_list = False
        self.after_blank = True

    def read(self) -> list[Block]:
        change = np.flatnonzero(np.diff(self.kind)) + 1
        bounds = [0, *change.tolist(), len(self.kind)]
        handlers = {
            kinds.TEXT: self._text, kinds.INDENTED: self._indented, kinds.HEADING: self._headings,
            kinds.ITEM: self._items, kinds.HEADER: self._header, kinds.ROW: self._rows,
            kinds.FENCED: self._fenced, kinds.UNDERLINE: self._underline,
        }  # fmt: skip
        for lo, hi in itertools.pairwise(bounds):
            handler = handlers.get(int(self.kind[lo]))
            if handler is not None:
                handler(lo, hi)
            elif self.kind[lo] == kinds.RULE:
                self.in_list = False
            self.after_blank = self.kind[lo] in (kinds.BLANK, kinds.RULE)
        return self.blocks

    def _extend(self, hi: int) -> None:
        self.blocks[-1] = self.blocks[-1]._replace(end=self.end[hi - 1])

    def _text(self, lo: int, hi: int) -> None:
        last = self.blocks[-1].kind if self.blocks else ""
        # Inside a list an indented paragraph still belongs to the item, without a blank line any does.
        belongs = self.in_list and last == "item" and (not self.after_blank or self.indent[lo] >= 2)
        if belongs or (last == "paragraph" and not self.after_blank):
            self._extend(hi)
            return
        if not (self.in_list and self.indent[lo] >= 2):
            self.in_list = False
        self.blocks.append(Block("paragraph", self.first[lo], self.end[hi - 1]))

    def _indented(self, lo: int, hi: int) -> None:
        last = self.blocks[-1].kind if self.blocks else ""
        if last == "paragraph" and not self.after_blank:
            self._extend(hi)
        elif self.in_list:
            self._text(lo, hi)
        elif last == "code" and self.after_blank and self.blocks[-1].level == 1:
            self._extend(hi)
        else:
            start = int(self.lines.start[lo])
            self.blocks.append(Block("code", start, self.end[hi - 1], level=1))

    def _headings(self, lo: int, hi: int) -> None:
        self.in_list = False
        for line in range(lo, hi):
            level = int(self.levels[line])
            self.blocks.append(Block("heading", self.first[line], self.end[line], level))

    def _underline(self, lo: int, hi: int) -> None:
        line = hi - 1
        if not self.blocks or self.blocks[-1].kind != "paragraph" or self.after_blank:
            self.in_list = False
            return
        level = 1 if self.lines.head[lo] == ord("=") else 2
        start = self.blocks[-1].start
        self.blocks[-1] = Block("heading", start, self.end[line], level)

    def _items(self, lo: int, hi: int) -> None:
        if not self.in_list:
            self.group += 1
            self.in_list = True
        ends = self.end[lo:hi]
        nesting = (self.indent[lo:hi] // 2).tolist()
        for start, end, level in zip(self.first[lo:hi], ends, nesting, strict=True):
            self.blocks.append(Block("item", start, end, level, self.group))

    def _header(self, lo: int, hi: int) -> None:
        self.in_list = False
        self.group += 1
        end = hi + 1  # the delimiter row belongs to the header
        self.blocks.append(Block("header", self.first[lo], self.end[end - 1], 0, self.group))

    def _rows(self, lo: int, hi: int) -> None:
        for start, end in zip(self.first[lo:hi], self.end[lo:hi], strict=True):
            self.blocks.append(Block("row", start, end, 0, self.group))

    def _fenced(self, lo: int, hi: int) -> None:
        while lo < hi:  # two fences may touch without a line between them
            last = self.fences.get(lo, hi - 1)
            self.blocks.append(Block("code", self.first[lo], self.end[last]))
            lo = last + 1
