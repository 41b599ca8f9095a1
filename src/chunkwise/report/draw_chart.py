"""Charts of a report as SVG, each with the table of its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from chunkwise.base.wording import format_number
from chunkwise.report.format_values import format_value
from chunkwise.report.report import Chart, Column, Point, Series, Value, ValueTable
from chunkwise.report.sanitize import one_line
from chunkwise.report.svg import (
    ACCENT,
    BAR,
    CARD,
    CROWD,
    LETTER,
    MOST_SERIES,
    SOFT,
    Drawing,
    Look,
    Panel,
    Scale,
    label_room,
    rows_panel,
    scale_of,
    series_look,
    span,
)

_WIDE, _HALF, _NARROW = 900, 480, 340
_LABEL = 15
"""Pixels that a label needs."""
_LEVELS = {
    "good": Look(ACCENT, stroke=ACCENT),
    "tie": Look(CARD, stroke=ACCENT),
    "bad": Look("var(--mark)"),
}


def draw_chart(chart: Chart) -> str:
    """The chart as HTML: at two widths, since letters shrink with a drawing."""
    svg = ""
    for drawing in (
        Drawing(_HALF if chart.is_half else _WIDE, narrow=False),
        Drawing(_NARROW, narrow=True),
    ):
        _SHAPES[chart.shape](chart, drawing)
        svg += drawing.svg(chart.title or chart.y.title)
    return f'<figure class="chart{" half" if chart.is_half else ""}">{svg}</figure>'


def chart_table(chart: Chart) -> ValueTable:
    """The numbers of a chart, but for the crowd behind them."""
    if chart.links:
        heads = (Column(chart.x.title), Column("with"), Column(chart.y.title, chart.y.kind))
        links = tuple((link.one, link.other, link.value) for link in chart.links)
        return ValueTable(heads, links, chart.title, detail=True)
    shown = [series for series in chart.series if not series.is_faint]
    are_named = len(shown) > 1
    named = [point for series in shown for point in series.points if point.label]
    columns = [
        *([Column("series")] if are_named else []),
        *([Column("name")] if named else []),
        Column(chart.x.title, chart.x.kind),
        Column(chart.y.title, chart.y.kind),
    ]
    rows: list[tuple[Value, ...]] = []
    for series in shown:
        for point in series.points:
            rows.append(
                (
                    *([series.name] if are_named else []),
                    *([point.label] if named else []),
                    point.x,
                    point.y,
                )
            )
    return ValueTable(tuple(columns), tuple(rows), chart.title, detail=True)


def _known(chart: Chart) -> list[Point]:
    return [
        point for series in chart.series for point in series.points if point.y.value is not None
    ]


def _ends(points: Iterable[Point]) -> list[float | None]:
    return [end for point in points for end in (point.y.value, point.y.low, point.y.high)]


def _categories(chart: Chart) -> list[str]:
    return list(dict.fromkeys(str(point.x) for series in chart.series for point in series.points))


def _looks(chart: Chart) -> list[Look]:
    """One for each series; those behind the last color share its look."""
    looks = [series_look(min(at, MOST_SERIES - 1)) for at in range(len(chart.series))]
    return [
        Look(CROWD, radius=2.5) if series.is_faint else look
        for series, look in zip(chart.series, looks, strict=True)
    ]


def _ticks(scale: Scale, kind: str) -> list[tuple[float, str]]:
    """Ticks as the values are written: shares per cent, differences in points."""
    if kind not in ("score", "share", "change"):
        return list(scale.labels())
    hundred = Scale(
        100 * scale.low, 100 * scale.high, tuple(round(100 * tick, 9) for tick in scale.ticks)
    )
    unit = "" if kind == "change" else "%"
    return [
        (tick, f"{text}{unit}")
        for tick, (_, text) in zip(scale.ticks, hundred.labels(), strict=True)
    ]


def _hint(chart: Chart, series: Series, point: Point) -> str:
    where = point.label or (
        point.x if isinstance(point.x, str) else format_number(point.x, chart.x.kind)
    )
    named = f"{series.name}, {where}" if len(chart.series) > 1 and series.name != where else where
    return f"{named}: {format_value(point.y, chart.y.kind)}"


def _legend(chart: Chart, drawing: Drawing, looks: Sequence[Look]) -> None:
    if len(chart.series) > 1:
        drawing.legend(
            [
                (series.name, look)
                for series, look in zip(chart.series, looks, strict=True)
                if series.name
            ]
        )


def _columns(chart: Chart, drawing: Drawing) -> None:
    names = _categories(chart)
    values = {str(point.x): point for point in _known(chart)}
    most = max((point.y.value or 0.0 for point in values.values()), default=1.0)
    panel = Panel(drawing, 4, 20, drawing.width - 8, 130, span(0, len(names)), span(0, most or 1))
    panel.x_axis([(at + 0.5, name) for at, name in enumerate(names)], chart.x.title, base=True)
    series = chart.series[0]
    for at, name in enumerate(names):
        point = values.get(name)
        if point is None or point.y.value is None:
            continue
        left, top = panel.x(at + 0.06), panel.y(point.y.value)
        width = panel.x(at + 0.94) - left
        fill = {"bad": "var(--zero)", "tie": "var(--part)"}.get(point.level, BAR)
        drawing.bar(left, top, width, panel.bottom - top, fill, _hint(chart, series, point))
        text = format_number(point.y.value, chart.y.kind)
        if chart.y.kind == "count" and LETTER * len(text) > width:
            text = format_number(point.y.value, "count")
        drawing.text(left + width / 2, top - 6, text, anchor="middle")


def _rows(chart: Chart, drawing: Drawing) -> None:
    points = _known(chart)
    is_change = chart.y.kind == "change"
    scale = scale_of(_ends(points), 5 if drawing.narrow or chart.is_half else 10, zero=is_change)
    names = [str(point.x) for point in points]
    panel = rows_panel(drawing, names, 20 if drawing.narrow else 36, 30, scale)
    panel.x_axis(_ticks(scale, chart.y.kind), chart.y.title, grid=True)
    if is_change:
        drawing.line(panel.x(0), panel.top, panel.x(0), panel.bottom, SOFT)
    at = 0
    for series in chart.series:
        for point in series.points:
            if point.y.value is None:
                continue
            y = panel.y(-at - 0.5)
            if point.y.low is not None and point.y.high is not None:
                drawing.line(panel.x(point.y.low), y, panel.x(point.y.high), y, ACCENT, 2)
            look = _LEVELS.get(point.level, _LEVELS["good"])
            drawing.sign(panel.x(point.y.value), y, look, _hint(chart, series, point))
            at += 1


def _network(chart: Chart, drawing: Drawing) -> None:
    from chunkwise.report.draw_network import draw_network

    draw_network(chart, drawing)


def _places(chart: Chart) -> tuple[Scale, dict[str, float], list[tuple[float, str]]]:
    """The scale of x, where each category stands on it, and its labels."""
    points = _known(chart)
    if any(isinstance(point.x, str) for point in points):
        names = _categories(chart)
        return (
            span(0, len(names)),
            {name: at + 0.5 for at, name in enumerate(names)},
            [(at + 0.5, name) for at, name in enumerate(names)],
        )
    scale = scale_of(point.x for point in points if not isinstance(point.x, str))
    return scale, {}, _ticks(scale, chart.x.kind)


def _over_numbers(chart: Chart, drawing: Drawing) -> None:
    """Lines and points: marks at their places, with intervals where they are joined."""
    x, place_of, labels = _places(chart)
    y = scale_of(_ends(_known(chart)), 6)
    left = label_room(y) + (LETTER if chart.y.kind in ("score", "share") else 0)
    height = 240 if drawing.narrow or chart.is_half else 320
    panel = Panel(drawing, left, 30, drawing.width - left - 16, height, x, y)
    panel.y_axis(chart.y.title, _ticks(y, chart.y.kind))
    panel.x_axis(labels, chart.x.title)
    looks = _looks(chart)
    named: list[tuple[float, float, str]] = []
    with_intervals = sum(
        any(point.y.low is not None for point in item.points) for item in chart.series
    )
    for at, (series, look) in enumerate(zip(chart.series, looks, strict=True)):
        # Beside each other, so that the intervals at one category can be told apart.
        beside = (
            0.4 * ((at + 0.5) / len(chart.series) - 0.5) if place_of and with_intervals > 1 else 0.0
        )
        places = []
        for point in series.points:
            if point.y.value is None or (isinstance(point.x, float) and not math.isfinite(point.x)):
                continue
            across = panel.x((place_of[point.x] if isinstance(point.x, str) else point.x) + beside)
            up = panel.y(point.y.value)
            if point.y.low is not None and point.y.high is not None:
                drawing.line(across, panel.y(point.y.low), across, panel.y(point.y.high), look.fill)
            places.append((across, up, _hint(chart, series, point)))
            if point.label and not series.is_faint:
                named.append((across, up, point.label))
        if series.is_line:
            drawing.curve([(across, up) for across, up, _ in places], look.fill, dash=look.dash)
        for across, up, hint in places:
            drawing.sign(across, up, look, hint)
    _label(panel, named)
    _legend(chart, drawing, looks)


def _label(panel: Panel, places: list[tuple[float, float, str]]) -> None:
    """Beside their points, moved apart where they would lie on each other, on a ground that keeps them readable."""
    last = -math.inf
    for x, y, label in sorted(places, key=lambda place: place[1]):
        last = y = max(y - 9, last + _LABEL)
        share = (x - panel.left) / panel.width
        letters = max(round((panel.width * max(share, 1 - share) - 10) / LETTER), 4)
        anchor, beside = ("end", -10) if share > 0.5 else ("start", 10)
        panel.drawing.text(
            x + beside, y + 4, one_line(label, letters), anchor=anchor, bold=True, halo=True
        )


_SHAPES = {
    "columns": _columns,
    "rows": _rows,
    "lines": _over_numbers,
    "points": _over_numbers,
    "network": _network,
}
