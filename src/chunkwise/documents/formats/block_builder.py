"""A text built block by block, each block's place kept, and the cells of a sheet as its tables: what loaders share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from chunkwise.core import Block, BlockKind, Document
from chunkwise.documents.source import Source

_Default = TypeVar("_Default", int, int | None)

_MOST_DIGITS = 8  # a longer one is no count of anything, and may be a million digits


def small_integer(value: str | None, default: _Default) -> int | _Default:
    """The integer of ASCII digits a value is, else the default."""
    if value and len(value) <= _MOST_DIGITS and value.isascii() and value.isdigit():
        return int(value)
    return default


_CLOSE = frozenset({"item", "header", "row"})
"""Lines of one list or table stand under each other; all else is set off by an empty line."""
_DEEPEST_ITEM = 8
"""Levels of items that are indented; a hostile file may claim more."""


class Layout:
    """Grows at its end only, so blocks are ordered and never overlap."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._indents: list[str] = []
        self._parts: list[str] = []
        self._length = 0
        self._groups = 0

    def new_group(self) -> int:
        """A number no other list or table of this text has."""
        self._groups += 1
        return self._groups

    def add(
        self, kind: BlockKind, text: str, *, level: int = 0, group: int = 0, indent: str = ""
    ) -> None:
        """Append a block; `indent` stands in front of it and is not part of it."""
        before = "\n\n"
        if not self.blocks:
            before = ""
        elif kind in _CLOSE:
            last = self.blocks[-1]
            if last.kind in _CLOSE and group == last.group:
                before = "\n"
        if indent:
            before += indent
        self._parts += (before, text)
        start = self._length + len(before)
        self._length = end = start + len(text)
        # Blocks are made by the million: as the tuple it is, one is made in half the time.
        self.blocks.append(tuple.__new__(Block, (kind, start, end, level, group)))
        self._indents.append(indent)

    def add_item(self, marker: str, text: str, *, level: int, group: int) -> None:
        """Append an item of a list, its further lines below the first; a second paragraph has no marker."""
        level = min(level, _DEEPEST_ITEM)
        indent = "  " * (level + (not marker))
        text = text.replace("\n", f"\n{indent}{' ' * len(marker)}")
        self.add("item", marker + text, level=level, group=group, indent=indent)

    def add_table(self, rows: Iterable[Sequence[str]]) -> None:
        """Append the rows of a table that have words; the first of several names the columns."""
        group = self.new_group()
        filled = [" | ".join(cells) for cells in rows if any(cells)]
        for number, line in enumerate(filled):
            self.add("row" if number or len(filled) == 1 else "header", line, group=group)

    def extend(self, other: Layout) -> None:
        """Append all of another layout, its groups renumbered."""
        if not other.blocks:
            return
        if self.blocks:
            self._write("\n\n")
        shift = self._length
        for kind, start, end, level, group in other.blocks:
            renumbered = group + self._groups if group else 0
            self.blocks.append(Block(kind, start + shift, end + shift, level, renumbered))
        self._write(other.text)
        self._indents += other._indents
        self._groups += other._groups

    def only(self, kept: Sequence[bool]) -> Layout:
        """A layout of some of the blocks."""
        if all(kept):
            return self
        text, layout = self.text, Layout()
        for keep, block, indent in zip(kept, self.blocks, self._indents, strict=True):
            if keep:
                kind, start, end, level, group = block
                layout.add(kind, text[start:end], level=level, group=group, indent=indent)
        layout._groups = self._groups
        return layout

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def document(self, source: Source, format: str, **more: Any) -> Document:
        """The document that the blocks make up."""
        return Document(
            source.id, self.text, source=source.origin, format=format, blocks=tuple(self.blocks), **more
        )  # fmt: skip

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


_WIDEST = 200
"""Columns that are kept in line; in a wider table cells stand one after the other."""
_FEWEST_TO_HEAD = 2
"""Rows below a header."""


class SheetRows:
    """Takes rows in their order; the heading of the sheet comes with the first that has a text."""

    def __init__(self, layout: Layout, name: str) -> None:
        self._layout = layout
        self._name = name
        self._rows: list[Mapping[int, str]] = []
        self._columns: set[int] = set()
        self._last: int | None = None

    def add(self, number: int | None, cells: Mapping[int, str]) -> None:
        """A row by its number, from 1, and its cells by their columns; rows that are not there are empty."""
        if not cells or (number and self._last and number > self._last + 1):
            self._flush()
        if cells:
            self._rows.append(cells)
            self._columns.update(cells)
        self._last = number

    def end(self) -> None:
        self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        if self._name:
            self._layout.add("heading", self._name, level=1)
            self._name = ""
        group = self._layout.new_group()
        columns = sorted(self._columns) if len(self._columns) <= _WIDEST else None
        header = self._has_header()
        for number, row in enumerate(self._rows):
            cells = (
                [row.get(at, "") for at in columns] if columns else [row[at] for at in sorted(row)]
            )
            line = " | ".join(cells)
            self._layout.add("header" if header and not number else "row", line, group=group)
        self._rows, self._columns = [], set()

    def _has_header(self) -> bool:
        """Whether the first row names the columns: words in nearly all of them, and rows below."""
        first = self._rows[0]
        if len(self._rows) < _FEWEST_TO_HEAD or len(first) * 2 <= len(self._columns):
            return False
        return not any(text[:1].isdigit() for text in first.values())
