"""A calibration in a terminal: figures with intervals, right and wrong as a square, the clearest errors in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chunkwise.base.wording import (
    counted,
    dollars,
    from_to,
    percent,
    score,
    thousands,
    time_words,
    two_digits,
)
from chunkwise.evaluation.calibrate import CalibrationRun, Disagreement
from chunkwise.evaluation.judge_calibrations import WEAK, Calibration, Cost
from chunkwise.evaluation.results import Figure
from chunkwise.models.llm.cost import NO_PRICE, tokens_words
from chunkwise.report.sanitize import one_line
from chunkwise.report.terminal.widgets import add_row, bar, figure_table, heading, line, plain_table
from chunkwise.report.views.calibration import CalibrationView, warning_of

if TYPE_CHECKING:
    from rich.console import Console

    from chunkwise.stats.intervals import Interval

_BAR = 12
_EXCERPT = 200


def render_calibration(view: CalibrationView, console: Console, *, show: int = 4) -> None:
    """Draw the figures of each judge, then how they compare; `show`: of the passages each got wrong."""
    from rich.text import Text

    console.print(Text(view.held_against, "bold"))
    if view.against == "spans":
        line(
            console,
            f"The irrelevant ones are the best by their words that touch no reference (cut by {view.strategy}): "
            "presumably irrelevant, nobody has looked.",
            "dim",
        )
    if view.disagreed:
        line(console, f"{counted(view.disagreed, 'place')} left out: people disagree", "dim")
    for each in view.judges:
        _judge(console, each, show)
    if len(view.judges) > 1:
        _beside(console, [each.calibration for each in view.judges])


def _judge(console: Console, measured: CalibrationRun, show: int) -> None:
    known = measured.calibration
    heading(console, f"{one_line(known.name, 40)} · {one_line(known.judge, 160)}")
    if known.confusion.scored:
        _figures(console, known)
        _square(console, known)
    _unscored(console, known)
    _costs(console, measured)
    _threshold(console, measured)
    if warning := warning_of(measured):
        line(console, one_line(warning, 400), "bold yellow")
    elif known.kappa is not None and known.kappa.low < WEAK:
        line(
            console,
            f"κ may be as low as {two_digits(known.kappa.low)}: more verdicts (-n) make it more certain",
            "yellow",
        )
    _wrong(console, measured.disagreements[:show], len(measured.disagreements))


def _figures(console: Console, known: Calibration) -> None:
    table = figure_table(console)
    counts = known.confusion
    rows: tuple[tuple[str, Interval | None, int], ...] = (
        ("right (accuracy)", known.accuracy, counts.scored),
        ("beyond chance (κ)", known.kappa, counts.scored),
        ("relevant, called irrelevant", known.missed, counts.relevant),
        ("irrelevant, called relevant", known.false_alarms, counts.irrelevant),
    )
    for name, figure, count in rows:
        worded = two_digits if figure is known.kappa else score
        if figure is None:
            add_row(table, name, "none", Figure(None, scored=count), console)
        else:
            add_row(
                table, name, worded(figure.mean), Figure(*figure, scored=count), console, worded
            )
    console.print(table)


def _square(console: Console, known: Calibration) -> None:
    from rich.text import Text

    counts = known.confusion
    table = plain_table("", "called relevant", "", "called irrelevant", "")
    table.columns[2].justify = table.columns[4].justify = "left"
    for name, yes, no, styles in (
        ("relevant", counts.relevant_as_relevant, counts.relevant_as_irrelevant, ("green", "red")),
        ("irrelevant", counts.irrelevant_as_relevant, counts.irrelevant_as_irrelevant, ("red", "green")),
    ):  # fmt: skip
        whole = max(yes + no, 1)
        called = (Text(bar(yes / whole, _BAR), styles[0]), Text(bar(no / whole, _BAR), styles[1]))
        table.add_row(Text(f"  {name}"), thousands(yes), called[0], thousands(no), called[1])
    console.print()
    console.print(table)


def _unscored(console: Console, known: Calibration) -> None:
    if not known.unscored:
        return
    total = sum(known.unscored.values())
    line(
        console,
        f"unscored: {thousands(total)} of {thousands(known.verdicts)} ({percent(known.unscored_share)})",
    )
    for why, count in sorted(known.unscored.items(), key=lambda item: -item[1])[:5]:
        line(console, f"  {thousands(count)}: {one_line(why, 160)}", "dim")


def _costs(console: Console, measured: CalibrationRun) -> None:
    cost = measured.calibration.cost
    kept = (
        f"{counted(measured.kept, 'verdict')} kept from an earlier run" if measured.kept else ""
    )  # fmt: skip
    if cost is None:
        line(console, f"cost not known: {kept or 'no verdict was asked for'}", "dim")
        return
    line(
        console,
        f"1,000 verdicts take {verdict_cost_words(cost)}" + (f" ({kept})" if kept else ""),
        "dim",
    )


def verdict_cost_words(cost: Cost) -> str:
    """Calls, tokens, money, minutes."""
    parts = []
    if cost.calls:
        parts.append(counted(cost.calls, "call"))
        parts.append(tokens_words(cost.prompt_tokens, cost.output_tokens))
    if cost.money is None:
        parts.append(NO_PRICE)
    else:
        parts.append(dollars(cost.money) if cost.money else "no money")
    if cost.minutes is not None:
        parts.append(time_words(60 * cost.minutes))
    return ", ".join(parts)


def _threshold(console: Console, measured: CalibrationRun) -> None:
    best, kappa = measured.threshold, measured.calibration.kappa
    if best is None or kappa is None:
        return
    sentence = (
        f"best threshold here: {best.value!r}, with κ {two_digits(best.kappa)} "
        f"instead of {two_digits(kappa.mean)}"
    )
    elsewhere = best.kappa_elsewhere
    if elsewhere is not None:
        sentence += f"; chosen on half of the questions, {two_digits(elsewhere)} on the other half"
    # A line drawn through chance looks well where it was drawn.
    if best.kappa <= kappa.mean or (elsewhere is not None and elsewhere < max(WEAK, kappa.mean)):
        line(console, f"{sentence}: no reason to change it")
    else:
        line(
            console,
            f"{sentence}. Nothing is changed: take it with --similarity-threshold {best.value!r}",
        )


def _wrong(console: Console, shown: Sequence[Disagreement], total: int) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if not shown:
        return
    console.print()
    line(console, f"Where it is wrong, {thousands(len(shown))} of {thousands(total)}", "bold")
    for each in shown:
        said = "relevant, called irrelevant" if each.is_relevant else "irrelevant, called relevant"
        near = "" if each.cosine is None else f" · cosine {two_digits(each.cosine)}"
        line(console, f"{said}{near}", "red")
        room = max(console.width - 8, 20)
        texts = (
            Text(one_line(each.question, room), "bold"),
            Text(f"“{one_line(each.text.strip(), _EXCERPT)}”"),
            Text(f"{one_line(each.doc_id, 60)} {from_to(each.start, each.end)}", "dim"),
        )
        for text in texts:
            console.print(Padding(text, (0, 0, 0, 6), expand=False))


def _beside(console: Console, known: Sequence[Calibration]) -> None:
    from rich.text import Text

    heading(console, "Beside each other")
    table = plain_table("", "right", "κ", "missed", "false", "unscored", "$ per 1,000")
    for each in sorted(known, key=lambda one: -(one.kappa.mean if one.kappa else -2.0)):
        money = each.cost.money if each.cost else None
        table.add_row(
            Text(f"  {one_line(each.name, 24)}"),
            *(_short(figure) for figure in (each.accuracy, each.kappa, each.missed, each.false_alarms)),
            thousands(sum(each.unscored.values())), "?" if money is None else dollars(money).removeprefix("$"),
        )  # fmt: skip
    console.print(table)


def _short(figure: Interval | None) -> str:
    return "none" if figure is None else two_digits(figure.mean)
