"""What quality costs: every configuration over the storage it needs and over the context it hands on."""

from __future__ import annotations

from typing import NamedTuple

from chunkwise.evaluation.direction import lower_is_better
from chunkwise.experiments.outcome import Outcome
from chunkwise.report.page_text import attribute, words
from chunkwise.report.plot import CROWD, Point, Series, Tick, as_table, legend, plot, y_at
from chunkwise.report.scale import Scale, scale_of
from chunkwise.report.tuning.measured import Measured, cost_of

_HEIGHT = 300
_FRONT = 3
"""The look of those on the front."""
_LABEL = 15
"""Pixels a label needs."""
_COSTS = (
    ("storage", "tokens indexed per token of the documents"),
    ("context_tokens", "tokens of context a question"),
)


class _Place(NamedTuple):
    outcome: Outcome
    cost: float
    quality: float
    pareto: bool


def pareto_plots(measured: Measured) -> str:
    """On validation, where the front was found."""
    charts = "".join(_chart(measured, name, told) for name, told in _COSTS)
    if not charts:
        return ""
    baselines = measured.baselines()
    looks = [(CROWD, "the others", False), (_FRONT, "on the front of all three", False)]
    looks += [
        (1 + at, words(each.configuration.baseline, 80), False)
        for at, each in enumerate(baselines[:2])
    ]
    looks += (
        [(0, f"the choice: {words(measured.chosen.configuration.label, 200)}", False)]
        if measured.chosen
        else []
    )
    rows = [
        [
            words(each.label, 300),
            f"{each.validation.mean or 0:.3f}",
            *_costs(measured.outcomes.get(each.key)),
        ]
        for each in measured.tuning.standings
        if each.pareto
    ]
    heads = ("on the front", "quality", "storage", "context tokens")
    return (
        f'<div class="card"><div class="panels two-wide">{charts}</div>{legend(looks)}'
        f"{as_table('The front over quality, storage and context tokens', heads, rows)}</div>"
    )


def _chart(measured: Measured, cost: str, told: str) -> str:
    places = [
        _Place(outcome, value, standing.validation.mean, standing.pareto)
        for standing in measured.tuning.standings
        if (outcome := measured.outcomes.get(standing.key))
        and (value := cost_of(outcome, cost)) is not None
        and standing.validation.mean is not None
    ]
    if len(places) < 2:
        return ""
    across = scale_of((each.cost for each in places), 5)
    scale = scale_of((each.quality for each in places), 5)
    baselines = {each.configuration.key: at for at, each in enumerate(measured.baselines()[:2], 1)}
    special = {**baselines, measured.tuning.chosen: 0} if measured.chosen else baselines
    looks: dict[int, list[Point]] = {}
    for each in sorted(places, key=lambda own: own.cost):
        key = each.outcome.configuration.key
        look = special.get(key, _FRONT if each.pareto else CROWD)
        said = f"{measured.short_name(each.outcome)}: {each.quality:.3f}, {cost.replace('_', ' ')} {each.cost:,.4g}"
        looks.setdefault(look, []).append(
            Point(across.share(each.cost), each.quality, None, None, said)
        )
    series = [
        Series("", look, looks[look], joined=False, apart=False)
        for look in (CROWD, _FRONT, 1, 2, 0)
        if look in looks
    ]
    ticks = [Tick(across.share(tick), f"{tick:,g}") for tick in across.ticks]
    front = _front(places, across, scale, best_is_low=lower_is_better(measured.tuning.objective))
    labels = _labels(
        [each for each in places if each.outcome.configuration.key in special],
        special,
        measured,
        across,
        scale,
    )
    alt = f"{measured.tuning.objective} over {told}, {len(places)} configurations"
    drawn = plot(series, ticks, scale, alt, height=_HEIGHT, under=front, over=labels)
    return (
        f'<div class="pareto"><p class="axis-name">{attribute(measured.tuning.objective)} on validation</p>{drawn}'
        f'<p class="axis-name below">{told}</p></div>'
    )


def _front(places: list[_Place], across: Scale, scale: Scale, *, best_is_low: bool) -> str:
    """Steps between those that nothing in this chart is both better and cheaper than."""
    sign = -1 if best_is_low else 1
    best, steps = float("-inf"), []
    for each in sorted(places, key=lambda own: (own.cost, -sign * own.quality)):
        if sign * each.quality > best:
            best = sign * each.quality
            steps.append((1000 * across.share(each.cost), y_at(each.quality, scale, _HEIGHT)))
    path = f"M{steps[0][0]:.4g} {steps[0][1]:g}"
    path += "".join(f"H{x:.4g}V{y:g}" for x, y in steps[1:]) + "H1000"
    full = _HEIGHT + 10
    return (
        f'<svg width="100%" height="{full}" viewBox="0 0 1000 {full}" preserveAspectRatio="none">'
        f'<path class="front" d="{path}"/></svg>'
    )


def _labels(
    places: list[_Place], special: dict[str, int], measured: Measured, across: Scale, scale: Scale
) -> str:
    """Beside their points, moved apart where they would lie on each other."""
    drawn, last = "", float("-inf")
    for each in sorted(places, key=lambda own: -own.quality):
        y = max(y_at(each.quality, scale, _HEIGHT) - 9, last + _LABEL)
        last = y
        x = across.share(each.cost)
        key = each.outcome.configuration.key
        name = (
            "the choice" if key == measured.tuning.chosen else each.outcome.configuration.baseline
        )
        side = 'dx="-9" class="label last"' if x > 0.5 else 'dx="9" class="label"'
        drawn += f'<text x="{100 * x:.4g}%" y="{y:g}" {side}>{attribute(name, 32)}</text>'
    return drawn


def _costs(outcome: Outcome | None) -> tuple[str, str]:
    if outcome is None:
        return "", ""
    storage, context = cost_of(outcome, "storage"), cost_of(outcome, "context_tokens")
    return (
        "" if storage is None else f"{storage:.2f}×",
        "" if context is None else f"{context:,.0f}",
    )
