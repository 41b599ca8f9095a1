"""Differences under each other, around the line of no difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chunkwise.report.page_text import attribute
from chunkwise.report.scale import Scale, scale_of

_ROOM = 0.25
"""Of the axis: what the name of a side needs."""


class Difference(NamedTuple):
    """`name`, `hint` and `words` are HTML."""

    name: str
    hint: str
    value: float
    low: float
    high: float
    words: str
    told: str


def forest(rows: Sequence[Difference], caption: str, first: str, left: str, right: str) -> str:
    """One table; `left` and `right` say what the two sides of the line mean."""
    if not rows:
        return ""
    scale = scale_of((end for row in rows for end in (row.value, row.low, row.high)), 6, zero=True)
    ticks = "".join(
        f'<text x="{scale.at(tick)}" y="29" class="middle">{signed(tick)}</text>'
        for tick in scale.ticks
    )
    zero = scale.share(0)
    # Only over its own side, and where that has room for it.
    sides = f'<text x="0" y="11">← {attribute(left)}</text>' if left and zero >= _ROOM else ""
    if 1 - zero >= _ROOM:
        sides += f'<text x="100%" y="11" class="last">{attribute(right)} →</text>'
    body = "".join(_row(row, scale) for row in rows)
    heads = "".join(
        f'<th role="columnheader" scope="col">{each}</th>'
        for each in ("points", "95 % interval", "")
    )
    # Rows are laid out anew on narrow screens, which would take the roles of the elements away.
    return (
        f'<table class="forest" role="table"><caption>{attribute(caption)}</caption><thead role="rowgroup">'
        f'<tr role="row"><th role="columnheader" scope="col">{attribute(first)}</th>'
        f'<th role="columnheader" scope="col" class="scale"><svg class="line" height="32" role="img"'
        f' aria-label="Points of difference: {attribute(left)}, {attribute(right)}">{sides}{ticks}</svg></th>'
        f'{heads}</tr></thead><tbody role="rowgroup">{body}</tbody></table>'
    )


def signed(difference: float) -> str:
    """In points of a hundred, with its sign; a true minus."""
    points = round(100 * difference, 1)
    text = f"{abs(points):g}" if points == round(points) else f"{abs(points):.1f}"
    return ("+" if points > 0 else "−" if points < 0 else "") + text


def _row(row: Difference, scale: Scale) -> str:
    zero = scale.at(0)
    sure = f"{signed(row.low)} to {signed(row.high)}"
    told = attribute(f"{row.told}: {signed(row.value)} points, 95 % interval {sure}", 300)
    drawn = (
        f'<line class="zero-line" x1="{zero}" x2="{zero}" y1="-6" y2="32"/>'
        f'<line class="between" x1="{scale.at(row.low)}" x2="{scale.at(row.high)}" y1="13" y2="13"/>'
        f'<circle class="dot" cx="{scale.at(row.value)}" cy="13" r="6"/>'
    )
    hint = f"<small>{row.hint}</small>" if row.hint else ""
    return (
        f'<tr role="row"><th role="rowheader" scope="row"><span>{row.name}</span>{hint}</th>'
        f'<td role="cell" class="drawn"><svg class="line" height="26" role="img" aria-label="{told}">'
        f"<title>{told}</title>{drawn}</svg></td>"
        f'<td role="cell" class="mean">{signed(row.value)}</td><td role="cell" class="sure">{sure}</td>'
        f'<td role="cell" class="word">{row.words}</td></tr>'
    )
