"""What every terminal view is drawn with: bars, headings, lines, tables, intervals; text is shown as it is, never as
markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkwise.base.wording import interval
from chunkwise.evaluation.results import Figure
from chunkwise.report.plain_text import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

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
    from rich.text import Text

    console.print()
    console.print(Text(text, style="bold"))


def line(console: Console, text: str, style: str = "", *, wrap: bool = True) -> None:
    from rich.padding import Padding
    from rich.text import Text

    # Text objects are shown as they are: no markup, no emoji codes, no highlighting.
    shown = Text(text, style=style, no_wrap=not wrap, overflow="fold" if wrap else "ellipsis")
    console.print(Padding(shown, (0, 0, 0, 2), expand=False))


def plain_table(*columns: str, left: int = 1) -> Table:
    """A table without lines; the first `left` columns hold words, which give way, the others figures."""
    from chunkwise.report.terminal.fitted_table import FittedTable

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
    from rich.text import Text

    console.print(Padding(Text(text, style), (0, 0, 0, left), expand=False))


def figure_table(console: Console) -> Table:
    """Name, mean, interval in figures, interval drawn, how many are scored."""
    table = plain_table("", "mean", "95 % interval", "", "scored")
    table.columns[3].justify = "left"
    for column, width in ((1, 6), (2, 13), (3, _scale(console)), (4, 6)):
        table.columns[column].min_width = width
    return table


def add_row(table: Table, name: str, mean: str, figure: Figure, console: Console) -> None:
    """One figure, its name cut where there is no room."""
    from rich.text import Text

    drawn = _drawn(figure, _scale(console))
    label = one_line(name, max(console.width - _scale(console) - 38, 12))
    table.add_row(
        Text(f"  {label}"), mean, interval(figure.low, figure.high), drawn, _scored(figure)
    )


def _scored(figure: Figure) -> str:
    """`27`, or `2 of 27` where the mean is not one of all."""
    return f"{figure.scored:,} of {figure.questions:,}" if figure.unscored else f"{figure.scored:,}"


def _scale(console: Console) -> int:
    """Cells that a line from 0 to 1 may take: names come first."""
    return max(8, min(_SCALE, console.width - 64))


def _drawn(figure: Figure, width: int) -> Text:
    """The interval on a line from 0 to 1, the mean marked on it."""
    from rich.text import Text

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
