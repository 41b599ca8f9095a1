"""Recall over the tokens a question may be given: the choice, the defaults, and the best of every retriever."""

from __future__ import annotations

import re

from chunkwise.evaluation.results import Figure
from chunkwise.report.charts.drawn import Room, as_table, drawn
from chunkwise.report.charts.look import Spec, above
from chunkwise.report.charts.series import MOST, STROKE, lines_and_signs, look, series_key
from chunkwise.report.page_text import words
from chunkwise.report.plain_text import one_line
from chunkwise.report.tuning.measured import Measured, between, number
from chunkwise.tuning.sweep_result import Outcome

_BUDGET = re.compile(r"recall@(\d+)t")
Curves = list[tuple[str, list[Figure | None]]]
"""Names with a figure a budget."""


def budget_curves(measured: Measured) -> str:
    """Nothing where fewer than two budgets were measured."""
    budgets = sorted(
        {
            int(found[1])
            for each in measured.tuning.outcomes
            for name in each.scores
            if (found := _BUDGET.fullmatch(name))
        }
    )
    shown = [
        (name, figures)
        for name, outcome in _compared(measured)[:MOST]
        if any(figures := measured.figures(outcome, [f"recall@{own}t" for own in budgets]))
    ]
    if len(budgets) < 2 or not shown:
        return ""
    told = f"Recall within {budgets[0]:,} to {budgets[-1]:,} tokens of context for {len(shown)} configurations"
    rows = [
        [words(name, 200), *(_numbers(figure) for figure in figures)] for name, figures in shown
    ]
    heads = ["configuration", *(f"{own:,} tokens" for own in budgets)]
    chart = drawn(lambda room: _chart(shown, budgets, room), told)
    return f'<div class="card">{chart}{as_table(told, heads, rows)}</div>'


def _chart(shown: Curves, budgets: list[int], room: Room) -> Spec:
    letters = 44 if room.narrow else 56
    keys = [series_key(at, name, letters) for at, (name, _) in enumerate(shown)]
    points = [
        {"series": key, "budget": f"{budget:,}", "mean": figure.mean, "low": figure.low, "high": figure.high,
         "told": one_line(f"{name}, {budget:,} tokens: {_numbers(figure)}", 300), **look(at)}
        for at, (key, (name, figures)) in enumerate(zip(keys, shown, strict=True))
        for budget, figure in zip(budgets, figures, strict=True)
        if figure and figure.mean is not None
    ]  # fmt: skip
    y = {
        "field": "mean",
        "type": "quantitative",
        "axis": {**above("recall"), "tickCount": 6},
        "scale": {"zero": False},
    }
    # Beside each other, so that the intervals at one budget can be told apart.
    beside = {"field": "series", "type": "nominal", "scale": {"domain": keys}}
    x = {
        # Budgets stand at equal distances: each is about twice the one before.
        "field": "budget", "type": "ordinal", "sort": [f"{own:,}" for own in budgets],
        "axis": {"title": "tokens of context a question"},
        "scale": {"paddingInner": 0.4 if room.narrow else 0.7, "paddingOuter": 0.25},
    }  # fmt: skip
    intervals = {
        "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
        "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.7},
        "encoding": {
            "y": {"field": "low", "type": "quantitative"},
            "y2": {"field": "high"},
            "stroke": STROKE,
            "xOffset": beside,
        },
    }
    curves, signs = lines_and_signs(keys, y, room, xOffset=beside)
    return {
        "width": room.width,
        "height": 240 if room.narrow else 320,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": points},
        "encoding": {"x": x},
        "layer": [curves, intervals, signs],
    }


def _compared(measured: Measured) -> list[tuple[str, Outcome]]:
    """Each once, under all the names it goes by."""
    names: dict[str, list[str]] = {}
    found: dict[str, Outcome] = {}

    def add(outcome: Outcome, name: str) -> None:
        key = outcome.configuration.key
        found[key] = outcome
        names.setdefault(key, []).append(name)

    if measured.chosen:
        add(measured.chosen, "the choice")
    for each in measured.baselines():
        add(each, each.configuration.baseline)
    seen: set[str] = set()
    for each in measured.best_first():
        retriever = each.configuration.retriever.split("(", 1)[0]
        if retriever not in seen and not each.error:
            seen.add(retriever)
            add(each, f"best {retriever}")
    return [
        (f"{', '.join(own)}: {found[key].configuration.label}", found[key])
        for key, own in names.items()
    ]


def _numbers(figure: Figure | None) -> str:
    return f"{number(figure)} ({between(figure)})" if figure else ""
