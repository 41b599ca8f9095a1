"""A text built block by block, each block's place kept: what loaders of marked-up formats share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from chunkwise.core import Block, BlockKind

_Default = TypeVar("_Default", int, int | None)

_MOST_DIGITS = 8  # a longer one is no count of anything, and may be a million digits


def small_integer(value: str | None, default: _Default) -> int | _Default:
    """The integer of ASCII digits a value is, else the default."""
    if value and len(value) <= _MOST_DIGITS and value.isascii() and value.isdigit():
        return int(value)
    return default


_CLOSE = ("item", "header", "row")
"""Lines of one list or table stand under each other; all else is set off by an empty line."""


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
        if self.blocks:
            last = self.blocks[-1]
            together = kind in _CLOSE and last.kind in _CLOSE and group == last.group
            before = ("\n" if together else "\n\n") + indent
        else:
            before = indent
        self._parts += (before, text)
        start = self._length + len(before)
        self._length = start + len(text)
        self.blocks.append(Block(kind, start, self._length, level, group))
        self._indents.append(indent)

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

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
