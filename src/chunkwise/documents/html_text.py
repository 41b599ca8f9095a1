"""The text of an HTML page in source order, with its blocks.

The parser's events are read as they come and no tree is built: text cannot be moved by a repair
of the tree, nesting has no depth limit, and the time is linear whatever the markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from chunkwise.documents.html_open import OpenItem, OpenList, OpenTable
from chunkwise.documents.html_tags import (
    BLOCKS,
    DRAWING_TEXTS,
    HEADINGS,
    LAYOUT_SIGNS,
    PREFORMATTED,
    ROW_GROUPS,
    SET_APART,
    SKIPPED,
    VOID,
    is_hidden,
)
from chunkwise.documents.integers import small_integer
from chunkwise.documents.layout import Layout

_LONG_CELL = 1000

_BREAK = "\0"  # a <br>; the parser turns real NULs into U+FFFD, so it cannot be in the text
_SPACE = " \t\n\f\r"
_SPACES = re.compile(r"[ \t\n\f\r]+")
_BREAKS = re.compile(r" ?\0 ?")
_EMPTY_LINES = re.compile(r"\n{2,}")


class HtmlText:
    """Target of lxml's event parser; `title`, `generator` and `layout` are the result, `depth` is that so far."""

    def __init__(self) -> None:
        self.layout = Layout()
        self.title = ""
        self.generator = ""
        self._inline: list[str] = []
        self._title: list[str] | None = None
        self.depth = self._deepest = 0
        self._skipping = 0
        self._foreign = 0
        self._apart = 0
        self._apart_from = 0
        self._pre = 0
        self._heading = 0
        self._cell_length = 0
        self._lists: list[OpenList] = []
        self._items: list[OpenItem | None] = []
        self._tables: list[OpenTable] = []

    # Events of the parser.

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        if self.depth > self._deepest:
            self._deepest = self.depth
        if self._skipping:
            self._skipping += 1
            return
        if tag in SKIPPED and not (tag == "title" and self._foreign):
            self._skipping = 1
            if tag == "title" and not self.title:
                self._title = []
            return
        if attributes and is_hidden(tag, attributes):
            if tag not in VOID:  # those have no content, and not every parser ends them
                self._skipping = 1
                if tag in BLOCKS and not self._pre:
                    self._boundary()
            return
        if tag in SET_APART:
            if not self._apart:
                self._apart_from = len(self._inline)
            self._apart += 1
        if tag == "br":
            self._inline.append("\n" if self._pre else _BREAK)
        elif tag == "img":
            self._inline.append(f" {attributes.get('alt') or ''} ")
        elif tag == "meta":
            if (attributes.get("name") or "").lower() == "generator":
                self.generator = (attributes.get("content") or "").strip()
        elif tag in ("svg", "math"):
            self._foreign += 1
        elif self._foreign and tag in DRAWING_TEXTS:
            self._inline.append(" ")
        elif tag in BLOCKS:
            self._start_block(tag, attributes)

    def end(self, tag: str) -> None:
        self.depth -= 1
        if self._skipping:
            self._skipping -= 1
            if not self._skipping and self._title is not None:
                self.title = _SPACES.sub(" ", "".join(self._title)).strip()
                self._title = None
            return
        if tag in SET_APART:
            self._apart -= 1
            if not self._apart:
                self._set_apart()
        if tag in ("svg", "math"):
            self._foreign -= 1
        elif tag in BLOCKS:
            self._end_block(tag)

    def data(self, text: str) -> None:
        if not self._skipping:
            self._inline.append(text)
            self._cell_length += len(text)
        elif self._title is not None:
            self._title.append(text)

    def close(self) -> HtmlText:
        self._boundary()
        return self

    def deepest(self) -> int:
        """How many elements were open at once since this was last asked."""
        deepest, self._deepest = self._deepest, self.depth
        return deepest

    # Blocks.

    def _start_block(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._pre:
            self._pre_line(tag, 1)
            return
        if self._in_cell and (
            tag in LAYOUT_SIGNS or (tag in ("p", "div") and self._cell_length > _LONG_CELL)
        ):
            self._table_is_layout()
        self._boundary()
        if tag in HEADINGS:
            self._heading = HEADINGS[tag]
        elif tag in PREFORMATTED:
            self._pre += 1
        elif tag in ("ul", "ol", "menu", "dir"):
            group = self._lists[0].group if self._lists else self.layout.new_group()
            self._lists.append(
                OpenList(tag == "ol", small_integer(attributes.get("start"), 1), group)
            )
        elif tag == "li":
            self._start_item(attributes)
        elif tag == "table":
            self._tables.append(OpenTable(self.layout.new_group()))
            self._items.append(None)  # text in a table's cells belongs to no item around it
        elif self._tables:
            self._start_part(tag, attributes, self._tables[-1])

    def _end_block(self, tag: str) -> None:
        if self._pre:
            self._pre_line(tag, -1)
            return
        self._boundary()
        if tag in HEADINGS:
            self._heading = 0
        elif tag in ("ul", "ol", "menu", "dir"):
            self._lists.pop()
        elif tag == "li":
            self._items.pop()
        elif tag == "table":
            self._end_row(self._tables.pop())
            self._items.pop()
        elif self._tables:
            self._end_part(tag, self._tables[-1])

    def _start_item(self, attributes: Mapping[str, str]) -> None:
        if not self._lists:  # <li> without a list
            self._items.append(OpenItem("- ", 0, self.layout.new_group()))
            return
        of = self._lists[-1]
        number = small_integer(attributes.get("value"), of.next_number)
        of.next_number = number + 1
        marker = f"{number}. " if of.ordered else "- "
        self._items.append(OpenItem(marker, len(self._lists) - 1, of.group))

    def _start_part(self, tag: str, attributes: Mapping[str, str], table: OpenTable) -> None:
        if tag == "tr":
            self._end_row(table)
            table.start_row()
        elif tag in ROW_GROUPS:
            table.end_spans()
            table.in_head = tag == "thead"
        elif tag in ("td", "th") and not table.layout:
            table.start_cell(attributes)
            self._cell_length = 0
            table.only_headers = table.only_headers and tag == "th"

    def _end_part(self, tag: str, table: OpenTable) -> None:
        if tag == "tr":
            self._end_row(table)
        elif tag in ROW_GROUPS:
            table.end_spans()
            table.in_head = False
        elif tag in ("td", "th") and table.in_cell:
            table.end_cell(self._take().replace("\n", " ").strip(_SPACE))

    def _end_row(self, table: OpenTable) -> None:
        if any(cell.strip() for cell in table.cells):
            header = table.in_head or (table.only_headers and not table.rows)
            line = " | ".join(table.cells)
            self.layout.add("header" if header else "row", line, group=table.group)
            table.rows += 1
        table.end_row()

    def _end_open_row(self) -> None:
        """Text between two cells: the cells before it come first."""
        if self._tables and self._tables[-1].cells:
            self._end_row(self._tables[-1])

    @property
    def _in_cell(self) -> bool:
        return bool(self._tables) and self._tables[-1].in_cell

    def _table_is_layout(self) -> None:
        table = self._tables[-1]
        table.layout = True
        table.in_cell = False
        self._end_row(table)

    # Text.

    def _boundary(self) -> None:
        """A block begins or ends here: what was collected is a block, or goes on in its cell."""
        if self._in_cell:
            self._inline.append(" ")
        else:
            self._flush()

    def _set_apart(self) -> None:
        """Spaces around the text of a drawing; one without text, an icon, leaves no trace."""
        start = min(self._apart_from, len(self._inline))  # a block inside took what was there
        if any(text.strip() for text in self._inline[start:]):
            self._inline.insert(start, " ")
            self._inline.append(" ")
        else:
            del self._inline[start:]

    def _pre_line(self, tag: str, step: int) -> None:
        """Inside <pre> a block is a line of its own, and only the outermost </pre> ends it."""
        if tag in PREFORMATTED:
            self._pre += step
        if self._pre:
            if self._inline and not self._inline[-1].endswith("\n"):
                self._inline.append("\n")
            return
        text = "".join(self._inline).removeprefix("\n").rstrip("\n")
        self._inline.clear()
        if text.strip():
            self._end_open_row()
            self.layout.add("code", text)

    def _take(self) -> str:
        """The collected text with white space collapsed as a browser does."""
        text = _SPACES.sub(" ", "".join(self._inline))
        self._inline.clear()
        return _BREAKS.sub("\n", text).strip(_SPACE)

    def _flush(self) -> None:
        if not self._inline:
            return
        text = self._take()
        if not text.strip():
            return
        self._end_open_row()
        if self._heading:
            self.layout.add("heading", text.replace("\n", " "), level=self._heading)
        elif self._items and (item := self._items[-1]) is not None:
            self._add_item(item, text)
        else:
            for paragraph in _EMPTY_LINES.split(text):
                if paragraph.strip():
                    self.layout.add("paragraph", paragraph.strip(_SPACE))

    def _add_item(self, item: OpenItem, text: str) -> None:
        indent = "  " * min(item.level, 32) + " " * (0 if item.marker else 2)
        lines = [line.strip(_SPACE) for line in text.split("\n") if line.strip()]
        hanging = "\n" + indent + " " * len(item.marker)
        self.layout.add(
            "item",
            item.marker + hanging.join(lines),
            level=item.level,
            group=item.group,
            indent=indent,
        )
        item.marker = ""  # a second paragraph of the item has none
