"""A watched run in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkwise.base.wording import number, points
from chunkwise.report.plain_text import one_line
from chunkwise.report.terminal.parts import LOWER, heading, indented, line, plain_table
from chunkwise.report.views.watch import WatchView, drift_lines

if TYPE_CHECKING:
    from rich.console import Console


def render_watch(view: WatchView, console: Console) -> None:
    """A row a metric, then alerts with all they say, then drift."""
    against = f" against run {view.reference}" if view.reference != view.run else ""
    heading(console, f"Run {view.run}{against}")
    for note in view.notes:
        line(console, one_line(note, 400))
    for metric, told in view.figures:
        line(console, f"{one_line(metric, 40)} {told}")
    if view.rows:
        table = plain_table("", "then", "now", "points", "95 % interval", "")
        table.columns[5].justify = "left"
        table.columns[5].no_wrap = False
        for figures, width in zip(table.columns[1:5], (5, 5, 6, 16), strict=True):
            figures.min_width = width  # a figure is never cut short
        for row in view.rows:
            own = row.figure
            down = f" {LOWER}" if own.is_lower_better else ""
            table.add_row(
                f"{one_line(row.metric, 40)}{down}", number(own.before), number(own.after), points(own.difference),
                f"{points(own.low)} to {points(own.high)}", row.verdict, style="bold red" if own.alarm else "",
            )  # fmt: skip
        console.print(table)
    for lines in view.lines:
        heading(console, one_line(lines[0], 300))
        for each in lines[1:]:
            indented(console, each.strip(), left=3 + len(each) - len(each.lstrip(" ")))
    for each in view.quiet:
        line(console, one_line(each, 300), "dim")
    drift = drift_lines(view.corpus, view.live)
    if drift:
        heading(console, "Drift")
        for each in drift:
            indented(console, each.strip(), left=6 if each.startswith("  ") else 3)
