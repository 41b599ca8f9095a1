"""What quality costs: every configuration over the storage it needs and over the context it hands on."""

from __future__ import annotations

from math import isfinite

from chunkwise.evaluation.direction import lower_is_better
from chunkwise.report.charts.drawn import Room, as_table, drawn
from chunkwise.report.charts.look import Spec
from chunkwise.report.charts.series import series_key
from chunkwise.report.page_text import words
from chunkwise.report.plain_text import one_line
from chunkwise.report.tuning.measured import Measured, cost_of
from chunkwise.report.tuning.pareto_panel import CHOICE, FRONT, OTHER, Place, panel
from chunkwise.tuning.sweep_result import Outcome

_MOST = 1000
"""Points; of more, the best and those on the front."""


def pareto_plots(measured: Measured) -> str:
    """On validation, where the front was found."""
    costs = [("storage", "tokens indexed per token of the documents")]
    if measured.budget is None:  # within one all read as much
        costs.append(("context_tokens", measured.context_words))
    panels = [(told, places) for cost, told in costs if len(places := _places(measured, cost)) > 1]
    if not panels:
        return ""
    rows = [
        [
            words(each.label, 300),
            f"{each.validation.mean or 0:.3f}",
            *_costs(measured.outcomes.get(each.key)),
        ]
        for each in measured.tuning.standings
        if each.pareto
    ]
    heads = ("on the front", "quality", "storage", measured.context_words)
    over = " and over ".join(told for told, _ in panels)
    told = (
        f"{measured.tuning.objective} on validation over {over}, {len(panels[0][1])} configurations"
    )
    chart = drawn(lambda room: _chart(measured, panels, room), told)
    return f'<div class="card">{chart}{as_table("The front, with its costs", heads, rows)}</div>'


def _places(measured: Measured, cost: str) -> list[Place]:
    """Those that are named come last, and are drawn over the others."""
    special = {each.configuration.key: at for at, each in enumerate(measured.baselines()[:2], 1)}
    if measured.chosen:
        special[measured.tuning.chosen] = CHOICE
    found = []
    for place, standing in enumerate(measured.tuning.standings):
        if place >= _MOST and not standing.pareto and standing.key not in special:
            continue
        outcome, quality = measured.outcomes.get(standing.key), standing.validation.mean
        value = cost_of(outcome, cost) if outcome else None
        if outcome is None or value is None or quality is None or not isfinite(value):
            continue
        look = special.get(standing.key, FRONT if standing.pareto else OTHER)
        name = outcome.configuration.baseline if standing.key in special else ""
        told = (
            f"{measured.short_name(outcome)}: {quality:.3f}, {cost.replace('_', ' ')} {value:,.4g}"
        )
        found.append(Place(look, name if look else "the choice", told, value, quality))
    return sorted(found, key=lambda each: (-each.look, each.cost))


def _chart(measured: Measured, panels: list[tuple[str, list[Place]]], room: Room) -> Spec:
    objective = measured.tuning.objective
    names = {FRONT: "on the front", OTHER: "the others"}
    if measured.chosen:
        names[CHOICE] = f"the choice: {measured.chosen.configuration.label}"
    for at, each in enumerate(measured.baselines()[:2], 1):
        names[at] = each.configuration.baseline
    seen = sorted({place.look for _, places in panels for place in places})
    keys = {look: series_key(look, names[look], 44) for look in seen}
    y = f"{one_line(objective, 40)} on validation"
    return {
        "concat": [
            panel(
                places,
                keys,
                told,
                y,
                room,
                best_is_low=lower_is_better(objective),
                alone=len(panels) == 1,
            )
            for told, places in panels
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
        "" if storage is None else f"{storage:.2f}×",
        "" if context is None else f"{context:,.0f}",
    )
