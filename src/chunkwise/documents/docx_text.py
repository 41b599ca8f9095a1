"""The text of a Word document's body, walked as XML: the library's own paragraph text leaves out
insertions, content controls and text boxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkwise.documents.docx_lists import Lists
from chunkwise.documents.docx_xml import W, value
from chunkwise.documents.integers import small_integer
from chunkwise.documents.layout import Layout

if TYPE_CHECKING:
    from lxml.etree import _Element

_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_CHARACTERS = {
    f"{W}tab": "\t",
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "\u2011",
}
_DEEPEST_ITEM = 8  # Word has nine levels; a hostile file may claim more
# Deleted or moved text, properties, and the old form of a text box that is there twice.
_SKIPPED = frozenset({f"{W}del", f"{W}moveFrom", f"{W}pPr", f"{W}rPr", _FALLBACK})


@dataclass(slots=True)
class _OpenList:
    """A list that a next item of its level continues."""

    family: str
    next_number: int | None
    """None: its items have bullets."""

    def marker(self) -> str:
        if self.next_number is None:
            return "- "
        self.next_number += 1
        return f"{self.next_number - 1}. "


class DocxText:
    """`layout` and `title` are the result."""

    def __init__(self, headings: Mapping[str, int], lists: Lists) -> None:
        self.layout = Layout()
        self.title = ""
        self._headings = headings
        self._lists = lists
        self._open: dict[int, _OpenList] = {}
        self._family = ""
        self._group = 0

    def read(self, body: _Element) -> None:
        """Blocks below `body`, in order; wrappers such as content controls are looked into."""
        pending = list(reversed(body))
        while pending:
            element = pending.pop()
            if element.tag == f"{W}p":
                text, boxes = _text(element)
                self._paragraph(element, text)
                for box in reversed(boxes):
                    pending.extend(reversed(box))
            elif element.tag == f"{W}tbl":
                self._table(element)
            elif element.tag not in _SKIPPED:
                pending.extend(reversed(element))
        self._raise_title()

    def _raise_title(self) -> None:
        """A title, level 0 so far, is the parent of all headings."""
        if self.title:
            self.layout.blocks = [
                block._replace(level=block.level + 1) if block.kind == "heading" else block
                for block in self.layout.blocks
            ]

    def _end_lists(self) -> None:
        self._open.clear()
        self._family = ""

    def _paragraph(self, element: _Element, text: str) -> None:
        text = text.strip()
        if not text:
            return
        style = value(element, "pPr/pStyle")
        level = self._headings.get(style)
        if level is not None:
            if level == 0 and not self.title:
                self.title = text.replace("\n", " ")
            self._end_lists()
            self.layout.add("heading", text.replace("\n", " "), level=level)
            return
        number = value(element, "pPr/numPr/numId")
        if (number and number != "0") or (style in self._lists.styles and number != "0"):
            depth = value(element, "pPr/numPr/ilvl")
            self._item(text, number, depth, style)
            return
        self._end_lists()
        self.layout.add("paragraph", text)

    def _item(self, text: str, number: str, depth: str, style: str) -> None:
        of = number or style
        family = of.rstrip("0123456789") or of  # ListBullet2 continues ListBullet
        named = self._lists.styles.get(style)
        level = min(small_integer(depth, named.level if named else 0), _DEEPEST_ITEM)
        self._open = {at: it for at, it in self._open.items() if at <= level}
        open_list = self._open.get(level)
        if open_list is None or open_list.family != family:
            # What stands deeper than an open list is part of it, whatever its own kind.
            if family != self._family and not any(at < level for at in self._open):
                self._group = self.layout.new_group()
            first = self._lists.first_number(number, depth, style)
            open_list = self._open[level] = _OpenList(family, first)
        self._family = family
        indent = "  " * level
        marker = open_list.marker()
        hanging = f"\n{indent}{' ' * len(marker)}".join(text.split("\n"))
        self.layout.add("item", marker + hanging, level=level, group=self._group, indent=indent)

    def _table(self, table: _Element) -> None:
        self._end_lists()
        group = self.layout.new_group()
        rows = [
            " | ".join(_cell(cell) for cell in row.iterchildren(f"{W}tc", f"{W}sdt"))
            for row in table.iterchildren(f"{W}tr")
        ]
        for number, line in enumerate(rows):
            if line.replace("|", "").strip():
                header = number == 0 and len(rows) > 1
                self.layout.add("header" if header else "row", line, group=group)


def _cell(cell: _Element) -> str:
    """All text of a cell, nested tables included, on one line."""
    words: list[str] = []
    for paragraph in cell.iter(f"{W}p"):
        words += _text(paragraph)[0].split()
    return " ".join(words)


def _text(paragraph: _Element) -> tuple[str, list[_Element]]:
    """The text of a paragraph, and the text boxes anchored in it."""
    parts: list[str] = []
    boxes: list[_Element] = []
    pending = list(reversed(paragraph))
    while pending:
        element = pending.pop()
        tag = element.tag
        if tag == f"{W}t":
            parts.append(element.text or "")
        elif tag in _CHARACTERS:
            parts.append(_CHARACTERS[str(tag)])
        elif tag == f"{W}txbxContent":
            boxes.append(element)
        elif tag not in _SKIPPED:
            pending.extend(reversed(element))
    return "".join(parts), boxes
