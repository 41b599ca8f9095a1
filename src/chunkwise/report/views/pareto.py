"""What quality costs: every configuration over the storage it needs and over the context it hands on."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from chunkwise.base.wording import counted, score
from chunkwise.evaluation.cost import cost_label, cost_words
from chunkwise.metrics.registry import lower_is_better
from chunkwise.report.charts import (
    CROWD,
    LETTER,
    Chart,
    Drawing,
    Look,
    Panel,
    chart,
    label_room,
    scale_of,
    series_look,
)
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.sweep_charts import SweepFigures, cost_of
from chunkwise.tuning.sweep_result import Outcome

_MOST_POINTS = 1000
"""Of more, the best and those on the front."""
_LOOKS = (
    series_look(0)._replace(radius=7),
    series_look(1),
    series_look(2),
    series_look(3)._replace(radius=4.7),
    Look(CROWD, radius=2.5),
)
"""Of the choice, two defaults, those on the front, and the others."""
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
        lambda drawing: _pareto(sweep, panels, drawing), caption, heads, rows,
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
    sweep: SweepFigures, panels: list[tuple[str, list[ParetoPoint]]], drawing: Drawing
) -> None:
    objective = sweep.tuning.objective
    names = {FRONT: "on the front", OTHER: "the others"}
    if sweep.chosen:
        names[CHOICE] = f"the choice: {sweep.chosen.configuration.label}"
    for at, outcome in enumerate(sweep.baselines()[:2], 1):
        names[at] = outcome.configuration.baseline
    columns = 1 if drawing.narrow else len(panels)
    step = drawing.width / columns
    for at, (name, places) in enumerate(panels):
        across = scale_of((place.cost for place in places), 4 if drawing.narrow else 5)
        up = scale_of((place.quality for place in places), 5)
        left, height = label_room(up), 240 if drawing.narrow else 300
        top = 30 + (drawing.height + 10 if at and columns == 1 else 0)
        panel = Panel(
            drawing, at % columns * step + left, top, step - left - 30, height, across, up
        )  # fmt: skip
        panel.y_axis(f"{one_line(objective, 40)} on validation")
        panel.x_axis(across.labels(), name)
        _draw_front(panel, places, best_is_low=lower_is_better(objective))
        for place in places:
            drawing.sign(
                panel.x(place.cost), panel.y(place.quality), _LOOKS[place.look], place.description
            )
        _label_points(panel, [place for place in places if place.name])
    seen = sorted({place.look for _, places in panels for place in places})
    drawing.legend([(names[look], _LOOKS[look]) for look in seen])


def _costs(outcome: Outcome | None) -> tuple[str, str]:
    if outcome is None:
        return "", ""
    storage, context = cost_of(outcome, "storage"), cost_of(outcome, "context_tokens")
    return (
        "" if storage is None else cost_words("storage", storage),
        "" if context is None else cost_words("context_tokens", context),
    )


class ParetoPoint(NamedTuple):
    """`look` is one of five; those with a `name` are labeled."""

    look: int
    name: str
    description: str
    cost: float
    quality: float


def _draw_front(panel: Panel, places: list[ParetoPoint], *, best_is_low: bool) -> None:
    """Steps between those that nothing in this chart is both better and cheaper than."""
    sign = -1 if best_is_low else 1
    best, steps = float("-inf"), list[tuple[float, float]]()
    for place in sorted(places, key=lambda own: (own.cost, -sign * own.quality)):
        if sign * place.quality > best:
            best = sign * place.quality
            x, y = panel.x(place.cost), panel.y(place.quality)
            steps += [(x, steps[-1][1]), (x, y)] if steps else [(x, y)]
    steps.append((panel.left + panel.width, steps[-1][1]))
    panel.drawing.curve(steps, _LOOKS[FRONT].fill, width=1.5, dash="3,3")


def _label_points(panel: Panel, places: list[ParetoPoint]) -> None:
    """Beside their points, moved apart where they would lie on each other, on a ground that keeps them readable."""
    last = float("-inf")
    for place in sorted(places, key=lambda own: -own.quality):
        last = y = max(panel.y(place.quality) - 9, last + _LABEL)
        x = panel.x(place.cost)
        share = (x - panel.left) / panel.width
        letters = round((panel.width * max(share, 1 - share) - 10) / LETTER)
        text = one_line(place.name, letters)
        anchor, beside = ("end", -10) if share > 0.5 else ("start", 10)
        panel.drawing.text(x + beside, y + 4, text, anchor=anchor, bold=True, halo=True)
