"""Every configuration in a row, the best on validation first: both figures drawn on one scale, ready to be filtered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.base.wording import counted, percent
from chunkwise.evaluation.results import Figure
from chunkwise.report.page_text import attribute, breakable, words
from chunkwise.report.scale import Scale, axis_of, scale_of
from chunkwise.report.tuning.leader_filters import leader_tools, varied
from chunkwise.report.tuning.measured import Measured, between, cost_of, number
from chunkwise.tuning.sweep_result import Standing

_MOST = 1000
"""Rows; whoever sweeps more finds the others in the results."""
_DOWN = ("validation", "test", "best")
"""Columns of which the most is wanted first."""
_SIGNS = (
    ("chosen", "★", "the choice"),
    ("tied", "≈", "tied"),
    ("baseline", "■", "common default"),
    ("pareto", "◆", "on the front"),
)
"""Signs stand beside words, so that colour is never what tells them apart."""


def leaders(measured: Measured) -> str:
    """The whole table with its filters."""
    tuning = measured.tuning
    if all(each.validation.mean is None for each in tuning.standings):
        return ""
    shown = tuning.standings[:_MOST]
    levers = varied(measured, shown)
    tools = leader_tools(levers, [(name, word) for name, _, word in _SIGNS[1:]])
    more = len(tuning.standings) - len(shown)
    rest = (
        f'<p class="hint">{more:,} more are in the results, all of them worse.</p>' if more else ""
    )
    return (
        f'{tools}<div class="card">{leader_table(measured, shown, levers)}'
        f'<p class="pages"><button type="button" hidden></button></p>{rest}</div>'
    )


def leader_table(
    measured: Measured,
    shown: Sequence[Standing],
    levers: Mapping[str, Mapping[str, int]] | None = None,
) -> str:
    """Some standings, the best first; with the numbers filters look for where `levers` are given."""
    scale = _scale(shown)
    rows = "".join(
        _row(measured, place, each, scale, levers or {}) for place, each in enumerate(shown, 1)
    )
    heads = "".join(
        f'<th role="columnheader" scope="col" class="{key}"{_sorting(key)}>{name}</th>'
        for key, name in (
            ("place", "#"), ("label", "configuration"), ("drawn", axis_of(scale)), ("validation", "validation"),
            ("test", "test"), ("best", "best in"), ("storage", "storage"), ("context", "context"),
        )
    )  # fmt: skip
    return (
        f'<table class="leaders" id="leaders-table" role="table">'
        f"<caption>Configurations by {attribute(measured.tuning.objective)} on the validation questions</caption>"
        f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table>'
    )


def _sorting(key: str) -> str:
    """What a column is sorted by; not that of the drawings, which says the same as its neighbours."""
    if key == "drawn":
        return ""
    return f' data-sort="{key}"' + (' data-first="down"' if key in _DOWN else "")


def _row(
    measured: Measured,
    place: int,
    standing: Standing,
    scale: Scale,
    levers: Mapping[str, Mapping[str, int]],
) -> str:
    outcome = measured.outcomes.get(standing.key)
    given = outcome.configuration if outcome else None
    storage = cost_of(outcome, "storage") if outcome else None
    context = cost_of(outcome, "context_tokens") if outcome else None
    said = {
        "chosen": standing.key == measured.tuning.chosen,
        "tied": standing.tied,
        "baseline": bool(given and given.baseline),
        "pareto": standing.pareto,
    }
    tags = "".join(
        f'<span class="say {name}"><span aria-hidden="true">{sign}</span> {word}'
        f"{': ' + words(given.baseline, 60) if name == 'baseline' and given else ''}</span>"
        for name, sign, word in _SIGNS
        if said[name]
    )
    if standing.aside:
        tags += f'<span class="say">listed only: {words(standing.aside, 120)}</span>'
    filed = "".join(
        f' data-f{at}="{values.get(given.levers.get(name, ""), "") if given else ""}"'
        for at, (name, values) in enumerate(levers.items())
    )
    test = standing.test
    numbers = {
        "place": place, "validation": standing.validation.mean, "test": test.mean if test else None,
        "best": standing.best_share, "storage": storage, "context": context,
    }  # fmt: skip
    data = "".join(
        f' data-{name}="{"" if value is None else f"{value:.6g}"}"'
        for name, value in numbers.items()
    )
    kinds = " ".join(name for name, is_so in said.items() if is_so)
    return (
        f'<tr role="row" class="{kinds}" data-kind="{kinds}"{data}{filed}>'
        f'<td role="cell" class="place">{place}</td>'
        f'<th role="rowheader" scope="row" class="label"><code data-found>{words(standing.label, 300)}</code>'
        f"{f'<p>{tags}</p>' if tags else ''}</th>"
        f'<td role="cell" class="drawn">{_drawn(standing, scale)}</td>'
        f"{_cell('validation', standing.validation)}{_cell('test', test)}"
        f'<td role="cell" class="best" data-label="best in">{_share(standing.best_share)}</td>'
        f'<td role="cell" class="storage" data-label="storage">{"" if storage is None else f"{storage:.2f}×"}</td>'
        f'<td role="cell" class="context" data-label="context">{"" if context is None else f"{context:,.0f}"}</td></tr>'
    )


def _share(share: float) -> str:
    return "&lt; 0.1 %" if 0 < share < 0.001 else percent(share)


def _cell(name: str, figure: Figure | None) -> str:
    return (
        f'<td role="cell" class="{name}" data-label="{name}"><b>{number(figure)}</b>'
        f"<small>{between(figure)}</small></td>"
    )


def _drawn(standing: Standing, scale: Scale) -> str:
    told = f"validation {number(standing.validation)} ({between(standing.validation)})"
    inner = _interval(standing.validation, 8, "first", scale)
    if standing.test:
        told += f", test {number(standing.test)} ({between(standing.test)})"
        inner += _interval(standing.test, 20, "second", scale)
    return f'<svg class="line" height="28" role="img" aria-label="{told}">{inner}</svg>'


def _interval(figure: Figure, y: int, style: str, scale: Scale) -> str:
    if figure.mean is None:
        return ""
    line = ""
    if figure.low is not None and figure.high is not None:
        line = f'<line x1="{scale.at(figure.low)}" x2="{scale.at(figure.high)}" y1="{y}" y2="{y}"/>'
    return f'<g class="{style}">{line}<circle cx="{scale.at(figure.mean)}" cy="{y}" r="4.5"/></g>'


def _scale(shown: Sequence[Standing]) -> Scale:
    figures = [figure for each in shown for figure in (each.validation, each.test) if figure]
    return scale_of((end for each in figures for end in (each.mean, each.low, each.high)), 4)


def legend_of_leaders(measured: Measured) -> str:
    """What the rows are, and the two dots of each."""
    tuning = measured.tuning
    aside = sum(bool(each.aside) for each in tuning.standings)
    rows = f"{counted(len(tuning.standings) - aside, 'configuration')} that may be chosen" + (
        f", and {aside:,} that are listed only" if aside else ""
    )
    return (
        f"{rows}. {breakable(tuning.objective)} with its 95 % interval: the hollow dot on the questions that choose,"
        " the full one on those never used to choose. <b>Tied</b>: not shown to be worse than the best."
        " <b>Best in</b>: the share of the resamples of the validation questions in which it comes first."
        f" <b>Context</b>: {measured.context_words}."
    )
