"""A report in a terminal: the verdict first, a table, then caveats; the rest with -v."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from chunkwise.report.draw_chart import chart_table
from chunkwise.report.format_values import format_estimate, format_value, sign_of
from chunkwise.report.report import (
    Badge,
    Chart,
    Code,
    Column,
    Estimate,
    KeyFigures,
    Next,
    Note,
    Part,
    Passage,
    Report,
    Section,
    Table,
    Value,
    Verdict,
)
from chunkwise.report.sanitize import harmless_text, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES = {"good": "green", "tie": "", "bad": "yellow", "": ""}
_WORDS = ("text", "code")
_LEAST = 10
"""Cells that a column of words keeps where a table is too wide."""


def print_report(report: Report, console: Console, *, verbose: bool = False) -> None:
    """Everything on at most the console's width; nothing a document says is obeyed by it."""
    _print(console, report.title, "bold")
    if report.subtitle:
        _print(console, report.subtitle, "dim")
    _parts(report.parts, console, verbose=verbose)


def terminal_text(report: Report, width: int = 110, *, verbose: bool = False) -> str:
    """What `print_report` prints, without colors."""
    from rich.console import Console

    out = io.StringIO()
    print_report(
        report,
        Console(file=out, width=width, color_system=None, legacy_windows=False),
        verbose=verbose,
    )
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n")


def _parts(parts: Iterable[Part], console: Console, *, verbose: bool) -> None:
    for part in parts:
        if verbose or not getattr(part, "detail", False):
            _part(part, console, verbose=verbose)


def _part(part: Part, console: Console, *, verbose: bool) -> None:
    match part:
        case Verdict():
            console.print()
            _print(console, f"{sign_of(part.level)} {part.text}".strip(), _STYLES[part.level])
        case Note():
            _print(console, f"! {part.text}" if part.is_warning else part.text, "yellow" if part.is_warning else "dim")
        case KeyFigures():
            console.print()
            _figures(part, console)
        case Table():
            _table(part, console, verbose=verbose)
        case Chart():
            _table(chart_table(part), console, verbose=verbose)
        case Passage():
            _passage(part, console)
        case Code():
            if part.title:
                _heading(console, part.title)
            for line in harmless_text(part.text).splitlines():
                _print(console, f"  {line}")
        case Section():
            _heading(console, part.title)
            if part.lead:
                _print(console, part.lead, "dim")
            _parts(part.parts, console, verbose=verbose)
        case Next():
            console.print()
            _print(console, f"Next  {part.command}", "cyan")


def _print(console: Console, text: str, style: str = "") -> None:
    from rich.text import Text

    # Text objects are shown as they are: no markup, no emoji codes, no highlighting.
    console.print(Text(one_line(text) if text.strip() == text else text, style, overflow="fold"))


def _heading(console: Console, text: str) -> None:
    console.print()
    _print(console, text, "bold")


def _figures(part: KeyFigures, console: Console) -> None:
    from rich.table import Table as Grid

    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for _ in range(3):
        grid.add_column(overflow="fold")
    for each in part.figures:
        grid.add_row(_cell(each.title, Column("")), _cell(each.value, Column("", each.kind)), _cell(each.note, Column("")))
    console.print(grid)


def _table(table: Table, console: Console, *, verbose: bool) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    if table.title:
        _heading(console, table.title)
    else:
        console.print()
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", show_header=any(each.title for each in table.columns))
    for at, column in enumerate(table.columns):
        is_words = column.kind in _WORDS
        # Rich narrows the columns alone that may wrap: words give way, figures never.
        grid.add_column(
            Text(one_line(column.title)), justify="left" if is_words else "right", no_wrap=not is_words,
            min_width=_LEAST if is_words and not at else None, overflow="ellipsis",
        )  # fmt: skip
    rows = table.rows if verbose else table.rows[: table.brief_rows]
    for row in rows:
        grid.add_row(*(_cell(value, column) for value, column in zip(row, table.columns, strict=True)))
    console.print(grid)
    if len(rows) < len(table.rows):
        _print(console, f"and {len(table.rows) - len(rows):,} more (-v)", "dim")


def _cell(value: Value, column: Column) -> Text:
    from rich.text import Text

    if isinstance(value, Estimate):
        mean, ends = format_estimate(value, column.kind)
        return Text.assemble(mean, (f" ({ends})", "dim")) if ends else Text(mean)
    style = _STYLES[value.level] if isinstance(value, Badge) else ""
    # On one line each, as figures are.
    return Text(one_line(format_value(value, column.kind)), style, no_wrap=True, overflow="ellipsis")


def _passage(part: Passage, console: Console) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if part.title or part.place:
        head = Text.assemble((one_line(part.title), "bold"), "  " if part.title else "", (one_line(part.place), "dim"))
        console.print(head)
    text = Text()
    for run in part.runs:
        text.append(harmless_text(run.text), {"": "", "cut": "yellow", "repeated": "dim"}.get(run.mark, "bold green"))
    console.print(Padding(text, (0, 0, 0, 2), expand=False))
