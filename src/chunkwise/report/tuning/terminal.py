"""A sweep in a terminal: the recommendation first, the leaders, what moves the objective, what to beware of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chunkwise.evaluation.direction import lower_is_better
from chunkwise.report.plain_text import one_line
from chunkwise.report.terminal_parts import bar, heading, line, plain_table
from chunkwise.tuning.choose.choose import issue_share
from chunkwise.tuning.sweep_result import Standing, SweepResult

if TYPE_CHECKING:
    from rich.console import Console

_LEADERS = 10
_BAR = 6
_COSTS = (("chunks", "{:,}"), ("median_tokens", "{:,.0f}"), ("storage", "{:.2f}×"))


def render_tuning(tuning: SweepResult, console: Console) -> None:
    """Draw what a sweep found; labels cannot move the cursor or add markup."""
    heading(console, "Recommendation")
    line(console, tuning.sentence)
    _leaders(console, tuning)
    if tuning.against:
        heading(console, "Against the common defaults, on test questions")
        retrievers = {
            each.configuration.key: each.configuration.retriever for each in tuning.outcomes
        }
        for each in tuning.against:
            line(
                console,
                f"{one_line(each.baseline, 60)} · {one_line(retrievers.get(each.key, ''), 60)}: "
                f"{100 * each.difference:+.1f} points ({100 * each.low:+.1f} to {100 * each.high:+.1f}), {each.words}",
            )
    _levers(console, tuning)
    worth = [part for part in tuning.parts if part.worth_it]
    if worth:
        heading(console, "Parts that deserve a setting of their own")
        for part in worth:
            line(
                console,
                f"{one_line(part.name, 40)}: {one_line(part.best_label, 80)}, {100 * part.gain:+.1f} points",
            )
    if tuning.caveats:
        heading(console, "To be kept in mind")
        for caveat in tuning.caveats:
            line(console, one_line(caveat))


def _leaders(console: Console, tuning: SweepResult) -> None:
    from rich.text import Text

    if not tuning.standings:
        return
    if not tuning.chosen:
        _unasked(console, tuning)
        return
    heading(console, f"Leaders by {tuning.objective}")
    # A column for the margin: what is folded keeps to it, too.
    table = plain_table("", "", "validation", "test", "95 % interval", "", left=2)
    table.columns[0].min_width = 0
    table.columns[1].no_wrap, table.columns[1].overflow = False, "fold"
    table.columns[5].justify = "left"
    ranked = _ranked(tuning)
    shown = ranked[:_LEADERS]
    # The choice is among them, wherever it stands.
    shown += [each for each in ranked[_LEADERS:] if each.key == tuning.chosen]
    for standing in shown:
        test = standing.test
        told = "" if test is None or test.mean is None else f"{test.mean:.3f}"
        between = "" if test is None or test.low is None else f"{test.low:.3f}–{test.high:.3f}"
        first = standing.validation.mean
        table.add_row(
            "", Text(one_line(standing.label, 200)),
            "" if first is None else f"{first:.3f}", told, between, Text(_words(standing, tuning), "dim"),
        )  # fmt: skip
    console.print(table)
    if more := len(ranked) - len(shown):
        aside = sum(bool(each.aside) for each in ranked if each not in shown)
        told = f"{more - aside:,} more that may be chosen" if more > aside else ""
        listed = f"{aside:,} that are listed only" if aside else ""
        line(console, f"in the report: {' and '.join(filter(None, (told, listed)))}", "dim")


def _ranked(tuning: SweepResult) -> list[Standing]:
    """Those that may be chosen first; the best by the figures as they are shown, the choice first among equals."""
    sign = 1.0 if lower_is_better(tuning.objective) else -1.0

    def place(standing: Standing) -> tuple[bool, float, float, bool]:
        means = [
            None if each is None else each.mean for each in (standing.validation, standing.test)
        ]
        first, second = (math.inf if mean is None else round(sign * mean, 3) for mean in means)
        return bool(standing.aside), first, second, standing.key != tuning.chosen

    return sorted(tuning.standings, key=place)


def _unasked(console: Console, tuning: SweepResult) -> None:
    """What can be compared without questions, a chunking each; the fewest hurt first."""
    from rich.text import Text

    heading(console, "What can be compared without questions")
    table = plain_table("", "with issues", "chunks", "median tokens", "storage", left=1)
    known = {each.configuration.key: each for each in tuning.outcomes}
    found = [known[each.key] for each in tuning.standings]
    chunkings = {
        (each.configuration.strategy, each.configuration.context): each
        for each in reversed(found)
        if each.configuration.strategy
    }
    rows = list(reversed(chunkings.values()))
    for outcome in rows[:_LEADERS]:
        configuration, share = outcome.configuration, issue_share(outcome)
        beside = " · headings" if configuration.context == "headings" else ""
        name = one_line(configuration.strategy + beside, max(console.width - 54, 20))
        table.add_row(
            Text(f"  {name}"), "" if share is None else f"{100 * share:.1f} %",
            *(_amount(outcome.cost.get(name), shown) for name, shown in _COSTS),
        )  # fmt: skip
    console.print(table)
    if len(rows) > _LEADERS:
        line(console, f"and {len(rows) - _LEADERS:,} more in the report", "dim")


def _amount(value: object, shown: str) -> str:
    return shown.format(value) if isinstance(value, int | float) else ""


def _words(standing: Standing, tuning: SweepResult) -> str:
    if standing.key == tuning.chosen:
        return "chosen"
    if standing.aside:
        return "listed only"
    return "tied" if standing.tied else ""


def _levers(console: Console, tuning: SweepResult) -> None:
    from rich.text import Text

    if not tuning.levers:
        return
    heading(console, f"What moves {tuning.objective} here")
    table = plain_table("", "", "points", "95 % interval", "", left=2)
    # What is too long for a narrow terminal is folded behind the figures, which stay whole.
    table.columns[4].justify, table.columns[4].no_wrap = "left", False
    most = max((lever.effect for lever in tuning.levers), default=0.0) or 1.0
    for lever in tuning.levers:
        best, worst = lever.levels[0].value, lever.levels[-1].value
        told = (
            f"{one_line(best, 24)} over {one_line(worst, 24)}" if lever.moves else "no effect shown"
        )
        table.add_row(
            Text(f"  {lever.name}"), Text(bar(lever.effect / most, _BAR), "cyan"), f"{100 * lever.effect:.1f}",
            f"{100 * lever.low:+.1f} to {100 * lever.high:+.1f}", Text(told, "" if lever.moves else "dim"),
        )  # fmt: skip
    console.print(table)
