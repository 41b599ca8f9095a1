"""What every terminal view is drawn with: bars, headings, lines, tables, intervals; text is shown as it is, never as
markup."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.table import Column, Table
from rich.text import Text

from chunkwise.base.wording import interval, score, thousands
from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from chunkwise.evaluation.results import Figure


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


_BLOCKS = "▏▎▍▌▋▊▉█"
LOWER = "↓"
"""Behind the name of a metric of which less is better."""
BAR = 24
_SCALE = 32
"""Cells of a line from 0 to 1, where there is room."""


def bar(share: float, width: int = BAR) -> str:
    """A bar as long as the share, to an eighth of a character."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    if not eighths and share > 0:
        eighths = 1
    return "█" * (eighths // 8) + (_BLOCKS[eighths % 8 - 1] if eighths % 8 else "")


def heading(console: Console, text: str) -> None:

    console.print()
    console.print(Text(text, style="bold"))


def line(console: Console, text: str, style: str = "", *, wrap: bool = True) -> None:
    from rich.padding import Padding

    # Text objects are shown as they are: no markup, no emoji codes, no highlighting.
    shown = Text(text, style=style, no_wrap=not wrap, overflow="fold" if wrap else "ellipsis")
    console.print(Padding(shown, (0, 0, 0, 2), expand=False))


def plain_table(*columns: str, left: int = 1) -> Table:
    """A table without lines; the first `left` columns hold words, which give way, the others figures."""
    table = FittedTable()
    for index, name in enumerate(columns):
        if index < left:
            table.add_words(f"  {name}" if index == 0 else name, 10 if index == 0 else None)
        else:
            table.add_figures(name)
    return table


def indented(console: Console, text: str, style: str = "", left: int = 8) -> None:
    """Text of several lines that all begin so far in."""
    from rich.padding import Padding

    console.print(Padding(Text(text, style), (0, 0, 0, left), expand=False))


def figure_table(console: Console) -> Table:
    """Name, mean, interval in figures, interval drawn, how many are scored."""
    table = plain_table("", "mean", "95% interval", "", "scored")
    table.columns[3].justify = "left"
    for column, width in ((1, 6), (2, 13), (3, _scale(console)), (4, 6)):
        table.columns[column].min_width = width
    return table


def add_row(
    table: Table,
    name: str,
    mean: str,
    figure: Figure,
    console: Console,
    worded: Callable[[float], str] = score,
) -> None:
    """One figure, its name cut where there is no room; `worded`: the ends of its interval."""
    drawn = _drawn(figure, _scale(console))
    label = one_line(name, max(console.width - _scale(console) - 38, 12))
    table.add_row(
        Text(f"  {label}"), mean, interval(figure.low, figure.high, worded), drawn, _scored(figure)
    )


def _scored(figure: Figure) -> str:
    """`27`, or `2 of 27` where the mean is not one of all."""
    return (
        f"{thousands(figure.scored)} of {thousands(figure.questions)}"
        if figure.unscored
        else thousands(figure.scored)
    )


def _scale(console: Console) -> int:
    """Cells that a line from 0 to 1 may take: names come first."""
    return max(8, min(_SCALE, console.width - 64))


def _drawn(figure: Figure, width: int) -> Text:
    """The interval on a line from 0 to 1, the mean marked on it."""

    if figure.mean is None or figure.low is None or figure.high is None:
        return Text("")
    at, low, high = (_cell(each, width) for each in (figure.mean, figure.low, figure.high))
    cells = ["·"] * width
    cells[low : high + 1] = "─" * (high - low + 1)
    cells[at] = "●"
    drawn = Text("".join(cells), "dim")
    drawn.stylize("not dim cyan", low, high + 1)
    return drawn


def _cell(share: float, width: int) -> int:
    # First held to the line: beyond it there are numbers that no integer holds.
    return min(int(min(max(0.0, share), 1.0) * width), width - 1)
