"""Charts of the pages: said in Vega-Lite, drawn into the page as SVG: only shapes and words, each with its meaning."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from textwrap import wrap
from typing import Any, NamedTuple

# Only ever given what the library wrote, in which all that is anybody's text is escaped.
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from chunkwise.base.errors import MissingExtra
from chunkwise.evaluation.results import Json
from chunkwise.report.sanitize import one_line

_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`, which are ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high one; never beyond them."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def at(self, value: float) -> str:
        """The same as a percentage, for an attribute."""
        return f"{100 * self.share(value):.4g}%"


def scale_of(values: Iterable[float | None], most: int = 5, *, zero: bool = False) -> Scale:
    """Ends around all values that are numbers, at most `most` steps between them; `zero` is always on it."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    known += [0.0] if zero or not known else []
    low, high = min(known), max(known)
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    rough = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    # Ends that are ticks may need one step more than lies between the values.
    step = next(unit * each for each in _STEPS if unit * each >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(number * step, 12) for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


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


_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SHOWN = {"svg", "g", "path", "line", "rect", "text", "tspan"}
_KEPT = {
    "viewBox", "width", "height", "transform", "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "rx", "ry",
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linejoin",
    "stroke-linecap", "opacity", "font-size", "font-weight", "text-anchor",
}  # fmt: skip
"""Letters are in the page's own font; names, roles and everything that could do something stay behind."""
_USUAL = {"opacity": "1", "fill-opacity": "1", "stroke-dasharray": "1,0", "transform": "translate(0,0)"}  # fmt: skip
_SPACE = re.compile(r' xmlns(:\w+)?="[^"]*"')
_LONG = re.compile(r"-?\d+\.\d\d+(?:e-?\d+)?")


def drawn(chart: Chart) -> str:
    """The chart as HTML; empty where the library is not installed, a line where it fails: the page is made."""
    if not can_draw():
        return ""
    try:
        shown = "".join(
            _fit_for_a_page(_svg(_whole(spec)), chart.caption, name, hints=name == "wide")
            for name, spec in (("wide", chart.wide), ("narrow", chart.narrow))
        )
    except ValueError:  # all that the library raises
        return '<p class="none">This chart could not be drawn; its table says the same.</p>'
    return f'<figure class="chart{" half" if chart.is_half else ""}">{shown}</figure>'


def can_draw() -> bool:
    """Whether the library is there; to load it takes milliseconds, its engine starts with the first chart."""
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        return False
    return True


def missing_library() -> str:
    """One line that says what is missing, and the command for it; empty where nothing is."""
    return "" if can_draw() else str(MissingExtra("Drawing charts", "charts"))


def _whole(spec: Mapping[str, Any]) -> str:
    return json.dumps(_shown({"config": CONFIG, **spec}), sort_keys=True)


def _shown(value: Any) -> Any:
    """Every text inside without what XML cannot hold: the engine measures letters as XML, and such a one ends all."""
    if isinstance(value, str):
        return _NO_XML.sub("\ufffd", value)
    if isinstance(value, dict):
        return {name: _shown(own) for name, own in value.items()}
    return [_shown(own) for own in value] if isinstance(value, list) else value


@lru_cache(maxsize=64)
def _svg(spec: str) -> str:
    """The same specification gives the same bytes; notebooks show one fragment again and again."""
    import vl_convert

    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def _fit_for_a_page(svg: str, caption: str, style: str, *, hints: bool) -> str:
    """`caption` is what the whole of it shows; with `hints` every mark says its own values to who points at it."""
    root = ElementTree.fromstring(_SPACE.sub("", svg, count=2))
    shown = _cleaned(root, hints=hints)
    assert shown is not None
    inner = "".join(ElementTree.tostring(child, encoding="unicode") for child in shown)
    box = _attribute(root.get("viewBox", ""))
    return (
        f'<svg class="{style}" viewBox="{box}" role="img" aria-label="{_attribute(caption, 400)}">'
        f"{inner}</svg>"
    )


def _cleaned(element: Element, *, hints: bool) -> Element | None:
    """A copy with what is shown; None: nothing is."""
    if element.tag not in _SHOWN or element.get("display") == "none":
        return None
    painted = element.get("fill") or element.get("stroke")
    if element.tag in ("path", "line", "rect") and not painted:
        return None
    kept = Element(element.tag, {
        name: _LONG.sub(_rounded, value)
        for name, value in element.attrib.items()
        if name in _KEPT and _USUAL.get(name) != value
    })  # fmt: skip
    kept.text = element.text
    if hints and element.get("role") == "graphics-symbol" and element.tag != "g":
        kept.append(_title(element.get("aria-label", "")))
    for child in element:
        own = _cleaned(child, hints=hints)
        if own is None:
            continue
        # A group that says nothing about those inside is only length.
        kept.extend(own if own.tag == "g" and not own.attrib else [own])
    return kept if element.tag != "g" or len(kept) else None


def _title(text: str) -> Element:
    title = Element("title")
    title.text = text
    return title


def _rounded(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 1):g}"


def _attribute(text: str, most: int = 0) -> str:
    return escape(one_line(text, most))
