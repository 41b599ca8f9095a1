"""What is shown of a history: runs with figures and what changed, one metric over all of them, two runs apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from chunkwise.base.errors import UnknownMetric
from chunkwise.base.wording import (
    between,
    counted,
    did_you_mean,
    interval,
    number,
    points,
    score,
    thousands,
)
from chunkwise.metrics.registry import help_of, lower_is_better
from chunkwise.report.charts import (
    ACCENT,
    MARK,
    SOFT,
    Chart,
    Drawing,
    Look,
    Panel,
    chart,
    label_room,
    scale_of,
    span,
)
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.view import Tile, ValueTable, View, value_tables
from chunkwise.tracking import RunKind
from chunkwise.tracking.alerts import Alert
from chunkwise.tracking.explain_difference import RunDifference
from chunkwise.tracking.history import History
from chunkwise.tracking.run import KeptFigure, KeptRun, RunSummary
from chunkwise.tracking.watch import ChartState, known_chart

TREND = 12
"""Runs that a small chart looks back."""
_MAIN = 3
"""Figures of a run in a list."""
_LOST_MOST = 5


@dataclass(frozen=True, slots=True)
class RunFigure:
    """A figure of a run in a list, with those of the runs before."""

    metric: str
    figure: KeptFigure
    trend: tuple[float, ...]
    """Of runs of this kind, the last ones up to this, the oldest first."""

    @property
    def words(self) -> str:
        ends = interval(self.figure.low, self.figure.high)
        return f"{mean_words(self.figure)} ({ends})" if ends else mean_words(self.figure)

    @property
    def is_lower_better(self) -> bool:
        return lower_is_better(self.metric)


def mean_words(figure: KeptFigure) -> str:
    """Counts whole, scores with three digits."""
    if figure.mean is None:
        return "unscored"
    return thousands(figure.mean) if figure.is_amount else number(figure.mean)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list."""

    number: int
    when: str
    """As 2026-01-31 08:00, in UTC."""
    kind: str
    label: str
    figures: tuple[RunFigure, ...]
    before: int | None
    """The run of this kind before it; None: it is the first."""
    changes: tuple[str, ...]
    """Since that one."""
    baselines: tuple[str, ...]
    """Names of the baselines it is."""
    origin: str
    """Branch, revision, user and host, as far as they are known."""

    @property
    def changed(self) -> str:
        """In words."""
        if self.before is None:
            return "the first of its kind"
        return " · ".join(self.changes) if self.changes else f"nothing changed since {self.before}"


@dataclass(frozen=True, slots=True)
class HistoryView(View):
    """The runs of a history, the latest first."""

    page_template: ClassVar[str] = ""
    fragment_template: ClassVar[str] = "fragment_history.html.j2"

    place: str
    total: int
    """Of all that are kept, whatever is shown."""
    rows: tuple[RunRow, ...]


def history_view(
    history: History, *, kind: RunKind | None = None, last: int | None = None
) -> HistoryView:
    """The `last` runs with what changed from one to the next."""
    every = history.runs()
    shown = [run for run in every if kind is None or run.kind == kind]
    shown = shown if last is None else shown[-last:] if last else []
    rows = RunRows(history, every)
    return HistoryView(history.place, len(every), tuple(map(rows.row, reversed(shown))))


class RunRows:
    """Rows of runs, each beside the run of its kind before it."""

    def __init__(self, history: History, runs: Sequence[RunSummary]) -> None:
        self._history = history
        self._names: dict[int, list[str]] = {}
        for baseline in history.baselines():
            self._names.setdefault(baseline.run, []).append(baseline.name)
        self._of_kind: dict[str, list[RunSummary]] = {}
        self._at: dict[int, int] = {}
        for run in runs:
            own = self._of_kind.setdefault(run.kind, [])
            self._at[run.number] = len(own)
            own.append(run)

    def row(self, run: RunSummary) -> RunRow:
        own, at = self._of_kind[run.kind], self._at[run.number]
        before = own[at - 1] if at else None
        until = own[: at + 1]
        return RunRow(
            run.number,
            shown_time(run.when),
            run.kind,
            run.label,
            tuple(_run_figure(metric, run, until) for metric in run.main_metrics(_MAIN)),
            before.number if before else None,
            self._changes(before, run) if before else (),
            tuple(self._names.get(run.number, ())),
            origin_words(run),
        )

    def _changes(self, before: RunSummary, run: RunSummary) -> tuple[str, ...]:
        if all(
            getattr(before, name) == getattr(run, name)
            and (getattr(run, name) or name in _MAPPINGS)
            for name in ("documents_hash", "questions_hash", *_MAPPINGS)
        ):
            return ()  # nothing has to be read for it
        return self._history.changes(before.number, run.number).words


