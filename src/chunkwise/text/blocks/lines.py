"""The lines of a text, for the scanners that turn them into blocks: as arrays, or one by one with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import BLOCK_KINDS, BlockKind
from chunkwise.text.blocks.blocks import CODE_OF, Blocks
from chunkwise.text.characters import NEWLINES, SPACE, CharacterArrays, one_of

_TAB_WIDTH = 4
_LIKE_ITEM = 3
"""Characters by which a line of signs alone is told from an item: its bullet, a space and a letter."""


class Lines:
    """Line `i` is `text[start[i]:end[i]]`, its line break left out; a final line break opens no line."""

    def __init__(self, characters: CharacterArrays) -> None:
        self.characters = characters
        points = characters.points
        ends = breaks = characters.places(NEWLINES)
        nexts = breaks + 1
        if "\r" in characters.text:
            # CR LF is one break: it ends the line at CR and starts the next after LF.
            pair = (points[breaks[1:]] == 10) & (points[breaks[:-1]] == 13) & (np.diff(breaks) == 1)
            ends, nexts = breaks[np.append(True, ~pair)], nexts[np.append(~pair, True)]
        self.start: NDArray[np.int64] = np.concatenate(([0], nexts))
        self.end: NDArray[np.int64] = np.append(ends, len(points))
        if self.start[-1] == len(points):
            self.start, self.end = self.start[:-1], self.end[:-1]

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Position of each line's first character that is no white space or mark; its end if it is blank."""
        # Most lines start with something solid or are empty; only the others are searched.
        first = self.start.copy()
        spaced = (self.characters.have(first, SPACE) & (first < self.end)).nonzero()[0]
        first[spaced] = np.minimum(self.characters.next_solid(first[spaced]), self.end[spaced])
        if self._marked:
            first[0] = min(int(self.characters.next_solid(np.array([1]))[0]), int(self.end[0]))
        return first

    @cached_property
    def outset(self) -> NDArray[np.int64]:
        """Where a block that opens with each line starts: a byte order mark belongs to the first."""
        if not self._marked or self.blank[0]:
            return self.first
        outset = self.first.copy()
        outset[0] = 0
        return outset

    @property
    def _marked(self) -> bool:
        return self.characters.text.startswith("\ufeff")

    @cached_property
    def blank(self) -> NDArray[np.bool_]:
        return self.first == self.end

    @cached_property
    def head(self) -> NDArray[np.uint32]:
        """First character that is no white space; 0 for a blank line."""
        return self.at(0)

    @cached_property
    def second(self) -> NDArray[np.uint32]:
        """The character behind the first; 0 beyond the line's end."""
        return self.at(1)

    def head_is(self, flags: int) -> NDArray[np.bool_]:
        """Whether each line's first character that is no white space is of one of these kinds."""
        return ~self.blank & self.characters.have(self.first, flags)

    def at(
        self, offset: int | NDArray[np.int64], which: NDArray[np.int64] | slice = slice(None)
    ) -> NDArray[np.uint32]:
        """The character this far behind each line's first; 0 beyond the line's end. `which`: some lines only."""
        where = self.first[which] + offset
        return self.characters.points.take(where, mode="clip") * (where < self.end[which])

    @cached_property
    def indent(self) -> NDArray[np.int64]:
        """Columns of white space before the first character; a tab counts four."""
        width = self.first - self.start
        return width + (_TAB_WIDTH - 1) * self.count("\t", self.start, self.first)

    def count(
        self, characters: str, start: NDArray[np.int64], end: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """How many of these characters lie between each pair of positions."""
        if not any(char in self.characters.text for char in characters):
            return np.zeros(len(start), dtype=np.int64)
        values = self.characters.places(characters)
        counts: NDArray[np.int64] = values.searchsorted(end) - values.searchsorted(start)
        return counts

    def holds(
        self, characters: str, which: NDArray[np.int64] | slice = slice(None)
    ) -> NDArray[np.int64]:
        """How many of these characters each line has, or some lines."""
        return self.count(characters, self.start[which], self.end[which])

    def consisting_of(self, characters: str) -> NDArray[np.int64]:
        """Lines that have nothing but these characters and white space and are not blank."""
        left = one_of(self.head, characters).nonzero()[0]
        for offset in range(1, _LIKE_ITEM):
            if not len(left):
                return left
            place = self.first[left] + offset
            like = one_of(self.characters.points.take(place, mode="clip"), characters)
            like |= (place >= self.end[left]) | self.characters.have(place, SPACE)
            left = left[like]
        if not len(left):
            return left
        other = ~self.characters.are(SPACE)
        other[self.characters.places(characters)] = False
        # Line breaks are white space: a line may be taken with its own.
        return left[~np.logical_or.reduceat(other, self.start)[left]]

    def text(self, line: int) -> str:
        return self.characters.text[self.start[line] : self.end[line]]


(
    BLANK,
    TEXT,
    HEADING,
    ITEM,
    HEADER,
    DELIMITER,
    ROW,
    UNDERLINE,
    INDENTED,
    FENCED,
    RULE,
    TITLE,
    COMMENT,
) = range(13)

CODE_INDENT = 4

_QUOTE = ord(">")
_MARKS = re.compile(r"(?:[ \t]*+>)*+")
_QUOTED_FENCE = re.compile(rf"({_MARKS.pattern})[ \t]*+(`{{3,}}|~{{3,}})(.*+)")
_QUOTED_DELIMITERS = re.compile(rf"{_MARKS.pattern}[ \t|:-]*+")


def _ends_word(values: NDArray[np.uint32]) -> NDArray[np.bool_]:
    return (values == 0) | one_of(values, " \t\u00a0\u3000")


def atx_levels(lines: Lines) -> NDArray[np.int64]:
    """Depth of `# heading` lines; 0 for every other line."""
    levels = np.zeros(len(lines), dtype=np.int64)
    opens = ((lines.head == ord("#")) & (lines.indent < CODE_INDENT)).nonzero()[0]
    run = np.ones(len(opens), dtype=np.int64)
    left = np.arange(len(opens))
    for offset in range(1, 7):
        left = left[lines.at(offset, opens[left]) == ord("#")]
        if not len(left):
            break
        run[left] += 1
    if len(opens):
        levels[opens] = np.where((run <= 6) & _ends_word(lines.at(run, opens)), run, 0)
    return levels


def html_levels(lines: Lines) -> NDArray[np.int64]:
    """Depth of lines such as `<h2 id="x">Title</h2>`; 0 for every other line."""
    tag = lines.head == ord("<")
    if not tag.any():
        return np.zeros(len(lines), dtype=np.int64)
    digit = lines.at(2).astype(np.int64) - ord("0")
    result = tag & one_of(lines.second, "hH") & one_of(lines.at(3), "> ")
    result &= (digit >= 1) & (digit <= 6)
    for line in result.nonzero()[0].tolist():
        result[line] = "</h" in lines.text(line).lower()
    return np.where(result, digit, 0)


def bullets(lines: Lines, signs: str) -> NDArray[np.bool_]:
    """Lines that open with a bullet and white space."""
    signs = "".join(sign for sign in signs if sign in lines.characters.text)
    if not signs:
        return np.zeros(len(lines), dtype=np.bool_)
    values = one_of(lines.head, signs)
    return values & _ends_word(lines.second) if values.any() else values


def numbered(lines: Lines, digits: int = 9) -> NDArray[np.bool_]:
    """Lines that open with a number, `.` or `)`, and white space."""
    result = np.zeros(len(lines), dtype=np.bool_)
    left = ((lines.head >= ord("0")) & (lines.head <= ord("9"))).nonzero()[0]
    for offset in range(1, digits + 1):
        if not len(left):
            break
        char = lines.at(offset, left)
        result[left] |= one_of(char, ".)") & _ends_word(lines.at(offset + 1, left))
        left = left[(char >= ord("0")) & (char <= ord("9"))]
    return result


def rules(lines: Lines) -> NDArray[np.bool_]:
    """Thematic breaks: three or more of one of * - _ and nothing else."""
    result = np.zeros(len(lines), dtype=np.bool_)
    for sign in "*-_":
        alone = lines.consisting_of(sign)
        if len(alone):
            result[alone[lines.holds(sign, alone) >= 3]] = True
    return result


def underlines(lines: Lines) -> NDArray[np.int64]:
    """Level of Setext underlines, one run of = (1) or - (2); 0 for every other line."""
    levels = np.zeros(len(lines), dtype=np.int64)
    for sign, level in (("=", 1), ("-", 2)):
        alone = lines.consisting_of(sign)
        alone = alone[lines.indent[alone] < CODE_INDENT]
        if len(alone):
            end = lines.first[alone] + lines.holds(sign, alone)
            run_end = np.minimum(end, lines.end[alone]) - 1
            levels[alone[lines.characters.points[run_end] == ord(sign)]] = level
    return levels


def comment_lines(lines: Lines) -> NDArray[np.bool_]:
    """Lines that open with `<!--`."""
    if "<!--" not in lines.characters.text:
        return np.zeros(len(lines), dtype=np.bool_)
    return (lines.head == ord("<")) & (lines.second == ord("!")) & (lines.at(2) == ord("-"))


def verbatim(lines: Lines) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Line ranges `[first, last]` of fenced code, fences included, and of comments; an open one runs to the end."""
    text = lines.characters.text
    if "```" not in text and "~~~" not in text and "<!--" not in text:
        return [], []
    tick = one_of(lines.head, "`~") & (lines.head == lines.second) & (lines.head == lines.at(2))
    comment = comment_lines(lines)
    quoted = _quoting(lines, "`~>")
    ranges: list[tuple[int, int]] = []
    comments: list[tuple[int, int]] = []
    opened, mark, length, passed = -1, "", 0, -1
    for line in (tick | comment | quoted).nonzero()[0].tolist():
        if line <= passed or (opened >= 0 and not tick[line]):
            continue
        if quoted[line]:
            passed = _quoted_fence_end(lines, line)
            if passed >= 0:
                ranges.append((line, passed))
            continue
        if comment[line]:
            passed = _line_with(lines, "-->", line)
            comments.append((line, passed))
            continue
        text = lines.text(line).strip()
        sign = text[0]
        info = text.lstrip(sign)
        size = len(text) - len(info)
        if opened < 0:
            if sign == "`" and "`" in info:
                continue
            opened, mark, length = line, sign, size
        elif sign == mark and size >= length and not info:
            ranges.append((opened, line))
            opened = -1
    if opened >= 0:
        ranges.append((opened, len(lines) - 1))
    return ranges, comments


def _quoting(lines: Lines, signs: str) -> NDArray[np.bool_]:
    """Lines with a quote mark and, behind it or on a line below, one of these signs."""
    quoted = lines.head == _QUOTE
    marked = quoted.nonzero()[0]
    if len(marked):
        behind = lines.characters.next_solid(lines.first[marked] + 1)
        quoted[marked] = one_of(lines.characters.points.take(behind, mode="clip"), signs)
    return quoted


def _quoted_fence_end(lines: Lines, line: int) -> int:
    """The last line of the fence that this line opens behind quote marks; -1 if it opens none."""
    match = _QUOTED_FENCE.fullmatch(lines.text(line))
    if match is None or (match[2][0] == "`" and "`" in match[3]):
        return -1
    depth, fence = match[1].count(">"), match[2]
    for below in range(line + 1, len(lines)):
        text = lines.text(below)
        marks = _MARKS.match(text)
        behind = marks.end() if marks else 0
        deep = text.count(">", 0, behind)
        if deep < depth:
            return below - 1
        rest = text[behind:].strip()
        if deep == depth and rest.startswith(fence) and not rest.strip(fence[0]):
            return below
    return len(lines) - 1


def _line_with(lines: Lines, sign: str, line: int) -> int:
    """The first line from this one on that holds the sign; the last line if none does."""
    number = lines.characters.text.find(sign, int(lines.first[line]))
    return int(lines.start.searchsorted(number, "right")) - 1 if number >= 0 else len(lines) - 1


def delimiter_rows(lines: Lines) -> NDArray[np.int64]:
    """Lines such as `|---|:--:|` that stand between a table's header and its rows, quoted or not."""
    if "|" not in lines.characters.text:
        return np.zeros(0, dtype=np.int64)
    values = np.zeros(len(lines), dtype=np.bool_)
    alone = lines.consisting_of("|:-")
    values[alone[(lines.holds("|", alone) > 0) & (lines.holds("-", alone) > 0)]] = True
    for line in _quoting(lines, "|:->").nonzero()[0].tolist():
        text = lines.text(line)
        values[line] = "|" in text and "-" in text and bool(_QUOTED_DELIMITERS.fullmatch(text))
    return values.nonzero()[0]


_HEADING, _PARAGRAPH, _ITEM, _HEADER, _ROW, _CODE = (CODE_OF[kind] for kind in BLOCK_KINDS)
_NOTHING = -1
_MARK = "\ufeff"
_DEEPEST_ITEM = 16


class MarkupLine(NamedTuple):
    """A line without white space at its ends; the byte order mark of the first is not part of its words."""

    start: int
    """Of its first character that is no white space; a byte order mark belongs to the first line."""
    end: int
    indent: int
    words: str
    """Empty: a blank line."""


def markup_lines(text: str) -> list[MarkupLine]:
    """The lines of a text, in order."""
    return list(_lines(text))


def _lines(text: str) -> Iterator[MarkupLine]:
    position = 0
    for raw in text.splitlines(keepends=True):
        marked = position == 0 and raw.startswith(_MARK)
        line = raw.lstrip(_MARK) if marked else raw
        words = line.strip()
        indent = len(line) - len(line.lstrip())
        start = position + len(raw) - len(line) + indent
        yield MarkupLine(0 if marked and words else start, start + len(words), indent, words)
        position += len(raw)


class LineBlocks:
    """Ordered blocks; text goes on with the paragraph or item that is open until something closes it."""

    def __init__(self) -> None:
        # Columns rather than objects: a text may have a million blocks.
        self._kinds: list[int] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._levels: list[int] = []
        self._groups: list[int] = []
        self._group = 0
        self._open = False
        self._in_list = False
        self._in_table = False

    def blocks(self) -> Blocks:
        """All that were added."""
        return Blocks(self._kinds, self._starts, self._ends, self._levels, self._groups)

    @property
    def is_open(self) -> bool:
        """Whether a line of text would go on with what is there."""
        return self._open

    def close(self) -> None:
        """A blank line: what follows is another paragraph, or a further one of the item above."""
        self._open = self._in_table = False

    def end_list(self) -> None:
        self.close()
        self._in_list = False

    def text(self, line: MarkupLine) -> None:
        last = self._kinds[-1] if self._kinds else _NOTHING
        further = self._in_list and last == _ITEM and line.indent > 1
        if self._open or further:
            self._ends[-1] = line.end
        else:
            self._in_list = False
            self._add("paragraph", line.start, line.end)
        self._open, self._in_table = True, False

    def item(self, line: MarkupLine, level: int | None = None) -> None:
        if not self._in_list:
            self._group += 1
        depth = line.indent // 2 if level is None else level
        self._add("item", line.start, line.end, min(depth, _DEEPEST_ITEM), self._group)
        self._open, self._in_list, self._in_table = True, True, False

    def heading(self, start: int, end: int, level: int) -> None:
        self._alone("heading", start, end, level)

    def code(self, start: int, end: int) -> None:
        if start < end:
            self._alone("code", start, end)

    def _alone(self, kind: BlockKind, start: int, end: int, level: int = 0) -> None:
        self.end_list()
        self._add(kind, start, end, level)

    def row(self, start: int, end: int, *, header: bool = False) -> None:
        """Rows belong together until something else is added or the table is closed."""
        if not self._in_table:
            self.end_list()
            self._group += 1
        self._add("header" if header else "row", start, end, 0, self._group)
        self._in_table = True

    def to_header(self, end: int) -> None:
        """All rows of the open table so far are its header, which reaches to here."""
        if not self._in_table:
            return
        first = len(self._kinds)
        while first and self._groups[first - 1] == self._group and self._kinds[first - 1] in _TABLE:
            first -= 1
        self._kinds[first:] = [_HEADER] * (len(self._kinds) - first)
        self._ends[-1] = end

    def _add(self, kind: BlockKind, start: int, end: int, level: int = 0, group: int = 0) -> None:
        self._kinds.append(CODE_OF[kind])
        self._starts.append(start)
        self._ends.append(end)
        self._levels.append(level)
        self._groups.append(group)


_TABLE = (_HEADER, _ROW)
