"""Reports of a history: the list of runs, one run, one metric over all runs, and what changed between two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chunkwise.base.wording import Kind, counted, format_number, listed
from chunkwise.metrics.registry import help_of, kind_of, lower_is_better
from chunkwise.report.evaluation_report import directed
from chunkwise.report.format_values import format_value
from chunkwise.report.report import (
    Axis,
    Chart,
    Column,
    Estimate,
    Headline,
    Level,
    Next,
    Note,
    Point,
    Report,
    ReportPart,
    Series,
    Value,
    ValueTable,
    settings_table,
)
from chunkwise.tracking.drift import PairedRuns
from chunkwise.tracking.explain_difference import DividedDifference, RunDifference, SetChange
from chunkwise.tracking.history import History
from chunkwise.tracking.run import KeptFigure, KeptRun
from chunkwise.tracking.run_rows import MetricHistory, RunList, RunRow, RunRows

_KEY_METRICS = 3
_MOVED_MOST = 5
_NAMED = 5
"""Documents and questions that are named."""
_ROWS = 20


def figure_value(metric: str, figure: KeptFigure) -> Value:
    """A score with its interval; an amount in its unit."""
    estimate = Estimate(figure.mean, figure.low, figure.high)
    kind = _kind(metric, figure)
    return estimate if kind == "score" else format_value(estimate, kind)


def _kind(metric: str, figure: KeptFigure) -> Kind:
    if figure.is_amount:
        return "count"
    return "score" if kind_of(metric) == "score" and abs(figure.mean or 0.0) <= 1 else "number"


def _apart(metric: str, value: float, before: float) -> str:
    """A difference in points, or in the unit of the metric."""
    is_score = kind_of(metric) == "score" and max(abs(value), abs(before)) <= 1
    if is_score:
        return format_value(value - before, "change")
    sign = "+" if value > before else ""
    return f"{sign}{format_value(value - before, 'number')}"


def runs_report(runs: RunList, next_command: str = "") -> Report:
    """Build the report of a list of runs, the latest first."""
    columns = (
        Column("run", 'count'), Column("when"), Column("kind", is_filter=True), Column("metric", "code"),
        Column("score", "score"), Column("changes"),
    )  # fmt: skip
    rows = tuple(_run_row(row) for row in runs.rows)
    details = tuple(tuple(_run_details(row)) for row in runs.rows)
    parts: list[ReportPart] = [
        *_latest(runs.rows),
        ValueTable(columns, rows, noun="run", details=details, brief_rows=_ROWS),
    ]
    if len(rows) < runs.total:
        parts.append(
            Note(f"{len(rows):,} of {counted(runs.total, 'run')}; -n {runs.total} shows all.")
        )
    parts += [Next(next_command)] if next_command else []
    return Report(counted(runs.total, "run"), tuple(parts), "runs", runs.place)


def _latest(rows: Iterable[RunRow]) -> Iterator[Headline]:
    """The main figure of the latest run, and how it differs from that of the run before."""
    row = next((row for row in rows if row.figures), None)
    if row is None:
        return
    main = row.figures[0]
    text = f"Run {row.number}: {directed(main.metric)} {format_value(figure_value(main.metric, main.figure), 'score')}"
    if len(main.trend) > 1:
        text += f", {_apart(main.metric, main.trend[-1], main.trend[-2])} since the previous run"
    yield Headline(f"{text}.")


def _run_row(row: RunRow) -> tuple[Value, ...]:
    main = row.figures[0] if row.figures else None
    return (
        row.number,
        row.when[:10],
        row.kind,
        directed(main.metric) if main else "",
        figure_value(main.metric, main.figure) if main else None,
        _what(row),
    )


def _what(row: RunRow) -> str:
    """What it has that the run before has not; its label where that is nothing."""
    marks = f"★ {', '.join(row.baselines)} · " if row.baselines else ""
    return marks + (" · ".join(map(_new_first, row.changes)) or row.label)


def _new_first(change: str) -> str:
    """`strategy sentences, was words`: a terminal cuts the end."""
    before, arrow, after = change.partition(" → ")
    name, _, old = before.partition(" ")
    return f"{name} {after}, was {old}" if arrow and old else change


def _changed(row: RunRow) -> str:
    return "first run of this kind" if row.before is None else " · ".join(row.changes)


def _named(row: RunRow) -> str:
    return f"★ baseline {', '.join(row.baselines)} · {row.label}" if row.baselines else row.label


def _run_details(row: RunRow) -> Iterator[Note]:
    yield Note(" · ".join(filter(None, (row.label, f"{row.when} UTC", row.origin))))
    figures = [
        f"{figure.metric} {format_value(figure_value(figure.metric, figure.figure), 'score')}"
        for figure in row.figures
    ]
    if figures:
        yield Note(" · ".join(figures))


def run_report(history: History, number: int) -> Report:
    """Build the report of one run: figures, what changed since the one before, what it was made with."""
    run: KeptRun = history.run(number)
    every = history.runs()
    summary = next(run_summary for run_summary in every if run_summary.number == number)
    row = RunRows(history, every).row(summary)
    facts = [f"{row.when} UTC", row.origin]
    facts += [f"took {format_number(run.seconds, 'seconds')}"] if run.seconds is not None else []
    facts += [f"cost {format_number(run.money, 'money')}"] if run.money is not None else []
    counts = [counted(len(run.documents), "document")] if run.documents is not None else []
    counts += [counted(len(run.questions), "question")] if run.questions else []
    since = f"since run {row.before}: " if row.before is not None and row.changes else ""
    main = run.main_metrics(len(run.figures))
    names = list(dict.fromkeys([*main, *run.figures]))
    columns = (
        Column("metric", "code"), Column("score", "score", is_drawn=True), Column("questions", 'count'),
    )  # fmt: skip
    rows = tuple(
        (directed(name), figure_value(name, figure), figure.scored or None)
        for name in names
        if (figure := run.figures[name])
    )
    headline = f"{directed(names[0])} {format_value(rows[0][1], 'score')}." if names else ""
    parts: list[ReportPart] = [
        *([Headline(headline)] if headline else []),
        *([Note(f"★ baseline {', '.join(row.baselines)}")] if row.baselines else []),
        Note(" · ".join((f"{since}{row.changed}", *counts))),
        *_notes(run),
        *([ValueTable(columns, rows, noun="metric", brief_rows=12)] if rows else []),
        settings_table("Settings", run.settings),
        settings_table("Versions", run.versions),
    ]
    title = f"Run {number}: {run.kind} {run.label}"
    return Report(title, tuple(parts), "run", " · ".join(filter(None, facts)))


def _notes(run: KeptRun) -> Iterator[Note]:
    """What runs of this kind say beside their figures: a recommendation, verdicts, warnings."""
    details = run.details
    if sentence := details.get("sentence"):
        yield Note(str(sentence))
    if isinstance(verdicts := details.get("verdicts"), dict):
        yield from (Note(f"{name}: {verdict}", detail=True) for name, verdict in verdicts.items())
    if isinstance(warnings := details.get("warnings"), list):
        yield from (Note(str(warning), is_warning=True) for warning in warnings)


def metric_history_report(found: MetricHistory) -> Report:
    """Build the report of one metric over runs, as a chart and a table."""
    latest = found.points[-1]
    metric = found.metric
    kind = _kind(metric, latest.figure)
    value = format_value(figure_value(metric, latest.figure), "score")
    text = f"{directed(metric)} {value} in run {latest.row.number}"
    if found.baseline is not None and found.baseline_run != latest.row.number:
        apart = _apart(metric, latest.figure.mean or 0.0, found.baseline)
        text += f", {apart} against the baseline (run {found.baseline_run})"
    parts: list[ReportPart] = [
        Headline(f"{text}.", "bad" if found.alerts else ""),
        *(
            Note(
                f"Alert {alert.number}, {alert.state}: since run {alert.since}, against run "
                f"{alert.reference}.",
                is_warning=True,
            )
            for alert in found.alerts
        ),
        *([_history_chart(found, kind)] if len(found.points) > 1 else []),
        _history_table(found, kind),
    ]
    limits = next((point for point in reversed(found.points) if point.limit_low is not None), None)
    if limits is not None:
        average, low, high = (
            format_value(value, kind)
            for value in (limits.average, limits.limit_low, limits.limit_high)
        )
        parts.append(
            Note(
                f"Control chart at run {limits.row.number}: moving average {average}, limits "
                f"{low} to {high}."
            )
        )
    lower = "Lower is better." if found.is_lower_better else ""
    title = f"{metric} over {counted(len(found.points), 'run')}"
    subtitle = " ".join(filter(None, (help_of(metric), lower)))
    return Report(title, tuple(parts), "history", subtitle or f"Metric of {found.kind} runs.")


def _history_chart(history: MetricHistory, kind: Kind) -> Chart:
    points = history.points
    series = [
        Series(
            history.metric,
            tuple(
                Point(
                    str(point.row.number),
                    Estimate(point.figure.mean, point.figure.low, point.figure.high),
                    f"alert {', '.join(map(str, point.alerts))}" if point.alerts else "",
                )
                for point in points
            ),
            is_line=True,
        )
    ]
    runs = [str(point.row.number) for point in points]
    levels = {
        "baseline": [history.baseline] * len(points),
        "moving average of the control chart": [point.average for point in points],
        "its limits": [point.limit_low for point in points],
        "": [point.limit_high for point in points],
    }
    for name, values in levels.items():
        known = zip(runs, values, strict=True)
        marks = tuple(Point(run, Estimate(value)) for run, value in known if value is not None)
        if marks:
            is_faint = name != "moving average of the control chart"
            series.append(Series(name, marks, is_line=True, is_faint=is_faint))
    title = f"{history.metric} with 95% intervals"
    return Chart(title, "lines", Axis("run"), Axis(history.metric, kind), tuple(series))


def _history_table(history: MetricHistory, kind: Kind) -> ValueTable:
    columns = (
        Column("run", 'count'), Column("when"), Column(history.metric, kind, is_drawn=kind == "score"),
        Column("alert", 'count'), Column("changed"), Column("what"),
    )  # fmt: skip
    shown = history.points[::-1]
    rows = tuple(
        (
            point.row.number,
            point.row.when[:10],
            Estimate(point.figure.mean, point.figure.low, point.figure.high),
            ", ".join(map(str, point.alerts)),
            _changed(point.row),
            _named(point.row),
        )
        for point in shown
    )
    details = tuple(tuple(_run_details(point.row)) for point in shown)
    return ValueTable(columns, rows, noun="run", details=details, brief_rows=15)


def run_difference_report(history: History, before: int, after: int) -> Report:
    """Build the report of two runs apart: what changed, and how much of the difference came from it."""
    difference = history.difference(before, after)
    every = history.runs()
    known = {run.number: run for run in every}
    rows = RunRows(history, every)
    main = [name for name in known[after].main_metrics(8) if name in difference.metrics]
    names = list(dict.fromkeys([*main, *difference.metrics]))
    parts: list[ReportPart] = [*_difference_headline(difference, names)]
    for number in (before, after):
        row = rows.row(known[number])
        parts.append(Note(f"{number}: {row.when} UTC · {row.kind} · {row.label}"))
    if names:
        parts.append(_differences(difference, names))
    parts += [
        *_causes(difference, names),
        *_what_changed(difference),
        *_moved(history.run(before), history.run(after), names[0] if main else ""),
    ]
    return Report(f"Run {after} against run {before}", tuple(parts), "run difference")


def _difference_headline(difference: RunDifference, names: list[str]) -> Iterator[Headline]:
    if not names:
        yield Headline("The runs have no metric in common.", "bad")
        return
    name = names[0]
    divided_difference = difference.metrics[name]
    yield Headline(f"{directed(name)}: {divided_difference.words}.", _level(divided_difference))


def _level(difference: DividedDifference) -> Level:
    """Of the questions that are in both."""
    if difference.paired is None:
        return ""
    if difference.paired.low <= 0 <= difference.paired.high:
        return "tie"
    return "good" if (difference.paired.mean > 0) != difference.is_lower_better else "bad"


def _differences(difference: RunDifference, names: list[str]) -> ValueTable:
    columns = (
        Column("metric", "code"),
        Column(f"run {difference.before}", 'number'), Column(f"run {difference.after}", 'number'),
        Column("difference", "change"), Column("same questions", "change"), Column("of", 'count'),
    )  # fmt: skip
    rows = []
    for name in names:
        divided_difference = difference.metrics[name]
        is_score = (
            kind_of(name) == "score"
            and max(abs(divided_difference.before), abs(divided_difference.after)) <= 1
        )
        kind: Kind = "score" if is_score else "number"
        paired = divided_difference.paired and Estimate(*divided_difference.paired)
        rows.append(
            (
                directed(name),
                format_value(divided_difference.before, kind),
                format_value(divided_difference.after, kind),
                _apart(name, divided_difference.after, divided_difference.before),
                paired if is_score else format_value(paired, "number"),
                divided_difference.common or None,
            )
        )
    return ValueTable(columns, tuple(rows), noun="metric", brief_rows=_KEY_METRICS)


def _causes(difference: RunDifference, names: list[str]) -> Iterator[ReportPart]:
    """Of the main metric at once, of the others in detail."""
    rows = {
        name: tuple((part.words, _apart(name, part.amount, 0.0), part.note) for part in difference.metrics[name].parts)
        for name in names
    }  # fmt: skip
    columns = (Column("cause"), Column("adds", "change"), Column("remarks"))
    for at, (name, causes) in enumerate(rows.items()):
        if causes:
            yield ValueTable(columns, causes, f"What moved {name}", detail=at > 0)


def _what_changed(difference: RunDifference) -> Iterator[ReportPart]:
    changes = difference.changes
    if not changes.words:
        yield Note("Nothing changed: same documents, questions, settings and versions.")
        return
    rows: list[tuple[Value, ...]] = []
    for name, change in (("documents", changes.documents), ("questions", changes.questions)):
        if change is None:
            rows.append((name, "changed; unknown which, since one run was saved without them"))
        elif change:
            rows.append((f"{name} {change.words}", _ids(change)))
    for value in (*changes.settings, *changes.versions):
        rows.append((value.name, value.words.removeprefix(f"{value.name} ")))
    yield ValueTable((Column("what"), Column("change")), tuple(rows), "What changed", brief_rows=6)


def _ids(change: SetChange) -> str:
    parts = (("new", change.added), ("changed", change.changed), ("gone", change.removed))
    return "; ".join(f"{word} {listed(ids, _NAMED)}" for word, ids in parts if ids)


def _moved(before: KeptRun, after: KeptRun, metric: str) -> Iterator[ValueTable]:
    """The questions that moved most, the worst losses first."""
    sign = -1 if lower_is_better(metric) else 1
    moved = [row for row in PairedRuns.of(before, after).moved(metric) if row.change]
    if not moved:
        return
    rows: list[tuple[Value, ...]] = []
    for then, now, old, new in sorted(moved, key=lambda row: sign * row.change)[:_MOVED_MOST]:
        was, result = (
            dict.fromkeys(hit.doc_id for hit in question.hits) for question in (then, now)
        )
        lost, gained = (
            [id for id in was if id not in result],
            [id for id in result if id not in was],
        )
        rows.append((old, new, now.text, listed(lost, 3), listed(gained, 3)))
    kind = kind_of(metric)
    columns = (
        Column(f"run {before.number}", kind), Column(f"run {after.number}", kind), Column("question"),
        Column("no longer retrieved", detail=True), Column("new", detail=True),
    )  # fmt: skip
    yield ValueTable(columns, tuple(rows), f"Largest changes by question: {metric}", brief_rows=3)