_MAPPINGS = ("settings", "versions")


def _run_figure(metric: str, run: RunSummary, until: Sequence[RunSummary]) -> RunFigure:
    means = [own.mean for each in until if (own := each.figures.get(metric))]
    trend = tuple(mean for mean in means if mean is not None)[-TREND:]
    return RunFigure(metric, run.figures[metric], trend)


def shown_time(when: str) -> str:
    """ "2026-01-31 08:00"; on a server it may be anybody's text."""
    return one_line(when[:16].replace("T", " "))


def origin_words(run: RunSummary) -> str:
    """ "main 1a2b3c4, ann@host", as far as it is known."""
    own = run.origin
    git = " ".join(part for part in (own.git_branch, own.git_revision[:7]) if part)
    who = "@".join(part for part in (own.user, own.host) if part)
    return ", ".join(part for part in (git, who, run.source and f"from {run.source}") if part)


@dataclass(frozen=True, slots=True)
class RunView(View):
    """One run, whole."""

    row: RunRow
    figures: Mapping[str, KeptFigure]
    objective: str
    documents: int | None
    """None: not known."""
    questions: int
    seconds: float | None
    money: float | None
    notes: tuple[str, ...]
    """What runs of this kind say beside their figures: a recommendation, verdicts, warnings."""
    made_with: tuple[ValueTable, ...]


def run_view(history: History, wanted: int) -> RunView:
    run: KeptRun = history.run(wanted)
    rows = RunRows(history, history.runs())
    summary = next(each for each in history.runs() if each.number == wanted)
    return RunView(
        rows.row(summary),
        run.figures,
        run.objective,
        None if run.documents is None else len(run.documents),
        len(run.questions),
        run.seconds,
        run.money,
        _notes(run),
        value_tables(settings=dict(run.settings), versions=dict(run.versions)),
    )


def _notes(run: KeptRun) -> tuple[str, ...]:
    details = run.details
    sentence, verdicts, warnings = (
        details.get(name) for name in ("sentence", "verdicts", "warnings")
    )
    found = [str(sentence)] if sentence else []
    if isinstance(verdicts, dict):
        found += [f"{name}: {verdict}" for name, verdict in verdicts.items()]
    if isinstance(warnings, list):
        found += [f"! {warning}" for warning in warnings]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class MovedQuestion:
    """A question whose score differs between two runs."""

    id: str
    text: str
    before: float
    after: float
    gained: tuple[str, ...]
    """Documents that only the later run retrieved."""
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunDifferenceView(View):
    """Two runs apart."""

    before: RunRow
    after: RunRow
    difference: RunDifference
    metrics: tuple[str, ...]
    """Those that are shown."""
    objective: str
    moved: tuple[MovedQuestion, ...]
    """The questions that moved most by the objective, the worst losses first."""


def run_difference_view(
    history: History, before: int, after: int, *, whole: bool = False
) -> RunDifferenceView:
    """The main metrics, or with `whole` all that both runs have."""
    found = history.difference(before, after)
    runs = history.runs()
    known = {run.number: run for run in runs}
    rows = RunRows(history, runs)
    main = [name for name in known[after].main_metrics(8) if name in found.metrics]
    objective = main[0] if main else ""
    metrics = tuple(found.metrics) if whole else tuple(main[:_MAIN])
    moved = _moved(history.run(before), history.run(after), objective)
    return RunDifferenceView(
        rows.row(known[before]), rows.row(known[after]), found, metrics, objective, moved
    )


def _moved(before: KeptRun, after: KeptRun, metric: str) -> tuple[MovedQuestion, ...]:
    if metric not in before.scores or metric not in after.scores:
        return ()
    first = {
        question.id: (question, value)
        for question, value in zip(before.questions, before.scores[metric], strict=True)
    }
    found = []
    for question, value in zip(after.questions, after.scores[metric], strict=True):
        other, old = first.get(question.id, (None, None))
        if (
            other is None
            or old is None
            or value is None
            or old == value
            or other.text != question.text
        ):
            continue
        now, then = ({hit.doc_id: None for hit in each.hits} for each in (question, other))
        found.append(
            MovedQuestion(
                question.id, question.text, old, value, tuple(id for id in now if id not in then),
                tuple(id for id in then if id not in now),
            )
        )  # fmt: skip
    sign = -1 if lower_is_better(metric) else 1
    return tuple(sorted(found, key=lambda each: sign * (each.after - each.before))[:_LOST_MOST])


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """One run in the chart of a metric."""

    row: RunRow
    figure: KeptFigure
    average: float | None = None
    """The moving average of the control chart; None: it is still learning, or the run was not watched."""
    limit_low: float | None = None
    limit_high: float | None = None
    """What it stays within."""
    alerts: tuple[int, ...] = ()
    """Numbers of the alerts on this metric that were raised here."""


