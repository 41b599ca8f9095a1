"""A table while it is being read: cells at the places they cover, and whether it only arranges the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chunkwise.documents.formats.block_builder import small_integer
from chunkwise.documents.formats.html.elements import HEADINGS, PREFORMATTED
from chunkwise.documents.formats.html.linked_text import LinkedPart

_WIDEST = 100
"""Columns to which spans are kept: a page may claim a million, each a cell in every row below."""
_TO_THE_END = 65_534
_ONE = (1, 1)
_LAYOUT_SIGNS = frozenset({"table", "article", "section", "main"}) | set(HEADINGS) | PREFORMATTED
"""What a cell of data does not hold."""
_LONG_CELL = 1000


def only_arranges(tag: str, cell_length: int) -> bool:
    """Whether a table is only layout: this block begins in a cell of so many characters, as in no table of data."""
    return tag in _LAYOUT_SIGNS or (tag in ("p", "div") and cell_length > _LONG_CELL)


@dataclass(slots=True)
class OpenTable:
    group: int
    layout: bool = False
    in_head: bool = False
    in_cell: bool = False
    only_headers: bool = True
    rows: int = 0
    cells: list[str] = field(default_factory=list)
    links: dict[int, Sequence[LinkedPart]] = field(default_factory=dict)
    """Of the cells of the row, by their place in it."""
    _row: int = 0
    _next: int = 0
    """Column in which the next cell stands, if no cell above takes it."""
    _span: tuple[int, int] = _ONE
    _taken: dict[int, int] = field(default_factory=dict)
    """By column, the last row a cell above it reaches."""

    def start_cell(self, attributes: Mapping[str, str]) -> None:
        self.in_cell = True
        self._span = _ONE
        if attributes:
            # 0 rows are all that follow.
            rows = small_integer(attributes.get("rowspan"), 1) or _TO_THE_END
            self._span = small_integer(attributes.get("colspan"), 1) or 1, rows

    def end_cell(self, text: str, links: Sequence[LinkedPart]) -> None:
        """Add the cell in its column; the columns that other cells take before it stay empty."""
        self._place(text)
        if links:
            self.links[len(self.cells) - 1] = links

    def _place(self, text: str) -> None:
        self.in_cell = False
        if not self._taken and self._span == _ONE and self._next == len(self.cells):
            self.cells.append(text)
            self._next += 1
            return
        column, (columns, rows) = self._next, self._span
        while self._taken.get(column, -1) >= self._row:
            column += 1
        self.cells += [""] * (column - len(self.cells))
        self.cells.append(text)
        self._next = max(column + 1, min(column + columns, _WIDEST))
        if rows > 1:
            reach = dict.fromkeys(range(column, min(self._next, _WIDEST)), self._row + rows - 1)
            self._taken.update(reach)

    def start_row(self) -> None:
        self._row += 1

    def end_row(self) -> None:
        self.cells = []
        self.links = {}
        self.only_headers = True
        self._next = 0

    def end_spans(self) -> None:
        """A head, body or foot of a table begins or ends: no cell reaches over it."""
        self._taken.clear()
