"""A table whose names give way before its figures: a number that is cut is another number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Column, Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType


class FittedTable(Table):
    """Without lines; columns of words are narrowed where there is no room, each cell on one line."""

    def __init__(self) -> None:
        super().__init__(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)

    def add_words(self, name: str, least: int | None = None) -> None:
        """A column that is cut where the table is wider than the screen, to no less than `least` cells."""
        self.add_column(name, no_wrap=False, overflow="ellipsis", min_width=least)

    def add_figures(self, name: str) -> None:
        """A column that is never cut as long as words can be."""
        self.add_column(name, justify="right", no_wrap=True, overflow="ellipsis")

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        fitted = (
            _on_one_line(cell, column) for cell, column in zip(cells, self.columns, strict=False)
        )
        super().add_row(*fitted, **options)


def _on_one_line(cell: RenderableType | None, column: Column) -> RenderableType | None:
    """Rich narrows those columns alone that may wrap: here the column may, and its cells do not."""
    if column.no_wrap or column.overflow != "ellipsis" or not isinstance(cell, str | Text):
        return cell
    shown = Text(cell) if isinstance(cell, str) else cell.copy()
    shown.no_wrap, shown.overflow = True, "ellipsis"
    return shown
