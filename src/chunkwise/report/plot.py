"""Curves and dots as inline SVG: widths follow the screen, letters and lines keep their size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from chunkwise.report.page_text import attribute
from chunkwise.report.scale import Scale

_TOP = 10
_FOOT = 26
_DODGE = 7
"""Pixels between the intervals of two curves at one place."""
_SHAPES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M-4.5-4.5h9v9h-9z",
    "M0-6.2l6.2 6.2l-6.2 6.2l-6.2-6.2z",
    "M0-5.6l5.6 9.8h-11.2z",
    "M0 5.6l5.6-9.8h-11.2z",
    "M-6-2h4v-4h4v4h4v4h-4v4h-4v-4h-4z",
    "M-6-3h12v6h-12z",
    "M-3-6h6v12h-6z",
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
)
"""Each series has one of its own: colour is never what tells them apart."""
CROWD = 8
"""The look of the many that are not named."""


class Point(NamedTuple):
    """`x` is a share of the width; the ends of an interval may be missing."""

    x: float
    y: float
    low: float | None
    high: float | None
    told: str


class Series(NamedTuple):
    """Points of one look (0 to 8), from the left; `joined` by a line."""

    name: str
    look: int
    points: Sequence[Point]
    joined: bool = True
    apart: bool = True
    """Moved a little to the side, so that intervals at one place can be told from each other."""


class Tick(NamedTuple):
    """A place on the axis below."""

    x: float
    label: str


def plot(
    series: Sequence[Series],
    ticks: Sequence[Tick],
    scale: Scale,
    told: str,
    *,
    height: int = 260,
    under: str = "",
    over: str = "",
    named: Callable[[float], str] = "{:g}".format,
) -> str:
    """A chart with its axes; `under` and `over` are SVG drawn before and after the series."""
    inner = "".join(_rule(tick, scale, height, named) for tick in scale.ticks)
    for x, label in ticks:
        inner += f'<text class="middle" x="{_percent(x)}" y="{_TOP + height + 20}">{attribute(label, 24)}</text>'
    inner += under
    moved = [each for each in series if each.apart]
    for each in series:
        by = _DODGE * (moved.index(each) - (len(moved) - 1) / 2) if each.apart else 0.0
        inner += _drawn(each, scale, height, by)
    said = attribute(told, 400)
    return (
        f'<div class="plot"><svg class="line" height="{_TOP + height + _FOOT}" role="img" aria-label="{said}">'
        f"{inner}{over}</svg></div>"
    )


def y_at(value: float, scale: Scale, height: int) -> float:
    """Pixels from the top of a chart."""
    return round(_TOP + height * (1 - scale.share(value)), 1)


def mark(look: int) -> str:
    """The sign of a series, around the origin."""
    return f'<path class="sign" d="{_SHAPES[look]}"/>'


def legend(series: Sequence[tuple[int, str, bool]]) -> str:
    """Looks with their names, which are HTML; a line through the sign where points are joined."""
    line = '<path class="curve" d="M0 7h30"/>'
    items = "".join(
        f'<li><svg class="sample s{look}" width="30" height="14" aria-hidden="true">{line if joined else ""}'
        f'<g transform="translate(15 7)">{mark(look)}</g></svg><span>{name}</span></li>'
        for look, name, joined in series
    )
    return f'<ul class="legend">{items}</ul>'


def as_table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The numbers of a chart, behind a click; cells are HTML."""
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{each}</th>' for each in heads)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return (
        f'<details class="numbers"><summary>As a table</summary><div class="wide-table"><table class="plain">'
        f"<caption>{attribute(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        "</div></details>"
    )


def _drawn(series: Series, scale: Scale, height: int, by: float) -> str:
    line = ""
    if series.joined and len(series.points) > 1:
        path = " ".join(
            f"{1000 * point.x:.4g},{y_at(point.y, scale, height):g}" for point in series.points
        )
        full = _TOP + height
        # Stretched to the width of the screen, which its stroke is not.
        line = (
            f'<svg width="100%" height="{full}" viewBox="0 0 1000 {full}" preserveAspectRatio="none">'
            f'<polyline class="curve" points="{path}"/></svg>'
        )
    points = "".join(_point(point, series.look, scale, height) for point in series.points)
    return f'<g class="s{series.look}" transform="translate({by:g} 0)">{line}{points}</g>'


def _point(point: Point, look: int, scale: Scale, height: int) -> str:
    y = y_at(point.y, scale, height)
    whisker = ""
    if point.low is not None and point.high is not None:
        low, high = y_at(point.low, scale, height), y_at(point.high, scale, height)
        whisker = f'<path class="whisker" d="M0 {low:g}V{high:g}M-3 {low:g}h6M-3 {high:g}h6"/>'
    return (
        f'<svg x="{_percent(point.x)}" width="1" height="1"><title>{attribute(point.told, 300)}</title>{whisker}'
        f'<g transform="translate(0 {y:g})">{mark(look)}</g></svg>'
    )


def _rule(tick: float, scale: Scale, height: int, named: Callable[[float], str]) -> str:
    y = y_at(tick, scale, height)
    return (
        f'<line class="rule" x1="0" x2="100%" y1="{y:g}" y2="{y:g}"/>'
        f'<text class="last" x="-9" y="{y + 4:g}">{named(tick)}</text>'
    )


def _percent(share: float) -> str:
    return f"{100 * share:.4g}%"
