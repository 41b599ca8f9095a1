"""What quality costs: every configuration over the storage it needs and over the context it hands on."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

from chunkwise.base.wording import counted, score
from chunkwise.evaluation.cost import cost_label, cost_words
from chunkwise.metrics.registry import lower_is_better
from chunkwise.report.charts import (
    CARD,
    COLOURS,
    CROWD,
    SHAPES,
    Chart,
    ChartSize,
    Scale,
    Spec,
    above,
    channel,
    chart,
    scale_of,
    series_key,
)
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.sweep_charts import SweepFigures, cost_of
from chunkwise.tuning.sweep_result import Outcome

_MOST_POINTS = 1000
"""Of more, the best and those on the front."""
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


def pareto_chart(sweep: SweepFigures) -> Chart | None:
    """Every configuration over what it costs, on validation, where the front was found."""
    costs = [("storage", cost_label("storage"))]
    if sweep.budget is None:  # within one all read as much
        costs.append(("context_tokens", sweep.context_words))
    panels = [
        (name, places) for cost, name in costs if len(places := _pareto_points(sweep, cost)) > 1
    ]
    if not panels:
        return None
    rows = [
        [
            one_line(each.label, 300),
            score(each.validation.mean or 0),
            *_costs(sweep.outcomes.get(each.key)),
        ]
        for each in sweep.tuning.standings
        if each.pareto
    ]
    heads = ("on the front", "quality", "storage", sweep.context_words)
    over = " and over ".join(name for name, _ in panels)
    caption = (
        f"{sweep.tuning.objective} on validation over {over}, "
        f"{counted(len(panels[0][1]), 'configuration')}"
    )
    return chart(
        lambda room: _pareto(sweep, panels, room), caption, heads, rows,
        table_caption="The front, with its costs",
    )  # fmt: skip


def _pareto_points(sweep: SweepFigures, cost: str) -> list[ParetoPoint]:
    """Those that are named come last, and are drawn over the others."""
    special = {each.configuration.key: at for at, each in enumerate(sweep.baselines()[:2], 1)}
    if sweep.chosen:
        special[sweep.tuning.chosen] = CHOICE
    found = []
    for place, standing in enumerate(sweep.tuning.standings):
        if place >= _MOST_POINTS and not standing.pareto and standing.key not in special:
            continue
        outcome, quality = sweep.outcomes.get(standing.key), standing.validation.mean
        value = cost_of(outcome, cost) if outcome else None
        if outcome is None or value is None or quality is None or not isfinite(value):
            continue
        look = special.get(standing.key, FRONT if standing.pareto else OTHER)
        name = outcome.configuration.baseline if standing.key in special else ""
        description = (
            f"{sweep.short_name(outcome)}: {score(quality)}, "
            f"{cost.replace('_', ' ')} {cost_words(cost, value)}"
        )
        found.append(ParetoPoint(look, name if look else "the choice", description, value, quality))
    return sorted(found, key=lambda each: (-each.look, each.cost))


def _pareto(
    sweep: SweepFigures, panels: list[tuple[str, list[ParetoPoint]]], room: ChartSize
) -> Spec:
    objective = sweep.tuning.objective
    names = {FRONT: "on the front", OTHER: "the others"}
    if sweep.chosen:
        names[CHOICE] = f"the choice: {sweep.chosen.configuration.label}"
    for at, each in enumerate(sweep.baselines()[:2], 1):
        names[at] = each.configuration.baseline
    seen = sorted({place.look for _, places in panels for place in places})
    keys = {look: series_key(look, names[look], 44) for look in seen}
    y = f"{one_line(objective, 40)} on validation"
    return {
        "concat": [
            _pareto_panel(
                places,
                keys,
                name,
                y,
                room,
                best_is_low=lower_is_better(objective),
                alone=len(panels) == 1,
            )
            for name, places in panels
        ],
        "columns": 1 if room.narrow else 2,
        "spacing": 30,
        # One legend for both.
        "resolve": {"scale": {"fill": "shared", "shape": "shared", "size": "shared"}},
    }


def _costs(outcome: Outcome | None) -> tuple[str, str]:
    if outcome is None:
        return "", ""
    storage, context = cost_of(outcome, "storage"), cost_of(outcome, "context_tokens")
    return (
        "" if storage is None else cost_words("storage", storage),
        "" if context is None else cost_words("context_tokens", context),
    )


class ParetoPoint(NamedTuple):
    """`look` is one of five; those with a `name` are labelled."""

    look: int
    name: str
    description: str
    cost: float
    quality: float


def _pareto_panel(
    places: list[ParetoPoint],
    keys: Mapping[int, str],
    x: str,
    y: str,
    room: ChartSize,
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
        {"series": keys[each.look], "cost": each.cost, "quality": each.quality,
         "description": one_line(each.description, 300)}
        for each in places
    ]  # fmt: skip
    signs = {
        "data": {"values": points},
        "mark": "point",
        "encoding": {
            "fill": channel(shown, colours, room),
            "shape": channel(shown, shapes, room),
            "size": channel(shown, sizes, room),
            "description": {"field": "description"},
        },
    }
    named = [each for each in places if each.name]
    return {
        "width": width,
        "height": height,
        "encoding": {
            "x": _pareto_axis(
                "cost", across, {"title": x, "grid": False, "tickCount": 4 if room.narrow else 6}
            ),
            "y": _pareto_axis("quality", up, {**above(y), "tickCount": 5}),
        },
        "layer": [
            _front(places, across, best_is_low=best_is_low),
            signs,
            *_point_labels(named, across, up, width, height),
        ],
    }


def _pareto_axis(field: str, scale: Scale, axis: Spec) -> Spec:
    domain = {"domain": [scale.low, scale.high], "nice": False}
    return {"field": field, "type": "quantitative", "scale": domain, "axis": axis}


def _front(places: list[ParetoPoint], across: Scale, *, best_is_low: bool) -> Spec:
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


def _point_labels(
    places: list[ParetoPoint], across: Scale, up: Scale, width: int, height: int
) -> list[Spec]:
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
