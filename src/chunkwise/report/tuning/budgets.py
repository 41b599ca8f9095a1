"""Recall over the tokens a question may be given: the choice, the defaults, and the best of every retriever."""

from __future__ import annotations

import re

from chunkwise.evaluation.results import Figure
from chunkwise.experiments.outcome import Outcome
from chunkwise.report.page_text import words
from chunkwise.report.plot import Point, Series, Tick, as_table, legend, plot
from chunkwise.report.scale import scale_of
from chunkwise.report.tuning.measured import Measured, between, number

_BUDGET = re.compile(r"recall@(\d+)t")
_MOST = 8


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
        for name, outcome in _compared(measured)[:_MOST]
        if any(figures := measured.figures(outcome, [f"recall@{own}t" for own in budgets]))
    ]
    if len(budgets) < 2 or not shown:
        return ""
    series = [_series(at, name, figures, budgets) for at, (name, figures) in enumerate(shown)]
    scale = scale_of(end for each in series for p in each.points for end in (p.y, p.low, p.high))
    ticks = [Tick(_place(at, len(budgets)), f"{own:,}") for at, own in enumerate(budgets)]
    told = f"Recall within {budgets[0]:,} to {budgets[-1]:,} tokens of context for {len(series)} configurations"
    rows = [
        [words(name, 200), *(_numbers(figure) for figure in figures)] for name, figures in shown
    ]
    heads = ["configuration", *(f"{own:,} tokens" for own in budgets)]
    return (
        f'<div class="card"><p class="axis-name">recall</p>{plot(series, ticks, scale, told, height=320)}'
        f'<p class="axis-name below">tokens of context a question</p>'
        f"{legend([(each.look, words(each.name, 200), True) for each in series])}{as_table(told, heads, rows)}</div>"
    )


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


def _series(at: int, name: str, figures: list[Figure | None], budgets: list[int]) -> Series:
    points = [
        Point(
            _place(place, len(budgets)), figure.mean, figure.low, figure.high,
            f"{name}, {budget:,} tokens: {_numbers(figure)}",
        )
        for place, (budget, figure) in enumerate(zip(budgets, figures, strict=True))
        if figure and figure.mean is not None
    ]  # fmt: skip
    return Series(name, at, points)


def _numbers(figure: Figure | None) -> str:
    return f"{number(figure)} ({between(figure)})" if figure else ""


def _place(at: int, count: int) -> float:
    """Budgets stand at equal distances: each is about twice the one before."""
    return (at + 0.5) / count
