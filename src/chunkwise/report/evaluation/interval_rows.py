"""Figures in a terminal as rows: each with its interval on a line from 0 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkwise.evaluation.results import Figure
from chunkwise.report.plain_text import one_line
from chunkwise.report.terminal_parts import plain_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_SCALE = 32


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
    table.add_row(Text(f"  {label}"), mean, between(figure), drawn, f"{figure.scored:,}")


def _scale(console: Console) -> int:
    """Cells that a line from 0 to 1 may take: names come first."""
    return max(8, min(_SCALE, console.width - 64))


def between(figure: Figure) -> str:
    """The interval in figures; in words where a minus would stand beside the dash."""
    if figure.low is None or figure.high is None:
        return ""
    return joined(f"{figure.low:.3f}", f"{figure.high:.3f}")


def joined(low: str, high: str) -> str:
    """`0.1–0.2`, but `-0.1 to 0.2`."""
    return f"{low} to {high}" if "-" in low + high else f"{low}–{high}"


def _drawn(figure: Figure, width: int) -> Text:
    """The interval on a line from 0 to 1, the mean marked on it."""
    from rich.text import Text

    if figure.mean is None or figure.low is None or figure.high is None:
        return Text("")
    at, low, high = (_place(each, width) for each in (figure.mean, figure.low, figure.high))
    cells = ["·"] * width
    cells[low : high + 1] = "─" * (high - low + 1)
    cells[at] = "●"
    drawn = Text("".join(cells), "dim")
    drawn.stylize("not dim cyan", low, high + 1)
    return drawn


def _place(share: float, width: int) -> int:
    return min(max(int(share * width), 0), width - 1)
