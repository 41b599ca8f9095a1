"""Differences as rows of a table: two figures, the difference, its interval drawn around zero, and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from chunkwise.evaluation.comparing.comparison import Difference
from chunkwise.report.plain_text import one_line
from chunkwise.stats.intervals import Interval

if TYPE_CHECKING:
    from rich.console import Console

_NARROWEST = 11
_WIDEST = 31
_LONGEST_NAME = 30
_GAP = "  "


class Row(NamedTuple):
    """What one line says."""

    name: str
    found: Difference
    p: str = ""
    words: str = ""
    strong: bool = False
    """Drawn to be seen first; the words say the same."""


def difference_bar(interval: Interval, reach: float, width: int) -> str:
    """The interval as a line around zero in the middle, the difference as a dot; `reach` is where it ends."""
    half = width // 2

    def at(value: float) -> int:
        return half + round(max(-1.0, min(value / reach, 1.0)) * half) if reach else half

    cells = [" "] * width
    cells[half] = "│"
    for cell in range(at(interval.low), at(interval.high) + 1):
        cells[cell] = "┼" if cell == half else "─"
    cells[at(interval.mean)] = "●"
    return "".join(cells)


def print_rows(console: Console, rows: Sequence[Row], heads: tuple[str, str]) -> None:
    """One line a row where they fit, else two; `heads`: what the two figures are called."""
    names = [one_line(row.name, _LONGEST_NAME) for row in rows]
    reach = max((_reach(row.found) for row in rows if _reach(row.found) <= 1), default=0.0)
    figures = [_figures(row) for row in rows]
    titles = (*heads, f"{heads[1]} - {heads[0]}")
    widths = [max(map(len, column)) for column in zip(titles, *figures, strict=True)]
    words = max(len(row.words) for row in rows)
    label, p = max(map(len, names)), max(len(row.p) for row in rows)
    fixed = label + sum(widths) + p + 2 * len(_GAP) * (3 + bool(p) + bool(words)) // 2
    one_line_each = 2 + fixed + len(_GAP) + words + _NARROWEST <= console.width
    taken = 2 + fixed + len(_GAP) + (words if one_line_each else -label)
    bar = max(_NARROWEST, min(_WIDEST, console.width - taken))
    bar -= 1 - bar % 2
    _head(console, titles, widths, label if one_line_each else 0, (reach, bar), p)
    for row, name, cells in zip(rows, names, figures, strict=True):
        # Figures beyond 1 are no shares and would leave the others no room.
        own = _reach(row.found)
        drawn = difference_bar(row.found.difference, own if own > 1 else reach, bar)
        numbers = _GAP.join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        style = "bold" if row.strong else ""
        if not one_line_each:
            _line(console, (f"  {name}", "bold"), (f"{_GAP}{row.words}", style))
            _line(console, (f"  {numbers}{_GAP}", ""), (drawn, "cyan"), (f"{_GAP}{row.p:>{p}}", ""))
            continue
        _line(
            console, (f"  {name:<{label}}{_GAP}{numbers}{_GAP}", ""), (drawn, "cyan"),
            (f"{_GAP}{row.p:>{p}}{_GAP if p else ''}", ""), (row.words, style),
        )  # fmt: skip


def number(value: float) -> str:
    """Three digits behind the point, fewer where there are many before it."""
    if abs(value) < 10:
        shown = f"{value:.3f}"
        return "0.000" if shown == "-0.000" else shown
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}"


def signed(value: float) -> str:
    """With its sign; what is shown as nothing has none."""
    shown = number(value)
    return f"+{shown}" if value > 0 and shown != "0.000" else shown


def _reach(found: Difference) -> float:
    return max(abs(end) for end in found.difference)


def _figures(row: Row) -> tuple[str, str, str]:
    found = row.found
    return number(found.first), number(found.second), signed(found.difference.mean)


def _head(
    console: Console,
    titles: Sequence[str],
    widths: Sequence[int],
    label: int,
    scale: tuple[float, int],
    p: int,
) -> None:
    reach, bar = scale
    numbers = _GAP.join(title.rjust(width) for title, width in zip(titles, widths, strict=True))
    half = bar // 2
    left, right = f"-{reach:.2f}", f"+{reach:.2f}"
    axis = f"{left:<{half}}0{right:>{half}}" if left != "-0.00" and len(left) < half else ""
    start = f"  {' ' * label}{_GAP}" if label else "  "
    _line(console, (f"{start}{numbers}{_GAP}{axis:<{bar}}{_GAP}{'p' if p else '':>{p}}", "dim"))


def _line(console: Console, *parts: tuple[str, str]) -> None:
    from rich.text import Text

    text = Text.assemble(*parts)
    text.rstrip()
    console.print(text, no_wrap=True, overflow="ellipsis", highlight=False)