@dataclass(frozen=True, slots=True)
class MetricHistoryView(View):
    """One metric over the runs of a kind."""

    page_template: ClassVar[str] = "history.html.j2"

    place: str
    kind: str
    metric: str
    help: str
    is_lower_better: bool
    points: tuple[ChartPoint, ...]
    """In the order of the runs."""
    baseline: float | None
    """Of the run that others are compared with."""
    baseline_run: int | None
    tiles: tuple[Tile, ...]
    chart: Chart | None


def metric_history_view(
    history: History, metric: str | None = None, *, kind: RunKind | None = None, last: int | None = None
) -> MetricHistoryView:  # fmt: skip
    """The main metric of the latest run, where none is named; runs of the kind that has it."""
    every = history.runs()
    found = [run for run in every if kind is None or run.kind == kind]
    if metric is None:
        metric = next((run.main_metric for run in reversed(found) if run.main_metric), "")
    kinds = [run.kind for run in found if _known(run, metric)]
    if not kinds:
        raise UnknownMetric(_no_metric(metric, found))
    chosen = kinds[-1]
    rows = RunRows(history, every)
    own = [run for run in found if run.kind == chosen and _known(run, metric)]
    own = own if last is None else own[-last:]
    chart = known_chart(history, own, metric)
    baseline = history.baseline(chosen, branch=own[-1].origin.git_branch)
    # Where nobody set one, it is the first run that was watched.
    reference = baseline.run if baseline else chart.runs[0] if chart else None
    held = next((run for run in every if run.number == reference), None)
    level = held.figures[metric].mean if held and _known(held, metric) else None
    points = _watched(history, metric, chart, tuple(
        ChartPoint(rows.row(run), run.figures[metric]) for run in own
    ))  # fmt: skip
    standing = [each for each in history.alerts() if each.metric == metric]
    return MetricHistoryView(
        history.place,
        chosen,
        metric,
        help_of(metric),
        lower_is_better(metric),
        points,
        level,
        held.number if held and level is not None else None,
        (*_alert_tiles(standing), *_tiles(metric, points, level)),
        _chart(metric, points, level),
    )


def _alert_tiles(standing: Sequence[Alert]) -> list[Tile]:
    """What fell and is not well again stands first."""
    return [
        Tile(
            f"{points(each.figure.difference)} points",
            f"alert {each.number}, {each.state}: since run {each.since}, against run {each.reference}",
        )
        for each in standing
    ]


def _watched(
    history: History, metric: str, chart: ChartState | None, found: tuple[ChartPoint, ...]
) -> tuple[ChartPoint, ...]:
    """With the limits of the control chart and the alerts, up to the latest run that was watched."""
    raised: dict[int, list[int]] = {}
    for alert in history.alerts(over=True):
        if alert.metric == metric:
            raised.setdefault(alert.first_run, []).append(alert.number)
    limits = dict(zip(chart.runs, chart.points, strict=True)) if chart else {}
    first = next((run for run in history.runs() if chart and run.number == chart.runs[0]), None)
    level = first.figures[metric].mean if first and _known(first, metric) else None
    shown = []
    for point in found:
        own = replace(point, alerts=tuple(raised.get(point.row.number, ())))
        limit = limits.get(point.row.number)
        if limit is not None and level is not None:
            # Of differences to the reference, drawn at its height.
            own = replace(
                own, average=level + limit.average, limit_low=level + limit.low, limit_high=level + limit.high
            )  # fmt: skip
        shown.append(own)
    return tuple(shown)


def _known(run: RunSummary, metric: str) -> bool:
    figure = run.figures.get(metric)
    return figure is not None and figure.mean is not None


def _no_metric(metric: str, runs: Sequence[RunSummary]) -> str:
    names = list(dict.fromkeys(name for run in reversed(runs) for name in run.figures))
    if not names:
        return "no run has a figure yet; `chunkwise evaluate … --save` keeps one"
    there = f"there are: {', '.join(names)}"
    hint = did_you_mean(metric, names, there)
    return f"no run has the metric {metric!r}; {hint if hint == there else f'{hint} {there}'}"


def _apart(value: float, other: float) -> str:
    if max(abs(value), abs(other)) <= 1:
        return f"{points(value - other)} points"
    return f"{round(value - other):+,}"


