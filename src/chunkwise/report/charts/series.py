"""Several series in one chart: each with a colour, a shape and a dash of its own, and one legend for all three."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from chunkwise.report.charts.drawn import Room
from chunkwise.report.charts.look import COLOURS, DASHES, SHAPES, Spec
from chunkwise.report.plain_text import one_line

MOST = len(COLOURS)
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


def lines_and_signs(keys: Sequence[str], y: Spec, room: Room, **more: Spec) -> list[Spec]:
    """Two layers, curves and the points on them; `more` are encodings that both share."""
    curve = {"detail": {"field": "series"}, "stroke": STROKE, "strokeDash": _DASH}
    sign = {
        "fill": channel(keys, COLOURS, room),
        "shape": channel(keys, SHAPES, room),
        "description": {"field": "told"},
    }
    return [
        {"mark": "line", "encoding": {"y": y, **more, **curve}},
        {"mark": "point", "encoding": {"y": y, **more, **sign}},
    ]


def channel(keys: Sequence[str], looks: Sequence[object], room: Room) -> Spec:
    """One look a series, in the order of `keys`; all such channels share one legend, which leaves the place out."""
    scale = {"type": "ordinal", "domain": list(keys), "range": list(looks[: len(keys)])}
    lines = "slice(split(datum.label, '\\n'), 1)"
    legend = {"labelExpr": lines, "columns": 1 if room.narrow else 2}
    return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}
