"""The blocks of reStructuredText: titles by their adornment, lists, tables, literal blocks and directives of code."""

from __future__ import annotations

import re

from chunkwise.text.blocks.blocks import Blocks
from chunkwise.text.blocks.markup_lines import LineBlocks, MarkupLine, markup_lines

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*+")
_SHORTEST_ADORNMENT = 4
"""A shorter one is one only where it is as long as its title."""
_ITEM = re.compile(
    r"(?:[-*+•]|(?:\d{1,9}|[a-zA-Z]|#|[ivxIVX]{1,6})[.)]|\((?:\d{1,9}|[a-zA-Z])\))(?=\s|$)"
    r"|:[^:\s][^:]*:(?=\s|$)"
)
_CODE = re.compile(
    r"\.\.\s+(?:code|code-block|sourcecode|parsed-literal|math|highlight|prompt|doctest|raw)::"
)
_SIMPLE_BORDER = re.compile(r"=+(?: +=+)+")
_GRID_BORDER = re.compile(r"\+(?:[-=]+\+)+")
# Behind no sign of their own, or each sign of a long run would be tried as the first.
_ROLE = re.compile(r"(?<![\w:+.-]):[a-zA-Z][\w:+.-]*+(?<=:)`([^`]*+)`")
_TARGET = re.compile(r"(?<!\s)\s*+<[^<>]*+>\Z")


def rst_blocks(text: str) -> Blocks:
    """Headings, paragraphs, items, tables and code of a reStructuredText, in order."""
    return _RstReader(markup_lines(text)).read()


def rst_title(heading: str) -> str:
    """A title without its adornment and without marks of roles and literals."""
    lines = [line.strip().removeprefix("\ufeff") for line in heading.splitlines()]
    while len(lines) > 1 and _ADORNMENT.fullmatch(lines[-1]):
        lines.pop()
    while len(lines) > 1 and _ADORNMENT.fullmatch(lines[0]):
        lines.pop(0)
    title = _ROLE.sub(lambda role: _TARGET.sub("", role[1]) or role[1], " ".join(lines))
    return title.replace("``", "").replace("`", "").strip()


class _RstReader:
    def __init__(self, lines: list[MarkupLine]) -> None:
        self.lines = lines
        self.found = LineBlocks()
        self.styles: dict[tuple[str, bool], int] = {}
        """The level of each kind of adornment: that met first is the outermost."""

    def read(self) -> Blocks:
        at = 0
        while at < len(self.lines):
            at = self._read(at)
        return self.found.blocks()

    def _read(self, at: int) -> int:
        """Takes in what begins with this line; returns the first line behind it."""
        line = self.lines[at]
        if not line.words:
            self.found.close()
            return at + 1
        if not self.found.is_open:
            if behind := self._title(at) or self._table(at):
                return behind
            if _ADORNMENT.fullmatch(line.words) and len(line.words) >= _SHORTEST_ADORNMENT:
                self.found.end_list()  # a transition
                return at + 1
        if _CODE.match(line.words) and (behind := self._literal(at, whole=True)) > at + 1:
            return behind
        if _ITEM.match(line.words):
            self.found.item(line)
        else:
            if line.words.startswith(".. "):
                self.found.close()
            self.found.text(line)
        if line.words.endswith("::") and not line.words.startswith(".. "):
            return self._literal(at)
        return at + 1

    def _title(self, at: int) -> int:
        """The line behind a title that begins here; 0 where none does."""
        line = self.lines[at]
        over = _is_adornment(line)
        title, under = at + over, at + over + 1
        if under >= len(self.lines):
            return 0
        words, below = self.lines[title].words, self.lines[under]
        if not words or not _is_adornment(below) or below.indent or (not over and line.indent):
            return 0
        if over and below.words != line.words:
            return 0
        if _is_adornment(self.lines[title]) and not over:
            return 0
        if len(below.words) < min(len(words), _SHORTEST_ADORNMENT):
            return 0
        level = self.styles.setdefault((below.words[0], bool(over)), len(self.styles) + 1)
        self.found.heading(line.start, below.end, level)
        return under + 1

    def _literal(self, parent: int, *, whole: bool = False) -> int:
        """Takes the lines in that stand deeper than this one as one piece of code, `whole` with the line itself."""
        last, at = 0, parent + 1
        while at < len(self.lines):
            line = self.lines[at]
            if line.words and line.indent <= self.lines[parent].indent:
                break
            if line.words:
                last = at
            at += 1
        if not last:
            return parent + 1
        first = parent if whole else parent + 1
        while not self.lines[first].words:
            first += 1
        self.found.code(self.lines[first].start, self.lines[last].end)
        return last + 1

    def _table(self, at: int) -> int:
        words = self.lines[at].words
        if _GRID_BORDER.fullmatch(words):
            return self._grid(at)
        return self._simple(at) if _SIMPLE_BORDER.fullmatch(words) else 0

    def _grid(self, at: int) -> int:
        start, filled = self.lines[at].start, False
        at += 1
        while at < len(self.lines) and self.lines[at].words[:1] in ("|", "+"):
            line = self.lines[at]
            if not _GRID_BORDER.fullmatch(line.words):
                filled = True
            elif filled:
                self.found.row(start, line.end)
                if "=" in line.words:
                    self.found.to_header(line.end)
                start, filled = line.end, False
            at += 1
            if not filled and at < len(self.lines):
                start = self.lines[at].start
        if filled:
            self.found.row(start, self.lines[at - 1].end)
        self.found.close()
        return at

    def _simple(self, at: int) -> int:
        start: int | None = self.lines[at].start
        at += 1
        while at < len(self.lines):
            line = self.lines[at]
            if _SIMPLE_BORDER.fullmatch(line.words):
                if at + 1 == len(self.lines) or not self.lines[at + 1].words:
                    at += 1
                    break
                self.found.to_header(line.end)
            elif line.words:
                self.found.row(line.start if start is None else start, line.end)
                start = None
            elif not self.lines[at - 1].words:
                break  # it was never closed
            at += 1
        self.found.close()
        return at


def _is_adornment(line: MarkupLine) -> bool:
    return len(line.words) > 1 and _ADORNMENT.fullmatch(line.words) is not None
