"""How charts look: specifications of Vega-Lite in the page's own colours, so that they follow light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, NamedTuple

from chunkwise.evaluation.results import Json
from chunkwise.report.plain_text import one_line

Spec = dict[str, Any]
"""A specification of Vega-Lite, or a part of one."""

_WIDE, _HALF, _NARROW = 900, 480, 340


class ChartSize(NamedTuple):
    """What a chart is drawn for: so many pixels, on a telephone or not."""

    width: int
    narrow: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as two specifications of Vega-Lite, and the table that says the same."""

    caption: str
    """What the whole of it shows, for those who hear it."""
    wide: Mapping[str, Json]
    narrow: Mapping[str, Json]
    """For a telephone."""
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    table_caption: str = ""
    """Empty: as the chart's own."""
    is_half: bool = False
    """It stands beside another."""


def chart(
    draw: Callable[[ChartSize], Spec],
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    table_caption: str = "",
    is_half: bool = False,
) -> Chart:
    """A chart at both widths, and its table."""
    wide = ChartSize(_HALF if is_half else _WIDE, False)
    return Chart(
        caption, draw(wide), draw(ChartSize(_NARROW, True)), tuple(heads), tuple(tuple(row) for row in rows),
        table_caption, is_half,
    )  # fmt: skip


INK, SOFT, LINE, GRID, CARD = (f"var(--{name})" for name in ("ink", "soft", "line", "grid", "card"))
ACCENT, BAR, RAIL, MARK = (f"var(--{name})" for name in ("accent", "bar", "rail", "mark"))
CROWD = "var(--crowd)"
COLOURS = [f"var(--s{at})" for at in range(8)]
SHAPES = [
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
    "triangle-right",
    "triangle-left",
]
DASHES = [[1, 0], [7, 4], [3, 3], [10, 3, 2, 3], [1, 0], [7, 4], [3, 3], [10, 3, 2, 3]]
"""Each series has a shape of its own and most a dash: colour is never what tells them apart."""
_LETTERS = 12
CONFIG: Spec = {
    "background": None,
    # Letters are measured in this one and drawn in that of the page, see `drawing`.
    "font": "sans-serif",
    "padding": 2,
    "view": {"stroke": None},
    "axis": {
        "domain": False, "domainColor": LINE, "ticks": False, "grid": False, "gridColor": GRID, "labelColor": SOFT,
        "labelFontSize": _LETTERS, "labelPadding": 8, "labelAngle": 0, "labelLimit": 0, "titleLimit": 0,
        "titleColor": SOFT, "titleFontSize": _LETTERS, "titleFontWeight": "normal", "titlePadding": 10,
    },
    "axisQuantitative": {"grid": True},
    "legend": {
        "orient": "bottom", "direction": "vertical", "title": None, "labelColor": INK, "labelFontSize": _LETTERS,
        "labelLimit": 0, "labelOffset": 7, "symbolSize": 90, "symbolStrokeWidth": 0, "symbolOpacity": 1,
        "rowPadding": 7, "columnPadding": 70, "offset": 14,
    },
    "header": {
        "title": None, "labelAnchor": "start", "labelColor": INK, "labelFontSize": _LETTERS + 2,
        "labelFontWeight": 600, "labelPadding": 8, "labelLimit": 0,
    },
    "title": {"color": INK, "fontSize": _LETTERS + 2, "fontWeight": 600, "limit": 0},
    "text": {"fontSize": _LETTERS, "color": INK},
    "point": {"filled": True, "opacity": 1, "size": 95, "stroke": CARD, "strokeWidth": 1},
    "line": {"strokeWidth": 2.2, "aria": False},
    "rule": {"aria": False},
}  # fmt: skip
"""No frame, no ground, lines as faint as those of the tables. No limits of length: the engine fails where it cuts an
emoji in two, so names are cut before they come here."""


def above(title: str) -> Spec:
    """The name of an upright axis, lying above it where it is read first."""
    return {
        "title": title,
        "titleAngle": 0,
        "titleAlign": "left",
        "titleAnchor": "end",
        "titleX": -34,
        "titleY": -14,
    }


def row_key(at: int, name: str, most: int) -> str:
    """What tells a row from all others, its place, and below it the name an axis shows."""
    return f"{at}\n{one_line(name, most)}"


def rows_of(keys: Iterable[str]) -> Spec:
    """Rows under each other, named beside them."""
    # The font of a page may be wider than the one in which letters are measured.
    widest = max((len(key.split("\n", 1)[1]) for key in keys), default=0)
    name = "split(datum.label, '\\n')[1]"
    axis = {"title": None, "labelExpr": name, "minExtent": round(7.4 * widest) + 8}
    return {"field": "row", "type": "nominal", "sort": None, "axis": axis}


MOST_SERIES = len(COLOURS)
_LINES = 3


def series_key(at: int, name: str, letters: int) -> str:
    """What tells a series from all others, its place, and under it the lines a legend shows."""
    lines = wrap(one_line(name, _LINES * letters), letters) or ["none"]
    return "\n".join([f"{at}", *lines[:_LINES]])


def look(at: int) -> Spec:
    """What each row of a series carries for its lines: they stand in no legend, so no scale gives it to them."""
    return {"colour": COLOURS[at], "dash": DASHES[at]}


STROKE: Spec = {"field": "colour", "type": "nominal", "scale": None}
_DASH: Spec = {"field": "dash", "type": "nominal", "scale": None}


def lines_and_signs(keys: Sequence[str], y: Spec, room: ChartSize, **more: Spec) -> list[Spec]:
    """Two layers, curves and the points on them; `more` are encodings that both share."""
    curve = {"detail": {"field": "series"}, "stroke": STROKE, "strokeDash": _DASH}
    sign = {
        "fill": channel(keys, COLOURS, room),
        "shape": channel(keys, SHAPES, room),
        "description": {"field": "description"},
    }
    return [
        {"mark": "line", "encoding": {"y": y, **more, **curve}},
        {"mark": "point", "encoding": {"y": y, **more, **sign}},
    ]


def channel(keys: Sequence[str], looks: Sequence[object], room: ChartSize) -> Spec:
    """One look a series, in the order of `keys`; all such channels share one legend, which leaves the place out."""
    scale = {"type": "ordinal", "domain": list(keys), "range": list(looks[: len(keys)])}
    lines = "slice(split(datum.label, '\\n'), 1)"
    legend = {"labelExpr": lines, "columns": 1 if room.narrow else 2}
    return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}
