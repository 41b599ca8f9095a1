"""The house's look of a chart: colours are those of the page it stands in, so that it follows light and dark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chunkwise.report.plain_text import one_line

Spec = dict[str, Any]
"""A specification of Vega-Lite, or a part of one."""

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
    # Letters are measured in this one and drawn in that of the page, see `svg`.
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
