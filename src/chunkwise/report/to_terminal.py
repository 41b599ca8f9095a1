"""A report in a terminal: the verdict first, a table, then caveats; the rest with -v."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from chunkwise.base.wording import shortened
from chunkwise.report.draw_chart import chart_table
from chunkwise.report.format_values import format_parts, format_value, sign_of
from chunkwise.report.report import (
    Badge,
    Chart,
    Code,
    Column,
    Estimate,
    Excerpt,
    Headline,
    KeyFigures,
    Next,
    Note,
    Report,
    ReportPart,
    Section,
    Value,
    ValueTable,
)
from chunkwise.report.sanitize import harmless_text, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES = {"good": "green", "tie": "", "bad": "yellow", "": ""}
_WORDS = ("text", "code")
_LEAST, _LEAST_TITLE = 10, 24
"""Cells that a column of words keeps where a table is too wide, and a title beside a long place."""


def print_report(report: Report, console: Console, *, verbose: bool = False) -> None:
    """Everything on at most the console's width; nothing a document says is obeyed by it."""
    if report.title:
        _print(console, one_line(report.title), "bold")
    if report.subtitle:
        _print(console, one_line(report.subtitle), "dim")
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


def _parts(parts: Iterable[ReportPart], console: Console, *, verbose: bool) -> None:
    for part in parts:
        if verbose or not getattr(part, "detail", False):
            _part(part, console, verbose=verbose)


def _part(part: ReportPart, console: Console, *, verbose: bool) -> None:
    match part:
        case Headline():
            _print(
                console, one_line(f"{sign_of(part.level)} {part.text}").strip(), _STYLES[part.level]
            )
        case Note():
            text = one_line(part.text)
            _print(
                console,
                f"! {text}" if part.is_warning else text,
                "yellow" if part.is_warning else "dim",
            )
        case KeyFigures():
            console.print()
            _figures(part, console)
        case ValueTable():
            _table(part, console, verbose=verbose)
        case Chart():
            _table(chart_table(part), console, verbose=verbose)
        case Excerpt():
            _passage(part, console)
        case Code():
            if part.title:
                _heading(console, part.title)
            for line in harmless_text(part.text).splitlines():
                _print(console, f"  {line}")
        case Section():
            _heading(console, part.title)
            if part.lead:
                _print(console, one_line(part.lead), "dim")
            _parts(part.parts, console, verbose=verbose)
        case Next():
            _print(console, "Next  " + one_line(part.command), "cyan")


def _print(console: Console, text: str, style: str = "") -> None:
    from rich.text import Text

    # Text objects are shown as they are: no markup, no emoji codes, no highlighting.
    console.print(Text(text, style, overflow="fold"))


def _heading(console: Console, text: str) -> None:
    console.print()
    _print(console, one_line(text), "bold")


def _figures(part: KeyFigures, console: Console) -> None:
    from rich.table import Table as Grid

    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for _ in range(3):
        grid.add_column(overflow="fold")
    for figure in part.figures:
        grid.add_row(
            _cell(figure.title, Column("")),
            _cell(figure.value, Column("", figure.kind)),
            _cell(figure.note, Column("")),
        )
    console.print(grid)


def _table(table: ValueTable, console: Console, *, verbose: bool) -> None:
    """Titled in the head of its first column; words give way where it is too wide, figures never."""
    from rich.table import Table as Grid
    from rich.text import Text

    console.print()
    kept = [at for at, column in enumerate(table.columns) if not column.detail]
    columns = [table.columns[at] for at in kept]
    rows = table.rows if verbose else table.rows[: table.brief_rows]
    title = one_line(table.title)
    if len(rows) < len(table.rows):
        title = title or one_line(columns[0].title)
        title += f" ({len(rows)} of {len(table.rows):,})"
    is_words = [column.kind in _WORDS for column in columns]
    if title and not is_words[0]:
        _print(console, title, "bold")
        title = ""
    grid = Grid(
        box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim",
        show_header=bool(title) or any(column.title for column in columns),
    )  # fmt: skip
    for at, column in enumerate(columns):
        head = Text(title, "bold not dim") if title and not at else Text(one_line(column.title))
        # Rich narrows the columns alone that may wrap.
        grid.add_column(
            head, justify="left" if is_words[at] else "right", no_wrap=not is_words[at],
            min_width=_LEAST if is_words[at] and not at else None, overflow="ellipsis",
        )  # fmt: skip
    for row in rows:
        grid.add_row(*(_cell(row[at], table.columns[at]) for at in kept))
    console.print(grid)


def _cell(value: Value, column: Column) -> Text:
    from rich.text import Text

    if isinstance(value, Estimate):
        mean, ends = format_parts(value, column.kind)
        return Text.assemble(mean, (f" ({ends})", "dim")) if ends else Text(mean)
    style = _STYLES[value.level] if isinstance(value, Badge) else ""
    # On one line each, as figures are.
    return Text(
        one_line(format_value(value, column.kind)), style, no_wrap=True, overflow="ellipsis"
    )


def _passage(part: Excerpt, console: Console) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if part.title or part.place:
        place = Text(one_line(part.place), "dim")
        # The title gives way: a place is there to be cited.
        room = max(console.width - place.cell_len - 2, _LEAST_TITLE)
        title = Text(shortened(one_line(part.title), room), "bold")
        console.print(Text.assemble(title, "  " if part.title else "", place))
    text = Text()
    for run in part.runs:
        text.append(
            harmless_text(run.text),
            {"": "", "cut": "yellow", "repeated": "dim"}.get(run.mark, "bold green"),
        )
    console.print(Padding(text, (0, 0, 0, 2), expand=False))