def _alert_words(point: ChartPoint) -> str:
    return f"alert {', '.join(map(str, point.alerts))}; " if point.alerts else ""


def _tiles(metric: str, found: Sequence[ChartPoint], baseline: float | None) -> tuple[Tile, ...]:
    means = [point.figure.mean for point in found if point.figure.mean is not None]
    first, latest = found[0], found[-1]
    tiles = [
        Tile(
            mean_words(latest.figure), f"in run {latest.row.number}, {latest.row.when} UTC", metric
        ),
        Tile(counted(len(found), "run"), f"since {first.row.when[:10]}"),
        Tile(between(number(min(means)), number(max(means))), "lowest and highest"),
    ]
    if len(means) > 1:
        tiles.append(
            Tile(_apart(means[-1], means[-2]), f"since run {found[-2].row.number}, the one before")
        )
    if baseline is not None:
        tiles.append(Tile(_apart(means[-1], baseline), "against the baseline"))
    return tuple(tiles)


def _chart(metric: str, found: Sequence[ChartPoint], baseline: float | None) -> Chart | None:
    if len(found) < 2:
        return None
    return chart(
        lambda drawing: _over_runs(metric, found, baseline, drawing),
        f"{one_line(metric, 60)} over {counted(len(found), 'run')}, with 95% intervals",
        [
            "run",
            "when (UTC)",
            one_line(metric, 60),
            "95% interval",
            "scored",
            "control limits",
            "alerts",
            "what changed",
        ],
        [
            [
                str(point.row.number),
                point.row.when,
                mean_words(point.figure),
                _ends(point.figure),
                thousands(point.figure.scored) if point.figure.scored else "",
                _limits(point),
                ", ".join(map(str, point.alerts)),
                one_line(point.row.changed, 300),
            ]
            for point in found
        ],
    )


def _ends(figure: KeptFigure) -> str:
    if figure.low is None or figure.high is None:
        return "none"
    return f"{score(figure.low)} to {score(figure.high)}"


def _limits(point: ChartPoint) -> str:
    if point.limit_low is None or point.limit_high is None:
        return ""
    return f"{score(point.limit_low)} to {score(point.limit_high)}"


def _over_runs(
    metric: str, points: Sequence[ChartPoint], baseline: float | None, drawing: Drawing
) -> None:
    figures = [point.figure for point in points]
    values = [value for figure in figures for value in (figure.mean, figure.low, figure.high)]
    limits = [value for point in points for value in (point.limit_low, point.limit_high)]
    y = scale_of([*values, *limits, baseline], 6)
    first, last = points[0].row.number, points[-1].row.number
    edge = (last - first) * 0.02
    left = label_room(y)
    panel = Panel(
        drawing, left, 30, drawing.width - left - 8, 220 if drawing.narrow else 320,
        span(first - edge, last + edge), y,
    )  # fmt: skip
    panel.y_axis(one_line(metric, 40))
    step = max(1, -(-(last - first) // (6 if drawing.narrow else 16)))
    panel.x_axis([(run, str(run)) for run in range(first, last + 1, step)], "run")
    limited = [point for point in points if point.limit_low is not None]
    if limited:
        upper = [(panel.x(point.row.number), panel.y(point.limit_high or 0)) for point in limited]
        lower = [(panel.x(point.row.number), panel.y(point.limit_low or 0)) for point in limited]
        drawing.area([*upper, *reversed(lower)], ACCENT)
        means = [(panel.x(point.row.number), panel.y(point.average or 0)) for point in limited]
        drawing.curve(means, SOFT, width=1.5, dash="3,3")
    if baseline is not None:
        at = panel.y(baseline)
        drawing.line(panel.left, at, panel.left + panel.width, at, SOFT, dash="6,4")
    places = [(panel.x(point.row.number), panel.y(point.figure.mean or 0)) for point in points]
    for point, (x, _) in zip(points, places, strict=True):
        if point.figure.low is not None and point.figure.high is not None:
            drawing.line(x, panel.y(point.figure.low), x, panel.y(point.figure.high), SOFT, 1)
    drawing.curve(places, ACCENT)
    plain = Look(ACCENT, radius=4.4 if len(points) > 30 else 5.5)
    for point, (x, place) in zip(points, places, strict=True):
        hint = (
            f"run {point.row.number}, {point.row.when}: {mean_words(point.figure)}"
            f" ({_ends(point.figure)}); {_alert_words(point)}{point.row.changed}"
        )
        drawing.sign(x, place, Look(MARK, "diamond") if point.row.changes else plain, hint)
        if point.alerts:
            drawing.sign(x, place - 20, Look(MARK, "triangle-down", 7), hint)
