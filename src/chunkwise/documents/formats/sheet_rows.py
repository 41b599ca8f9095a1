"""The cells of a sheet as tables: empty rows part them, empty columns are left out."""

from __future__ import annotations

from collections.abc import Mapping

from chunkwise.documents.formats.block_text import Layout

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
