"""The blocks of AsciiDoc: titles, lists, tables, delimited blocks."""

from __future__ import annotations

import re

from chunkwise.text.blocks.blocks import Blocks
from chunkwise.text.blocks.markup_lines import LineBlocks, MarkupLine, markup_lines

_HEADING = re.compile(r"(={1,6}|#{1,6})\s+\S")
_UNDERLINE = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_NEAR = 1
"""Characters by which an underline may be longer or shorter than its title."""
_ITEM = re.compile(r"(\*{1,6}|-|\.{1,6}|\d{1,9}\.|[a-zA-Z]\.)(?=\s+\S)")
_VERBATIM = re.compile(r"-{4,}|\.{4,}|\+{4,}|/{4,}|```+\w*")
_WRAPPER = re.compile(r"={4,}|\*{4,}|_{4,}|--")
_TABLE = re.compile(r"[|,:!]={3,}")
_ABOUT = re.compile(r"\[[^\[\]]*\]")
_MARKS = re.compile(r"(?<!\w)([*_`#]{1,2})(\S(?:[^*_`#]*\S)?)\1(?!\w)")


def asciidoc_blocks(text: str) -> Blocks:
    """Headings, paragraphs, items, tables and code of an AsciiDoc text, in order."""
    return _AsciidocReader(markup_lines(text)).read()


def asciidoc_title(heading: str) -> str:
    """A title without its signs and marks of emphasis."""
    lines = heading.strip().removeprefix("\ufeff").splitlines()
    if len(lines) > 1:
        lines.pop()
    title = " ".join(lines).strip()
    sign = title[:1]
    if sign in ("=", "#"):
        title = title.lstrip(sign).strip()
        title = title.rstrip(sign).strip() or title
    return _MARKS.sub(r"\2", title)


class _AsciidocReader:
    def __init__(self, lines: list[MarkupLine]) -> None:
        self.lines = lines
        self.found = LineBlocks()
        self.last: dict[str, int] = {}
        """Where each delimiter of a block stands for the last time: one without its end is looked for once."""
        for at, line in enumerate(lines):
            if _VERBATIM.fullmatch(line.words) or _TABLE.fullmatch(line.words):
                self.last[line.words] = at

    def read(self) -> Blocks:
        at = 0
        about = -1  # the line of attributes above a block belongs to it
        while at < len(self.lines):
            line = self.lines[at]
            is_about = _ABOUT.fullmatch(line.words) is not None
            first = at if about < 0 else about
            behind = self._read(at, first)
            about = first if is_about else -1
            at = behind
        return self.found.blocks()

    def _read(self, at: int, first: int) -> int:
        line = self.lines[at]
        found = self.found
        heading = _HEADING.match(line.words) if not line.indent else None
        if not line.words:
            found.close()
        elif heading and (not found.is_open or heading[1][0] == "="):
            found.heading(line.start, line.end, len(heading[1]))
        elif not found.is_open and self._is_underlined(at):
            found.heading(
                line.start, self.lines[at + 1].end, _UNDERLINE[self.lines[at + 1].words[0]]
            )
            return at + 2
        elif _VERBATIM.fullmatch(line.words) and (end := self._end(at)):
            found.code(self.lines[first].start, self.lines[end].end)
            return end + 1
        elif _TABLE.fullmatch(line.words) and (end := self._end(at)):
            self._table(at + 1, end)
            return end + 1
        elif _WRAPPER.fullmatch(line.words) or _ABOUT.fullmatch(line.words):
            found.close()
        elif item := _ITEM.match(line.words):
            sign = item[1]
            found.item(line, len(sign) - 1 if sign[0] in "*." else None)
        elif line.words == "+":
            pass  # what follows belongs to the item above
        elif not line.words.startswith("//"):
            found.text(line)
        return at + 1

    def _is_underlined(self, at: int) -> bool:
        if at + 1 >= len(self.lines) or self.lines[at].indent:
            return False
        words, below = self.lines[at].words, self.lines[at + 1].words
        if len(below) < 3 or below[0] not in _UNDERLINE or below.strip(below[0]):
            return False
        return abs(len(below) - len(words)) <= _NEAR and any(map(str.isalpha, words))

    def _end(self, at: int) -> int:
        """The line that ends the block which opens here; 0 where none does."""
        sign = self.lines[at].words
        sign = (
            sign.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") or sign
        )
        if self.last.get(sign, 0) <= at:
            return 0
        return next(end for end in range(at + 1, len(self.lines)) if self.lines[end].words == sign)

    def _table(self, first: int, end: int) -> None:
        self.found.end_list()
        lines = [line for line in self.lines[first:end] if line.words]
        header = (
            end > first + 1 and bool(self.lines[first].words) and not self.lines[first + 1].words
        )
        start = stop = -1
        for number, line in enumerate(lines):
            if line.words[0] in "|!" or stop < 0:
                if stop >= 0:
                    self.found.row(start, stop)
                start = line.start
            stop = line.end
            if header and number == 0:
                self.found.row(start, stop, header=True)
                start = stop = -1
        if stop >= 0:
            self.found.row(start, stop)
        self.found.close()
