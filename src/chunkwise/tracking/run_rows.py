"""Runs beside each other: each with what changed since the one before it, and one metric over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chunkwise.base.errors import UnknownMetric
from chunkwise.base.wording import did_you_mean
from chunkwise.metrics.registry import lower_is_better
from chunkwise.tracking import RunKind
from chunkwise.tracking.alerts import Alert
from chunkwise.tracking.history import History
from chunkwise.tracking.run import KeptFigure, RunSummary
from chunkwise.tracking.watch import ChartState, known_chart

_TREND = 12
"""Earlier runs whose values stand beside a figure."""
_MAIN = 3
"""Figures of a run in a list."""


@dataclass(frozen=True, slots=True)
class RunFigure:
    """A figure of a run in a list, with those of the runs before."""

    metric: str
    figure: KeptFigure
    trend: tuple[float, ...]
    """Of runs of this kind, the last ones up to this, the oldest first."""


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
            return "first run of this kind"
        return " · ".join(self.changes) if self.changes else f"unchanged since {self.before}"


@dataclass(frozen=True, slots=True)
class RunList:
    """The runs of a history, the latest first."""

    place: str
    total: int
    """Of all that are kept, whatever is listed."""
    rows: tuple[RunRow, ...]


def list_runs(history: History, *, kind: RunKind | None = None, last: int | None = None) -> RunList:
    """The `last` runs with what changed from one to the next."""
    every = history.runs()
    listed = [run for run in every if kind is None or run.kind == kind]
    listed = listed if last is None else listed[-last:] if last else []
    rows = RunRows(history, every)
    return RunList(history.place, len(every), tuple(map(rows.row, reversed(listed))))


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
            same = self._of_kind.setdefault(run.kind, [])
            self._at[run.number] = len(same)
            same.append(run)

    def row(self, run: RunSummary) -> RunRow:
        same, at = self._of_kind[run.kind], self._at[run.number]
        before = same[at - 1] if at else None
        return RunRow(
            run.number,
            run.when[:16].replace("T", " "),
            run.kind,
            run.label,
            tuple(_run_figure(metric, run, same[: at + 1]) for metric in run.main_metrics(_MAIN)),
            before.number if before else None,
            self._changes(before, run) if before else (),
            tuple(self._names.get(run.number, ())),
            _origin(run),
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
    means = [figure.mean for other in until if (figure := other.figures.get(metric))]
    trend = tuple(mean for mean in means if mean is not None)[-_TREND:]
    return RunFigure(metric, run.figures[metric], trend)


def _origin(run: RunSummary) -> str:
    """ "main 1a2b3c4, ann@host", as far as it is known."""
    origin = run.origin
    git = " ".join(part for part in (origin.git_branch, origin.git_revision[:7]) if part)
    who = "@".join(part for part in (origin.user, origin.host) if part)
    return ", ".join(part for part in (git, who, run.source and f"from {run.source}") if part)


@dataclass(frozen=True, slots=True)
class MetricPoint:
    """One run in the history of a metric."""

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
class MetricHistory:
    """One metric over the runs of a kind."""

    place: str
    kind: str
    metric: str
    is_lower_better: bool
    points: tuple[MetricPoint, ...]
    """In the order of the runs."""
    baseline: float | None
    """Of the run that others are compared with."""
    baseline_run: int | None
    alerts: tuple[Alert, ...]
    """Those that stand."""


def metric_history(
    history: History, metric: str | None = None, *, kind: RunKind | None = None, last: int | None = None
) -> MetricHistory:  # fmt: skip
    """The main metric of the latest run, where none is named; runs of the kind that has it."""
    every = history.runs()
    summaries = [run for run in every if kind is None or run.kind == kind]
    if metric is None:
        metric = next((run.main_metric for run in reversed(summaries) if run.main_metric), "")
    kinds = [run.kind for run in summaries if _known(run, metric)]
    if not kinds:
        raise UnknownMetric(_no_metric(metric, summaries))
    chosen = kinds[-1]
    rows = RunRows(history, every)
    same = [run for run in summaries if run.kind == chosen and _known(run, metric)]
    same = same if last is None else same[-last:]
    chart = known_chart(history, same, metric)
    baseline = history.baseline(chosen, branch=same[-1].origin.git_branch)
    # Where nobody set one, it is the first run that was watched.
    reference = baseline.run if baseline else chart.runs[0] if chart else None
    held = next((run for run in every if run.number == reference), None)
    level = held.figures[metric].mean if held and _known(held, metric) else None
    points = tuple(MetricPoint(rows.row(run), run.figures[metric]) for run in same)
    return MetricHistory(
        history.place,
        chosen,
        metric,
        lower_is_better(metric),
        _with_limits(history, metric, chart, points),
        level,
        held.number if held and level is not None else None,
        tuple(alert for alert in history.alerts() if alert.metric == metric),
    )


def _with_limits(
    history: History, metric: str, chart: ChartState | None, points: tuple[MetricPoint, ...]
) -> tuple[MetricPoint, ...]:
    """With the limits of the control chart and the alerts, up to the latest run that was watched."""
    raised: dict[int, list[int]] = {}
    for alert in history.alerts(over=True):
        if alert.metric == metric:
            raised.setdefault(alert.first_run, []).append(alert.number)
    limits = dict(zip(chart.runs, chart.points, strict=True)) if chart else {}
    first = next((run for run in history.runs() if chart and run.number == chart.runs[0]), None)
    level = first.figures[metric].mean if first and _known(first, metric) else None
    metric_points = []
    for point in points:
        number = point.row.number
        limit = limits.get(number)
        known = replace(point, alerts=tuple(raised.get(number, ())))
        if limit is not None and level is not None:
            # Of differences to the reference, drawn at its height.
            known = replace(
                known, average=level + limit.average, limit_low=level + limit.low, limit_high=level + limit.high
            )  # fmt: skip
        metric_points.append(known)
    return tuple(metric_points)


def _known(run: RunSummary, metric: str) -> bool:
    figure = run.figures.get(metric)
    return figure is not None and figure.mean is not None


def _no_metric(metric: str, runs: Sequence[RunSummary]) -> str:
    names = list(dict.fromkeys(name for run in reversed(runs) for name in run.figures))
    if not names:
        return "no run has metrics yet; save one: chunkwise evaluate … --save"
    there = f"known: {', '.join(names)}"
    hint = did_you_mean(metric, names, there)
    return f"no run has the metric {metric!r}; {hint if hint == there else f'{hint} {there}'}"
