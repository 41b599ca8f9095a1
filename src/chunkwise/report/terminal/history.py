"""A history in a terminal: runs with small charts, one metric over time, one run, a watched run, and two runs apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chunkwise.base.wording import (
    counted,
    interval,
    listed,
    number,
    points,
    points_between,
    rough_dollars,
    score,
    thousands,
    time_words,
    with_interval,
)
from chunkwise.evaluation.results import Figure
from chunkwise.metrics.registry import lower_is_better
from chunkwise.report.charts import Scale, scale_of
from chunkwise.report.sanitize import one_line
from chunkwise.report.terminal.widgets import (
    LOWER,
    add_row,
    figure_table,
    heading,
    indented,
    line,
    plain_table,
)
from chunkwise.report.views.history import (
    ChartPoint,
    HistoryView,
    MetricHistoryView,
    RunDifferenceView,
    RunFigure,
    RunRow,
    RunView,
    mean_words,
)
from chunkwise.report.views.watch import WatchView, drift_lines
from chunkwise.tracking.explain_difference import SetChange
from chunkwise.tracking.run import KeptFigure

if TYPE_CHECKING:
    from rich.console import Console


_COLUMNS = "▁▂▃▄▅▆▇█"
_LEAST = 0.1
"""What the height of a small chart is at least: of a score, else as a share of the largest value."""
_NAMED = 5
"""Documents and questions that are named."""


def sparkline(values: Sequence[float]) -> str:
    """A column a value, from the lowest to the highest; so little a change as to be chance is drawn as little."""
    low, high = min(values), max(values)
    furthest = max(abs(low), abs(high))
    span = max(high - low, _LEAST if furthest <= 1 else _LEAST * furthest)
    # In the middle, where they do not fill it.
    bottom = low - (span - (high - low)) / 2
    return "".join(_COLUMNS[round(7 * (value - bottom) / span)] for value in values)


def render_history(view: HistoryView, console: Console) -> None:
    """Two or three lines a run, the latest first."""
    for row in view.rows:
        _head(console, row)
        if row.figures:
            indented(console, "   ".join(map(_figure, row.figures)), left=7)
        indented(console, one_line(row.changed, 400), "dim", left=7)
    if len(view.rows) < view.total:
        line(
            console,
            f"{thousands(len(view.rows))} of {counted(view.total, 'run')} shown; -n {view.total} shows all",
            "dim",
        )


def _head(console: Console, row: RunRow) -> None:
    from rich.text import Text

    marks = f"  ★ baseline {', '.join(row.baselines)}" if row.baselines else ""
    shown = Text.assemble(
        (f"{row.number:>5}", "bold"), f"  {row.when}  {one_line(row.kind, 20)}  ", (one_line(row.label, 120), "cyan"),
        (one_line(marks, 80), "yellow"),
    )  # fmt: skip
    console.print(shown, no_wrap=True, overflow="ellipsis")


def _figure(figure: RunFigure) -> str:
    down = f" {LOWER}" if figure.is_lower_better else ""
    trend = f" {sparkline(figure.trend)}" if len(figure.trend) > 1 else ""
    return f"{one_line(figure.metric, 40)}{down} {figure.words}{trend}"


def render_metric_history(view: MetricHistoryView, console: Console) -> None:
    """A line a run: its mean on a scale, the interval around it, the baseline as a bar."""
    from rich.text import Text

    down = f" {LOWER} lower is better" if view.is_lower_better else ""
    heading(console, f"{one_line(view.metric, 60)} over {counted(len(view.points), 'run')}{down}")
    ends = [
        end for point in view.points for end in (point.figure.mean, point.figure.low, point.figure.high)
    ]  # fmt: skip
    scale = scale_of([*ends, view.baseline])
    width = max(16, min(60, console.width - 52))
    left, right = _tick(scale.low), _tick(scale.high)
    console.print(Text(f"{'':>25}{left}{right:>{max(1, width - len(left))}}", "dim", no_wrap=True))
    for point in view.points:
        cells, low, high = _drawn(point, view.baseline, scale, width)
        drawn = Text(cells, "dim")
        drawn.stylize("not dim cyan", low, high + 1)
        changed = " · ".join(point.row.changes)
        told = Text.assemble(
            f"{point.row.number:>5}  {point.row.when}  ", drawn, f"  {mean_words(point.figure)}",
            (f"  ▼ alert {', '.join(map(str, point.alerts))}" if point.alerts else "", "red"),
            (f"  {one_line(changed, 120)}" if changed else "", "dim"),
        )  # fmt: skip
        console.print(told, no_wrap=True, overflow="ellipsis")
    limits = next((each for each in reversed(view.points) if each.limit_low is not None), None)
    if limits is not None:
        within = interval(limits.limit_low, limits.limit_high)
        line(
            console,
            f"control chart at run {limits.row.number}: average {number(limits.average or 0.0)}, limits {within}",
            "dim",
        )
    if view.baseline is not None:
        line(console, f"│ baseline, run {view.baseline_run}: {number(view.baseline)}", "dim")
    if any(point.figure.low is not None for point in view.points):
        line(console, "─ 95% interval", "dim")


def _tick(value: float) -> str:
    return number(value)


def _drawn(
    point: ChartPoint, baseline: float | None, scale: Scale, width: int
) -> tuple[str, int, int]:
    """Cells of one run, and where its interval begins and ends."""

    def cell(value: float) -> int:
        return min(int(scale.share(value) * width), width - 1)

    figure = point.figure
    mean = figure.mean or 0.0
    low = cell(mean if figure.low is None else figure.low)
    high = cell(mean if figure.high is None else figure.high)
    cells = ["·"] * width
    cells[low : high + 1] = "─" * (high - low + 1)
    if baseline is not None:
        cells[cell(baseline)] = "│"
    cells[cell(mean)] = "●"
    return "".join(cells), low, high


def render_run(view: RunView, console: Console) -> None:
    """Everything about one run, figures first."""
    row = view.row
    heading(console, f"Run {row.number}: {row.kind} {one_line(row.label, 200)}")
    facts = [f"{row.when} UTC", one_line(row.origin, 200)]
    facts += [f"took {time_words(view.seconds)}"] if view.seconds is not None else []
    facts += [f"cost {rough_dollars(view.money)}"] if view.money is not None else []
    line(console, " · ".join(fact for fact in facts if fact))
    counts = [counted(view.documents, "document")] if view.documents is not None else []
    counts += [counted(view.questions, "question")] if view.questions else []
    if counts:
        line(console, " · ".join(counts))
    if row.baselines:
        line(console, f"★ baseline {one_line(', '.join(row.baselines), 80)}", "yellow")
    since = f"since run {row.before}: " if row.before is not None and row.changes else ""
    line(console, f"{since}{one_line(row.changed, 600)}", "dim")
    for note in view.notes:
        line(console, one_line(note, 1000))
    if view.figures:
        heading(console, "Figures")
        # A line from 0 to 1 has no place for a difference between runs.
        is_drawn = all((figure.low or 0.0) >= 0 for figure in view.figures.values())
        table = figure_table(console) if is_drawn else plain_table("", "mean", "95% interval", "of")
        for name, figure in view.figures.items():
            label = f"{name} {LOWER}" if lower_is_better(name) else name
            if is_drawn:
                add_row(table, label, mean_words(figure), _as_figure(figure), console)
            else:
                ends = interval(figure.low, figure.high)
                table.add_row(
                    f"  {one_line(label, 40)}", mean_words(figure), ends, thousands(figure.scored)
                )
        console.print(table)
    for own in view.made_with:
        heading(console, own.title.capitalize())
        values = plain_table("", "")
        for each in own.values:
            values.add_row(f"  {one_line(each.name, 60)}", one_line(each.value, 200))
        values.columns[1].justify = "left"
        console.print(values)


def _as_figure(figure: KeptFigure) -> Figure:
    unscored = figure.questions - figure.scored
    return Figure(
        figure.mean, figure.low, figure.high, figure.scored, {"": unscored} if unscored > 0 else {}
    )


def render_run_difference(view: RunDifferenceView, console: Console) -> None:
    """What changed, by how much every figure differs, and what of."""
    heading(console, f"Run {view.after.number} against run {view.before.number}")
    for row in (view.before, view.after):
        line(
            console, f"{row.number:>5}  {row.when}  {row.kind}  {one_line(row.label, 160)}", wrap=False
        )  # fmt: skip
    heading(console, "What changed")
    changes = view.difference.changes
    if not changes.words:
        line(console, "nothing: the same documents, questions, settings and versions")
    for name, change in (("documents", changes.documents), ("questions", changes.questions)):
        if change is None:
            line(console, f"{name}: other ones; which is not known, as a run was kept without them")
        elif change:
            line(console, f"{name} {change.words}: {_named(change)}")
    for value in (*changes.settings, *changes.versions):
        line(console, one_line(value.words, 200))
    heading(console, "Figures")
    for name in view.metrics:
        found = view.difference.metrics[name]
        down = f" {LOWER}" if found.is_lower_better else ""
        line(
            console,
            f"{one_line(name, 60)}{down}  {number(found.before)} → {number(found.after)}, {found.words}",
        )
        if found.paired is not None:
            line(
                console,
                f"    on the {counted(found.common, 'question')} in both: {with_interval(*found.paired)}",
                "dim",
            )
        for note in dict.fromkeys(part.note for part in found.parts if part.note):
            line(console, f"    {note}", "dim")
    if not view.metrics:
        line(console, "no metric is in both runs")
    if len(view.metrics) < len(view.difference.metrics):
        more = len(view.difference.metrics) - len(view.metrics)
        line(console, f"{counted(more, 'more metric')}: --all shows them", "dim")
    if view.moved:
        heading(console, f"Questions that moved most by {one_line(view.objective, 60)}")
        for each in view.moved:
            line(
                console, f"{score(each.before)} → {score(each.after)}  {one_line(each.text, 160)}", wrap=False
            )  # fmt: skip
            for words, ids in (("no longer retrieved", each.lost), ("new", each.gained)):
                if ids:
                    told = listed([one_line(id, 60) for id in ids], 3)
                    line(console, f"               {words}: {told}", "dim", wrap=False)


def _named(change: SetChange) -> str:
    parts = (("new", change.added), ("changed", change.changed), ("gone", change.removed))
    return "; ".join(
        f"{word} {listed([one_line(id, 60) for id in ids], _NAMED)}" for word, ids in parts if ids
    )


def render_watch(view: WatchView, console: Console) -> None:
    """A row a metric, then alerts with all they say, then drift."""
    against = f" against run {view.reference}" if view.reference != view.run else ""
    heading(console, f"Run {view.run}{against}")
    for note in view.notes:
        line(console, one_line(note, 400))
    for metric, told in view.figures:
        line(console, f"{one_line(metric, 40)} {told}")
    if view.rows:
        table = plain_table("", "then", "now", "points", "95% interval", "")
        table.columns[5].justify = "left"
        table.columns[5].no_wrap = False
        for figures, width in zip(table.columns[1:5], (5, 5, 6, 16), strict=True):
            figures.min_width = width  # a figure is never cut short
        for row in view.rows:
            own = row.figure
            down = f" {LOWER}" if own.is_lower_better else ""
            table.add_row(
                f"{one_line(row.metric, 40)}{down}", number(own.before), number(own.after), points(own.difference),
                points_between(own.low, own.high), row.verdict, style="bold red" if own.alarm else "",
            )  # fmt: skip
        console.print(table)
    for lines in view.lines:
        heading(console, one_line(lines[0], 300))
        for each in lines[1:]:
            indented(console, each.strip(), left=3 + len(each) - len(each.lstrip(" ")))
    for each in view.quiet:
        line(console, one_line(each, 300), "dim")
    drift = drift_lines(view.corpus, view.live)
    if drift:
        heading(console, "Drift")
        for each in drift:
            indented(console, each.strip(), left=6 if each.startswith("  ") else 3)
