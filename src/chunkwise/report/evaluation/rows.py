"""Figures under each other: their intervals on one scale, the numbers beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from chunkwise.base.wording import counted, percent
from chunkwise.evaluation.results import Figure
from chunkwise.report.evaluation.interval_rows import joined
from chunkwise.report.evaluation.marks import axis
from chunkwise.report.page_text import attribute, breakable

_HEADS = ("mean", "95 % interval", "questions")


class Row(NamedTuple):
    """One figure; `name` and `hint` are HTML already."""

    name: str
    hint: str
    figure: Figure
    told: str
    """What a chart says to those who hover over it, or hear it."""
    number: str


Draw = Callable[[Figure, str], str]


def figures_table(groups: Mapping[str, Sequence[Row]], draw: Draw, caption: str, first: str) -> str:
    """One table; groups without a name have no line of their own."""
    heads = "".join(f'<th role="columnheader" scope="col">{head}</th>' for head in _HEADS)
    bodies = "".join(_group(name, rows, draw) for name, rows in groups.items() if rows)
    # Rows are laid out anew on narrow screens, which would take the roles of the elements away.
    return (
        f'<table class="figures" role="table"><caption>{attribute(caption)}</caption>'
        f'<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">{attribute(first)}</th>'
        f'<th role="columnheader" scope="col" class="scale">{axis()}</th>{heads}</tr></thead>{bodies}</table>'
    )


def row_of(name: str, figure: Figure, hint: str = "", shown: str = "") -> Row:
    """Of a metric by its name, or of a group of questions: then `shown` is what stands in the table."""
    number = value_text(name, figure.mean)
    told = f"{name}: {number}"
    if figure.low is not None:
        told += f", 95 % interval {between(name, figure)}"
    if figure.scored:
        told += f", {counted(figure.scored, 'question')}"
    return Row(shown or breakable(name), hint, figure, told, number)


def value_text(name: str, value: float | None) -> str:
    """A figure as it is read: a share of chunks in per cent, everything else with three digits."""
    if value is None:
        return "unscored"
    return percent(value) if name == "boundary_issues" else f"{value:.3f}"


def between(name: str, figure: Figure) -> str:
    """The interval in words; empty where there is none."""
    if figure.low is None or figure.high is None:
        return ""
    return joined(value_text(name, figure.low), value_text(name, figure.high))


def why_unscored(figure: Figure) -> str:
    """Every reason with its number of questions, the most common first."""
    reasons = sorted(figure.unscored.items(), key=lambda item: (-item[1], item[0]))
    return "; ".join(f"{count:,} unscored: {reason}" for reason, count in reasons)


def _group(name: str, rows: Sequence[Row], draw: Draw) -> str:
    head = (
        f'<tr role="row" class="group"><th role="rowheader" scope="rowgroup" colspan="5">{attribute(name)}</th></tr>'
        if name
        else ""
    )
    return f'<tbody role="rowgroup">{head}{"".join(_row(row, draw) for row in rows)}</tbody>'


def _row(row: Row, draw: Draw) -> str:
    figure = row.figure
    hint = f"<small>{row.hint}</small>" if row.hint else ""
    missing = why_unscored(figure)
    drawn = draw(figure, row.told)
    if missing:
        drawn += f"<small>{attribute(missing, 200)}</small>"
    asked = figure.scored + sum(figure.unscored.values())
    scored = f"{figure.scored:,}" + (f" of {asked:,}" if figure.unscored else "")
    return (
        f'<tr role="row"><th role="rowheader" scope="row"><span>{row.name}</span>{hint}</th>'
        f'<td role="cell" class="drawn">{drawn}</td><td role="cell" class="mean">{row.number}</td>'
        f'<td role="cell" class="between">{between("", figure)}</td>'
        f'<td role="cell" class="asked">{scored if asked else ""}</td></tr>'
    )
