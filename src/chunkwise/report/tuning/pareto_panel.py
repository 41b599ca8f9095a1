"""Quality over one cost: a point a configuration, the front as steps, the choice and the defaults by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from chunkwise.report.charts.drawn import Room
from chunkwise.report.charts.look import CARD, COLOURS, CROWD, SHAPES, Spec, above
from chunkwise.report.charts.series import channel
from chunkwise.report.plain_text import one_line
from chunkwise.report.scale import Scale, scale_of

_LOOKS = (
    (COLOURS[0], SHAPES[0], 150),
    (COLOURS[1], SHAPES[1], 90),
    (COLOURS[2], SHAPES[2], 100),
    (COLOURS[3], SHAPES[3], 70),
    (CROWD, SHAPES[0], 20),
)
"""Colour, shape and size of the choice, two defaults, those on the front, and the others."""
CHOICE, FRONT, OTHER = 0, 3, 4
_LABEL = 15
"""Pixels a label needs."""


class Place(NamedTuple):
    """`look` is one of five; those with a `name` are labelled."""

    look: int
    name: str
    told: str
    cost: float
    quality: float


def panel(
    places: list[Place],
    keys: Mapping[int, str],
    x: str,
    y: str,
    room: Room,
    *,
    best_is_low: bool,
    alone: bool,
) -> Spec:
    """The places over one cost, whose name is `x`; `keys` name the looks that are there."""
    beside = room.width - 66 if alone else room.width // 2 - 66
    width, height = (286, 240) if room.narrow else (beside, 300)
    across = scale_of((each.cost for each in places), 5)
    up = scale_of((each.quality for each in places), 5)
    shown = list(keys.values())
    colours, shapes, sizes = zip(*(_LOOKS[look] for look in keys), strict=True)
    points = [
        {"series": keys[each.look], "cost": each.cost, "quality": each.quality, "told": one_line(each.told, 300)}
        for each in places
    ]  # fmt: skip
    signs = {
        "data": {"values": points},
        "mark": "point",
        "encoding": {
            "fill": channel(shown, colours, room),
            "shape": channel(shown, shapes, room),
            "size": channel(shown, sizes, room),
            "description": {"field": "told"},
        },
    }
    named = [each for each in places if each.name]
    return {
        "width": width,
        "height": height,
        "encoding": {
            "x": _axis(
                "cost", across, {"title": x, "grid": False, "tickCount": 4 if room.narrow else 6}
            ),
            "y": _axis("quality", up, {**above(y), "tickCount": 5}),
        },
        "layer": [
            _front(places, across, best_is_low=best_is_low),
            signs,
            *_labels(named, across, up, width, height),
        ],
    }


def _axis(field: str, scale: Scale, axis: Spec) -> Spec:
    domain = {"domain": [scale.low, scale.high], "nice": False}
    return {"field": field, "type": "quantitative", "scale": domain, "axis": axis}


def _front(places: list[Place], across: Scale, *, best_is_low: bool) -> Spec:
    """Steps between those that nothing in this chart is both better and cheaper than."""
    sign = -1 if best_is_low else 1
    best, steps = float("-inf"), []
    for each in sorted(places, key=lambda own: (own.cost, -sign * own.quality)):
        if sign * each.quality > best:
            best = sign * each.quality
            steps.append({"cost": each.cost, "quality": each.quality})
    steps.append({"cost": across.high, "quality": sign * best})
    mark = {"type": "line", "interpolate": "step-after", "stroke": COLOURS[3], "strokeWidth": 1.5}
    return {"data": {"values": steps}, "mark": {**mark, "strokeDash": [3, 3]}}


def _labels(places: list[Place], across: Scale, up: Scale, width: int, height: int) -> list[Spec]:
    """Beside their points, moved apart where they would lie on each other, on a ground that keeps them readable."""
    found: list[Spec] = []
    last = float("-inf")
    for each in sorted(places, key=lambda own: -own.quality):
        last = y = max(height * (1 - up.share(each.quality)) - 9, last + _LABEL)
        share = across.share(each.cost)
        left = share > 0.5
        letters = round((width * max(share, 1 - share) - 10) / 7.4)
        label = {
            "type": "text", "text": one_line(each.name, letters), "fontWeight": 600, "aria": False,
            "align": "right" if left else "left", "dx": -10 if left else 10,
        }  # fmt: skip
        data = {
            "values": [{"cost": each.cost, "quality": up.high - (up.high - up.low) * y / height}]
        }
        halo = {"stroke": CARD, "strokeWidth": 4, "strokeJoin": "round"}
        found += [{"data": data, "mark": label | halo}, {"data": data, "mark": label}]
    return found
