"""What scanners of written markup share: the lines of a text with their places, and blocks that grow line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chunkwise.core import BLOCK_KINDS, BlockKind
from chunkwise.text.blocks.blocks import CODE_OF, Blocks

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
