"""A sweep in a terminal: the recommendation first, the leaders, what moves the objective, what to beware of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chunkwise.base.wording import (
    counted,
    one_or_many,
    percent,
    points,
    points_between,
    score,
    thousands,
)
from chunkwise.evaluation.cost import cost_words
from chunkwise.report.sanitize import one_line
from chunkwise.report.terminal.widgets import bar, heading, line, plain_table
from chunkwise.report.views.leaderboard import Leader
from chunkwise.report.views.sweep_charts import interval_words, mean_words
from chunkwise.report.views.tuning import TuningView

if TYPE_CHECKING:
    from rich.console import Console

_LEADERS = 10
_BAR = 6
_FOLDS = 3
"""Choices of folds that are named."""


def render_tuning(view: TuningView, console: Console) -> None:
    """Draw what a sweep found."""
    heading(console, "Recommendation")
    line(console, view.sentence)
    if view.chosen_key:
        _judgment(console, view)
        _leaders(console, view)
    elif view.chunkings:
        _chunkings(console, view)
    else:
        _leaders(console, view)
    if view.defaults:
        heading(console, f"Against the common defaults, on {view.figure_of}")
        if len(view.defaults) > 1:
            line(console, "intervals and verdicts after Holm's correction over them", "dim")
        for each in view.defaults:
            between = points_between(each.low, each.high)
            line(
                console,
                f"{one_line(each.baseline, 60)} · {one_line(each.retriever, 60)}: "
                f"{points(each.difference)} points ({between}), {each.verdict}",
            )
    _levers(console, view)
    for methods in view.methods:
        heading(console, f"{methods.metric} by type of question")
        table = plain_table("", *(one_line(type, 20) for type in methods.types), left=1)
        for name, means in methods.rows:
            table.add_row(f"  {one_line(name, 40)}", *map(score, means))
        console.print(table)
    _prior(console, view)
    worth = [part for part in view.parts if part.worth_it]
    if worth:
        heading(console, "Parts that deserve a setting of their own")
        for part in worth:
            line(
                console,
                f"{one_line(part.name, 40)}: {one_line(part.best_label, 80)}, {points(part.gain)} points",
            )
    if view.caveats:
        heading(console, "To be kept in mind")
        for caveat in view.caveats:
            line(console, one_line(caveat))


def _judgment(console: Console, view: TuningView) -> None:
    """Which figure is which, where the same questions choose and judge."""
    if view.nested is not None and view.chose is not None:
        heading(console, "Which figure is which")
        judged, chose = view.nested.figure, view.chose
        times = one_or_many(view.nested.repeats, "", f", {view.nested.repeats} times")
        line(
            console,
            f"{mean_words(judged)} ({interval_words(judged)}): what choosing like this is worth on questions that had "
            f"no part in it; nested cross-validation, {counted(view.nested.folds, 'fold')}{times}",
        )
        line(
            console,
            f"{mean_words(chose)} ({interval_words(chose)}): the choice on the "
            f"{counted(chose.scored, 'question')} that chose it, which flatters",
        )
        shares = [
            f"{one_line(label, 80)} {percent(share)}"
            for label, share in view.nested.chosen[:_FOLDS]
        ]
        more = len(view.nested.chosen) - len(shares)
        line(
            console,
            f"left out in turn, the others chose {', '.join(shares)}{f' and {more} more' if more else ''}",
            "dim",
        )


def _prior(console: Console, view: TuningView) -> None:
    if view.prior and view.prior_questions is not None:
        heading(console, "Expected beforehand, from public question sets")
        line(
            console,
            f"counts for about {counted(view.prior_questions, 'question')}; --no-prior leaves it out. Points of "
            f"{view.objective}",
            "dim",
        )
        for row in view.prior:
            line(console, row.words)


def _leaders(console: Console, view: TuningView) -> None:
    from rich.text import Text

    if view.leaderboard is None:
        return
    heading(console, f"Leaders by {view.objective}")
    # A column for the margin: what is folded keeps to it, too.
    names = ("validation", "test") if view.test_count else ("on these", "expected")
    table = plain_table("", "", *names, "95 % interval", "", left=2)
    table.columns[0].min_width = 0
    table.columns[1].no_wrap, table.columns[1].overflow = False, "fold"
    table.columns[5].justify = "left"
    ranked = sorted(view.leaderboard.rows, key=lambda row: _place(row, view.lower_is_better))
    # The choice is among them, wherever it stands.
    shown = ranked[:_LEADERS] + [row for row in ranked[_LEADERS:] if row.is_chosen]
    for row in shown:
        table.add_row(
            "", Text(one_line(row.label, 200)), mean_words(row.validation),
            mean_words(row.test) if view.test_count else "" if row.expected is None else score(row.expected),
            interval_words(row.test if view.test_count else row.validation), Text(_words(row), "dim"),
        )  # fmt: skip
    console.print(table)
    aside = (
        view.counts.with_figures - view.counts.chosen_from - sum(bool(row.aside) for row in shown)
    )
    more = view.counts.chosen_from - sum(not row.aside for row in shown)
    others = f"{thousands(more)} more that may be chosen" if more else ""
    listed = f"{thousands(aside)} listed only" if aside else ""
    if others or listed:
        line(console, f"in the report: {' and '.join(filter(None, (others, listed)))}", "dim")


def _place(row: Leader, lower_is_better: bool) -> tuple[bool, float, float, bool]:
    """Those that may be chosen first; the best by the figures as they are shown, the choice first among equals."""
    sign = 1.0 if lower_is_better else -1.0
    means = [None if each is None else each.mean for each in (row.validation, row.test)]
    first, second = (math.inf if mean is None else round(sign * mean, 3) for mean in means)
    return bool(row.aside), first, second, not row.is_chosen


def _chunkings(console: Console, view: TuningView) -> None:
    """What can be compared without questions, a chunking each; the fewest hurt first."""
    from rich.text import Text

    if not view.counts.with_figures:
        return
    heading(console, "What can be compared without questions")
    table = plain_table("", "with issues", "chunks", "median tokens", "storage", left=1)
    for row in view.chunkings[:_LEADERS]:
        name = one_line(row.name, max(console.width - 54, 20))
        table.add_row(
            Text(f"  {name}"), "" if row.issue_share is None else percent(row.issue_share),
            _cost("chunks", row.chunks), _cost("median_tokens", row.median_tokens), _cost("storage", row.storage),
        )  # fmt: skip
    console.print(table)
    if len(view.chunkings) > _LEADERS:
        line(console, f"and {thousands(len(view.chunkings) - _LEADERS)} more in the report", "dim")


def _cost(name: str, value: float | None) -> str:
    return "" if value is None else cost_words(name, value)


def _words(row: Leader) -> str:
    if row.is_chosen:
        return "chosen"
    if row.aside:
        return "listed only"
    return "tied" if row.is_tied else ""


def _levers(console: Console, view: TuningView) -> None:
    from rich.text import Text

    if not view.levers:
        return
    heading(console, f"What moves {view.objective} here")
    table = plain_table("", "", "points", "95 % interval", "", left=2)
    # What is too long for a narrow terminal is folded behind the figures, which stay whole.
    table.columns[4].justify, table.columns[4].no_wrap = "left", False
    most = max((lever.effect for lever in view.levers), default=0.0) or 1.0
    for lever in view.levers:
        best, worst = lever.levels[0].value, lever.levels[-1].value
        values = (
            f"{one_line(best, 24)} over {one_line(worst, 24)}" if lever.moves else "no effect shown"
        )
        table.add_row(
            Text(f"  {lever.name}"), Text(bar(lever.effect / most, _BAR), "cyan"), points(lever.effect, plus=False),
            points_between(lever.low, lever.high), Text(values, "" if lever.moves else "dim"),
        )  # fmt: skip
    console.print(table)
    line(
        console,
        "95 % for all of them and all their values together: averages over many configurations",
        "dim",
    )
