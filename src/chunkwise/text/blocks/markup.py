"""The blocks of written markup other than Markdown: reStructuredText, AsciiDoc, Org; and which scanner finds them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from chunkwise.text.blocks.blocks import Blocks
from chunkwise.text.blocks.lines import LineBlocks, MarkupLine, markup_lines
from chunkwise.text.blocks.tex import tex_blocks, tex_title

_ASCIIDOC_HEADING = re.compile(r"(={1,6}|#{1,6})\s+\S")
_UNDERLINE = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_NEAR = 1
"""Characters by which an underline may be longer or shorter than its title."""
_ASCIIDOC_ITEM = re.compile(r"(\*{1,6}|-|\.{1,6}|\d{1,9}\.|[a-zA-Z]\.)(?=\s+\S)")
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
        blocks = self.found
        heading = _ASCIIDOC_HEADING.match(line.words) if not line.indent else None
        if not line.words:
            blocks.close()
        elif heading and (not blocks.is_open or heading[1][0] == "="):
            blocks.heading(line.start, line.end, len(heading[1]))
        elif not blocks.is_open and self._is_underlined(at):
            blocks.heading(
                line.start, self.lines[at + 1].end, _UNDERLINE[self.lines[at + 1].words[0]]
            )
            return at + 2
        elif _VERBATIM.fullmatch(line.words) and (end := self._end(at)):
            blocks.code(self.lines[first].start, self.lines[end].end)
            return end + 1
        elif _TABLE.fullmatch(line.words) and (end := self._end(at)):
            self._table(at + 1, end)
            return end + 1
        elif _WRAPPER.fullmatch(line.words) or _ABOUT.fullmatch(line.words):
            blocks.close()
        elif item := _ASCIIDOC_ITEM.match(line.words):
            sign = item[1]
            blocks.item(line, len(sign) - 1 if sign[0] in "*." else None)
        elif line.words == "+":
            pass  # what follows belongs to the item above
        elif not line.words.startswith("//"):
            blocks.text(line)
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


_ORG_HEADING = re.compile(r"(\*+)\s+\S")
_ORG_ITEM = re.compile(r"(?:[-+]|\d{1,9}[.)])(?=\s|$)")
_BEGIN = re.compile(r"#\+begin_(src|example|export|verse)\b", re.IGNORECASE)
_SETTING = re.compile(r"#\+\w+:|#\+(?:begin|end)_\w+", re.IGNORECASE)
_DRAWER = re.compile(r":[A-Za-z][\w-]*:")
_LATEST_END = 100
"""Lines a drawer may have."""
_STATE = re.compile(r"(?:(?:TODO|DONE|NEXT|WAITING|CANCELL?ED)\s+(?=\S))?(?:\[#\w\]\s+)?")
"""At the beginning alone; elsewhere they are words."""
# Behind no space, or each space of a long run would be tried as the first.
_TAGS = re.compile(r"(?<!\s)\s++:[\w@#%:]{2,}+(?<=:)\Z")
_LINK = re.compile(r"\[\[[^\[\]]*\]\[([^\[\]]*)\]\]")


def org_blocks(text: str) -> Blocks:
    """Headings, paragraphs, items, tables and code of an Org text, in order."""
    lines = markup_lines(text)
    blocks = LineBlocks()
    ends = _ends_of_blocks([line.words for line in lines])
    drawer_ends = [number for number, line in enumerate(lines) if line.words.upper() == ":END:"]
    at = 0
    while at < len(lines):
        line = lines[at]
        heading = _ORG_HEADING.match(line.words) if not line.indent else None
        if heading:
            blocks.heading(line.start, line.end, len(heading[1]))
        elif not line.words:
            blocks.close()
        elif at in ends:
            blocks.code(line.start, lines[ends[at]].end)
            at = ends[at]
        elif _DRAWER.fullmatch(line.words) and (end := _drawer_end(drawer_ends, at)):
            blocks.close()
            at = end
        elif _SETTING.match(line.words):
            blocks.end_list()
        elif line.words.startswith("|"):
            if line.words.startswith("|-"):
                blocks.to_header(line.end)
            else:
                blocks.row(line.start, line.end)
        elif _ORG_ITEM.match(line.words) or (line.indent and line.words.startswith("* ")):
            blocks.item(line)
        else:
            blocks.text(line)
        at += 1
    return blocks.blocks()


def org_title(heading: str) -> str:
    """A heading without its stars, state, priority and tags."""
    title = heading.strip().lstrip("\ufeff*").strip()
    state = _STATE.match(title)
    title = title[state.end() :] if state else title
    return _LINK.sub(r"\1", _TAGS.sub("", title)).strip()


def _ends_of_blocks(lines: list[str]) -> dict[int, int]:
    """Of each line that opens a block of source: the line that ends it."""
    ends: dict[int, int] = {}
    opened: tuple[int, str] | None = None
    for at, words in enumerate(lines):
        if opened is None:
            if begin := _BEGIN.match(words):
                opened = at, f"#+end_{begin[1].lower()}"
        elif words.lower().startswith(opened[1]):
            ends[opened[0]] = at
            opened = None
    return ends


def _drawer_end(ends: list[int], at: int) -> int:
    """The line that ends the drawer which opens here; 0 where none does nearby."""
    following = bisect_right(ends, at)
    near = following < len(ends) and ends[following] < at + _LATEST_END
    return ends[following] if near else 0


_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*+")
_SHORTEST_ADORNMENT = 4
"""A shorter one is one only where it is as long as its title."""
_RST_ITEM = re.compile(
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
        if _RST_ITEM.match(line.words):
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


class Markup(NamedTuple):
    """How the text of one format is read."""

    blocks: Callable[[str], Blocks]
    title: Callable[[str], str]
    """The words of a heading, of its text with all its marks."""


MARKUPS: dict[str, Markup] = {
    "rst": Markup(rst_blocks, rst_title),
    "tex": Markup(tex_blocks, tex_title),
    "asciidoc": Markup(asciidoc_blocks, asciidoc_title),
    "org": Markup(org_blocks, org_title),
}
