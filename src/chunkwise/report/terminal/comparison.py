"""A comparison in a terminal: who is better in words, the differences drawn, and what these questions cannot show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from chunkwise.base.wording import (
    counted,
    listed,
    number,
    p_value,
    percent,
    relative_change,
    signed,
    thousands,
    two_digits,
)
from chunkwise.evaluation.comparison_result import (
    NO_DIFFERENCE,
    Best,
    Change,
    Comparison,
    Contrast,
    MetricDifference,
    Tested,
)
from chunkwise.report.sanitize import one_line
from chunkwise.report.terminal.widgets import LOWER
from chunkwise.report.views.comparison import (
    ComparisonView,
    behind,
    corrected_words,
    figure_words,
)
from chunkwise.stats.intervals import Interval
from chunkwise.stats.paired import FEWEST

if TYPE_CHECKING:
    from rich.console import Console

_MOST_NAMED = 3
_MOST_CHANGED = 3
"""Questions that changed, in either direction, at first sight."""
_MOST_QUESTIONS = 100_000
"""Nobody writes more of them: the number would say no more than that."""
_SELDOM = 0.05
"""Of the resamples: a run that is best in fewer is no tie, even if the tests, being many, do not show it."""
_EQUAL = 1e-9
_NARROWEST = 11
_WIDEST = 31
_LONGEST_NAME = 30
_GAP = "  "


def render_comparison(view: ComparisonView, console: Console) -> None:
    """Draw the comparison."""
    comparison, shown = view.comparison, view.metrics
    _runs(comparison, console)
    if len(comparison.contrasts) == 1:
        _two(comparison.contrasts[0], shown, console, view.shows_all_metrics)
    else:
        _several(comparison, shown, console, view.is_whole)
    _explain(comparison, shown, console)
    _figures(comparison, view.figures, console)
    if view.leaves_out:
        console.print()
        _say(console, "--all shows every measure, the types of questions and every cost", "dim")


def _runs(comparison: Comparison, console: Console) -> None:
    for run in comparison.runs:
        label, source = one_line(run.label, 200), one_line(run.source, 200)
        names = " · ".join(part for part in (label, source) if part)
        _say(console, f"{run.name}  {names}", "bold", indent=0)
    for contrast in comparison.contrasts:
        parts = [
            f"{counted(contrast.questions, 'question')} in both {contrast.first} and {contrast.second}"
        ]
        for name, count in (
            (contrast.first, contrast.only_first),
            (contrast.second, contrast.only_second),
        ):
            if count:
                parts.append(f"{thousands(count)} only in {name}")
        if contrast.other_text:
            parts.append(f"{thousands(len(contrast.other_text))} left out, their texts differ")
        _say(console, " · ".join(parts), indent=0)
    for warning in comparison.warnings:
        _say(console, f"! {one_line(warning)}", "yellow", indent=0)


def _two(contrast: Contrast, metrics: Sequence[str], console: Console, whole: bool) -> None:
    heads = contrast.first, contrast.second
    if contrast.metrics:
        _heading(console, "Differences")
        rows = [
            _row(_named(name, contrast.metrics[name]), contrast.metrics[name]) for name in metrics
        ]
        print_rows(console, rows, heads)
    _behind(contrast, metrics, console)
    _unpaired(contrast, metrics, console, whole)
    _not_shown(contrast, metrics if whole else [contrast.objective], console)
    typed = {
        type: found[contrast.objective]
        for type, found in contrast.by_type.items()
        if contrast.objective in found
    }
    if whole and len(typed) > 1:
        _heading(
            console,
            f"By type of question: {one_line(contrast.objective, 60)}, 95 % intervals of each alone, not tested",
        )
        print_rows(
            console,
            [
                DifferenceRow(f"{type} ({thousands(found.pairs)})", found)
                for type, found in typed.items()
            ],
            heads,
        )
    if contrast.first_better or contrast.second_better:
        _heading(console, f"Questions that changed most: {one_line(contrast.objective, 60)}")
        most = None if whole else _MOST_CHANGED
        _changes(console, f"{contrast.second} is better", contrast.second_better[:most])
        _changes(console, f"{contrast.first} is better", contrast.first_better[:most])


def _several(comparison: Comparison, metrics: Sequence[str], console: Console, whole: bool) -> None:
    first = comparison.runs[0].name
    for metric in metrics:
        own = [each for each in comparison.contrasts if metric in each.metrics]
        lower = own[0].metrics[metric].lower_is_better
        _heading(console, one_line(metric, 60) + (f" {LOWER}" if lower else ""))
        rows = [_row(each.second, each.metrics[metric]) for each in own]
        print_rows(console, rows, (first, "run"))
        if metric in comparison.best:
            _say(console, _best(comparison.best[metric]))
    for contrast in comparison.contrasts:
        _behind(contrast, metrics, console)
        _unpaired(contrast, metrics, console, whole)


def _best(found: Best) -> str:
    shares = found.best_share
    if max(shares.values()) - min(shares.values()) < _EQUAL:
        return "all equal"
    others = [name for name in found.tied if name != found.best]
    sentence = f"best: {found.best}, in {percent(shares[found.best])} of resamples"
    if not others:
        return f"{sentence}; all others are worse"
    tied = [name for name in others if shares[name] >= _SELDOM]
    behind = [name for name in others if shares[name] < _SELDOM]
    for words, names in (
        ("tied with it", tied),
        ("seldom best, but not shown to be worse", behind),
    ):
        if names:
            sentence += (
                f"; {words}: {listed([f'{name} ({percent(shares[name])})' for name in names], 12)}"
            )
    if found.needed and found.needed > found.questions:
        sentence += f"; {_many(found.needed, 'about ')} questions would separate the best two"
    return sentence


def _row(name: str, found: Tested) -> DifferenceRow:
    p = p_value(found.adjusted)
    return DifferenceRow(name, found, p, found.verdict, found.verdict != NO_DIFFERENCE)


def _named(metric: str, found: Tested) -> str:
    return f"{metric} {LOWER}" if found.lower_is_better else metric


def _behind(contrast: Contrast, metrics: Sequence[str], console: Console) -> None:
    """What is not drawn is told in a line: a difference that is shown is never out of sight."""
    if verdicts := behind(contrast, metrics):
        _say(console, f"besides, {contrast.second} against {contrast.first}: {'; '.join(verdicts)}")


def _unpaired(contrast: Contrast, metrics: Sequence[str], console: Console, whole: bool) -> None:
    if contrast.unpaired:
        names = listed([one_line(name, 40) for name in contrast.unpaired], 6 if whole else 1)
        _say(
            console,
            f"no question has a score in both {contrast.first} and {contrast.second}: {names}",
        )
    for name in metrics:
        found = contrast.metrics.get(name)
        if found is not None and found.unscored:
            gone = counted(found.unscored, "question")
            _say(console, f"{one_line(name, 40)}: {gone} unscored in one or both, left out")


def _not_shown(contrast: Contrast, metrics: Sequence[str], console: Console) -> None:
    """That nothing is shown does not mean that nothing is there."""
    tested = {name: contrast.metrics[name] for name in metrics}
    open_ones = {name: found for name, found in tested.items() if found.verdict == NO_DIFFERENCE}
    if open_ones and contrast.questions < FEWEST:
        questions = counted(contrast.questions, "question")
        _say(console, f"With {questions} no difference can be shown: {FEWEST} are the fewest.")
        return
    least = [
        f"{number(found.detectable)} ({one_line(name, 40)})"
        for name, found in open_ones.items()
        if found.detectable is not None
    ]
    if least:
        _say(
            console,
            f"With {counted(contrast.questions, 'question')}, differences under {listed(least, _MOST_NAMED)} "
            "are seldom shown.",
        )
    more = [
        f"{_many(found.needed)} ({one_line(name, 40)})"
        for name, found in open_ones.items()
        if found.needed is not None and found.needed > found.pairs
    ]
    if more:
        counts = listed(more, _MOST_NAMED)
        _say(
            console, f"About as many questions would show a difference of the size seen: {counts}."
        )


def _many(questions: int, about: str = "") -> str:
    if questions > _MOST_QUESTIONS:
        return f"more than {thousands(_MOST_QUESTIONS)}"
    return f"{about}{thousands(questions)}"


def _changes(console: Console, words: str, changes: Sequence[Change]) -> None:
    if not changes:
        return
    _say(console, words)
    for change in changes:
        start = f"{number(change.first)} → {number(change.second)}  {one_line(change.id, 16)}  "
        room = max(console.width - len(start) - 4, 10)
        _say(console, start + one_line(change.text, room), indent=4, wrap=False)


def _explain(comparison: Comparison, metrics: Sequence[str], console: Console) -> None:
    shown = set(metrics)
    tests = [
        found
        for each in comparison.contrasts
        for name, found in each.metrics.items()
        if name in shown
    ]
    if not tests:
        return
    legend = f"● difference, ─ its interval, both paired by question; {corrected_words(comparison.tests)}"
    if any(found.lower_is_better for found in tests):
        legend += f"; {LOWER} lower is better"
    console.print()
    _say(console, legend, "dim")


def _figures(comparison: Comparison, names: Sequence[str], console: Console) -> None:
    """Costs and figures of whole chunkings, one column a run."""
    rows = [
        (one_line(name, 32), [_cell(name, value) for value in comparison.figures[name]])
        for name in names
    ]
    if not rows:
        return
    _heading(console, "Whole runs, not tested")
    label = max(len(name) for name, _ in rows)
    columns = [[run.name for run in comparison.runs], *(cells for _, cells in rows)]
    width = max(len(cell) for cells in columns for cell in cells)
    for name, cells in (("", columns[0]), *rows):
        shown = "  ".join(cell.rjust(width) for cell in cells)
        _say(console, f"{name:<{label}}  {shown}", "" if name else "dim", wrap=False)


def _cell(name: str, value: float | None) -> str:
    return "-" if value is None else figure_words(name, value)


def _heading(console: Console, text: str) -> None:
    console.print()
    _say(console, text, "bold", indent=0)


def _say(
    console: Console, text: str, style: str = "", *, indent: int = 2, wrap: bool = True
) -> None:
    from rich.text import Text

    # Text objects are shown as they are: no markup, no emoji codes, no highlighting.
    if not wrap:
        console.print(Text(" " * indent + text, style), no_wrap=True, overflow="ellipsis")
        return
    for line in Text(text, style).wrap(console, max(console.width - indent, 20)):
        line.rstrip()
        line.pad_left(indent)
        console.print(line, no_wrap=True)


class DifferenceRow(NamedTuple):
    """What one line says."""

    name: str
    found: MetricDifference
    p: str = ""
    words: str = ""
    strong: bool = False
    """Drawn to be seen first; the words say the same."""


def difference_bar(interval: Interval, reach: float, width: int) -> str:
    """The interval as a line around zero in the middle, the difference as a dot; `reach` is where it ends."""
    half = width // 2

    def at(value: float) -> int:
        return half + round(max(-1.0, min(value / reach, 1.0)) * half) if reach else half

    cells = [" "] * width
    cells[half] = "│"
    for cell in range(at(interval.low), at(interval.high) + 1):
        cells[cell] = "┼" if cell == half else "─"
    cells[at(interval.mean)] = "●"
    return "".join(cells)


def print_rows(console: Console, rows: Sequence[DifferenceRow], heads: tuple[str, str]) -> None:
    """One line a row where they fit, else two; `heads`: what the two figures are called."""
    names = [one_line(row.name, _LONGEST_NAME) for row in rows]
    reach = max((_reach(row.found) for row in rows if _reach(row.found) <= 1), default=0.0)
    figures = [_row_figures(row) for row in rows]
    titles = (*heads, f"{heads[1]} - {heads[0]}", "change")
    widths = [max(map(len, column)) for column in zip(titles, *figures, strict=True)]
    words = max(len(row.words) for row in rows)
    label, p = max(map(len, names)), max(len(row.p) for row in rows)
    fixed = label + sum(widths) + p + 2 * len(_GAP) * (4 + bool(p) + bool(words)) // 2
    one_line_each = 2 + fixed + len(_GAP) + words + _NARROWEST <= console.width
    taken = 2 + fixed + len(_GAP) + (words if one_line_each else -label)
    bar = max(_NARROWEST, min(_WIDEST, console.width - taken))
    bar -= 1 - bar % 2
    _row_head(console, titles, widths, label if one_line_each else 0, (reach, bar), p)
    for row, name, cells in zip(rows, names, figures, strict=True):
        # Figures beyond 1 are no shares and would leave the others no room.
        own = _reach(row.found)
        drawn = difference_bar(_drawn(row.found), own if own > 1 else reach, bar)
        numbers = _GAP.join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        style = "bold" if row.strong else ""
        if not one_line_each:
            _line(console, (f"  {name}", "bold"), (f"{_GAP}{row.words}", style))
            _line(console, (f"  {numbers}{_GAP}", ""), (drawn, "cyan"), (f"{_GAP}{row.p:>{p}}", ""))
            continue
        _line(
            console, (f"  {name:<{label}}{_GAP}{numbers}{_GAP}", ""), (drawn, "cyan"),
            (f"{_GAP}{row.p:>{p}}{_GAP if p else ''}", ""), (row.words, style),
        )  # fmt: skip


def _drawn(found: MetricDifference) -> Interval:
    """The interval that says what the verdict says."""
    return found.corrected if isinstance(found, Tested) else found.difference


def _reach(found: MetricDifference) -> float:
    return max(abs(end) for end in _drawn(found))


def _row_figures(row: DifferenceRow) -> tuple[str, str, str, str]:
    found = row.found
    return (
        number(found.first),
        number(found.second),
        signed(found.difference.mean),
        relative_change(found.relative),
    )


def _row_head(
    console: Console,
    titles: Sequence[str],
    widths: Sequence[int],
    label: int,
    scale: tuple[float, int],
    p: int,
) -> None:
    reach, bar = scale
    numbers = _GAP.join(title.rjust(width) for title, width in zip(titles, widths, strict=True))
    half = bar // 2
    left, right = f"-{two_digits(reach)}", f"+{two_digits(reach)}"
    axis = f"{left:<{half}}0{right:>{half}}" if left != "-0.00" and len(left) < half else ""
    start = f"  {' ' * label}{_GAP}" if label else "  "
    _line(console, (f"{start}{numbers}{_GAP}{axis:<{bar}}{_GAP}{'p' if p else '':>{p}}", "dim"))


def _line(console: Console, *parts: tuple[str, str]) -> None:
    from rich.text import Text

    text = Text.assemble(*parts)
    text.rstrip()
    console.print(text, no_wrap=True, overflow="ellipsis", highlight=False)
