"""Whether a run is worse than the one it is compared with, since when, on what, and why; and when to look again.

A metric has fallen where the test against the reference shows it, corrected over all metrics that are watched, and the
fall is at least the tolerance. It decays where the control chart of all runs since the reference is beyond its limits
and the questions show a difference to the reference. `docs/how-to/monitor.md` says how often that is
wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted, did_you_mean
from chunkwise.evaluation.results import Json
from chunkwise.metrics.registry import lower_is_better
from chunkwise.stats.control_chart import (
    ALARM,
    FEWEST_RUNS,
    ControlChart,
    ControlPoint,
    Fall,
    alarm_of,
)
from chunkwise.tracking.alerts import (
    Alert,
    WatchedFigure,
    WatchedRun,
    falls_by_type,
    lost_most,
)
from chunkwise.tracking.drift import PairedRuns
from chunkwise.tracking.explain_difference import likely_cause
from chunkwise.tracking.history import USUAL_BASELINE, History
from chunkwise.tracking.run import KeptRun, RunSummary

WATCHED = 8
"""Metrics that are watched where none are named."""
_LOOK = 30.0
"""Seconds after which the clock is looked at again: it may have been set, and a machine may have slept."""


class ReferenceRun(NamedTuple):
    """What a run is compared with."""

    name: str
    """Of the baseline, which is that of the watch, too."""
    run: int | None
    """None: there is no run yet."""
    is_baseline: bool
    """False: nobody set one, and it is the first run of the watch."""


@dataclass(frozen=True, slots=True)
class ChartState:
    """How far the control chart of a metric is."""

    values: tuple[float, ...]
    """Differences to the reference, run by run; the first is the reference's own."""
    runs: tuple[int, ...]
    points: tuple[ControlPoint | None, ...]
    learnt: int
    """Stable runs before the last one; limits are learnt from `FEWEST_RUNS`."""

    @property
    def is_learning(self) -> bool:
        return self.points[-1] is None


@dataclass(frozen=True, slots=True)
class WatchOutcome:
    """A run, what it was compared with, and what is to be told."""

    run: KeptRun
    reference: ReferenceRun
    watched: WatchedRun
    charts: Mapping[str, ChartState]
    alerts: tuple[Alert, ...]
    """Those that stand and nobody acknowledged."""
    quiet: tuple[Alert, ...]
    """Acknowledged ones that stand."""
    paired: bool
    """Whether the questions are those of the reference."""
    common: int
    """Questions that both runs ask alike."""
    asked_then: int
    """Questions of the reference."""
    option: str
    """What commands need to mean the same history."""


def reference_of(history: History, *, name: str | None, branch: str) -> ReferenceRun:
    """The baseline of this name, of the branch, or the usual one; else the first run that was watched by its name."""
    known = {
        baseline.name: baseline.run
        for baseline in history.baselines()
        if baseline.kind == "evaluate"
    }
    chosen = name or (branch if branch in known else USUAL_BASELINE)
    if chosen in known:
        return ReferenceRun(chosen, known[chosen], True)
    first = next((run.run for run in history.watched(chosen)), None)
    return ReferenceRun(chosen, first, False)


def watched_metrics(
    run: KeptRun, reference: KeptRun | None, named: Sequence[str] = ()
) -> list[str]:
    """Those that are named, else the most important ones; both runs must have scored them."""
    scored = {name: own for name in run.main_metrics(len(run.figures)) if (own := run.sample(name))}
    for name in named:
        if name not in scored:
            known = list(scored)
            hint = did_you_mean(name, known, f"known: {', '.join(known) or 'none'}")
            raise InvalidParameter(
                f"--watched: {name!r} has no scores per question or chunk; {hint}"
            )
    both = [name for name in scored if reference is None or reference.sample(name)]
    return [name for name in named if name in both] if named else both[:WATCHED]


def watch_run(
    history: History,
    run: KeptRun,
    *,
    name: str | None = None,
    metrics: Sequence[str] = (),
    tolerance: float | None = None,
    live: Mapping[str, Json] | None = None,
    command: str = "chunkwise evaluate …",
) -> WatchOutcome:
    """A run that is kept already: compared with its reference, remembered, and alerts raised.

    `command` is what evaluates again, for the alert to name.
    """
    held = reference_of(history, name=name, branch=run.origin.git_branch)
    first = None if held.run in (None, run.number) else history.run(held.run or 0)
    names = watched_metrics(run, first, metrics)
    base = WatchedRun(
        run.number, held.name, held.run or run.number, run.origin.git_branch, {}, corpus_of(run), live or {}
    )  # fmt: skip
    if first is None:
        alerts = history.add_watched(base)
        return WatchOutcome(
            run,
            held._replace(run=run.number),
            base,
            {},
            tuple(alerts),
            (),
            True,
            len(run.questions),
            len(run.questions),
            history.option,
        )
    pairing = PairedRuns.of(first, run)
    past = _of_same_chart(history.watched(held.name), base)
    charts: dict[str, ChartState] = {}
    figures: dict[str, WatchedFigure] = {}
    falls = {
        name: fall
        for name, fall in zip(names, pairing.falls(names), strict=True)
        if fall is not None
    }
    for metric, fall in falls.items():
        figure = _figure(metric, fall, tolerance)
        charts[metric] = chart = chart_of(
            metric, past, base.reference, (run.number, figure), len(falls)
        )
        alarm = alarm_of(
            fall, chart.points[-1], tolerance=tolerance, lower_is_better=figure.is_lower_better
        )
        figures[metric] = replace(figure, alarm=alarm)
    watched = replace(base, figures=figures)
    # Of metrics with the same scores one raises an alert: two would report one fall.
    distinct = {(first.sample(name), run.sample(name)): name for name in reversed(figures)}
    raised = [
        _alert(history, run, pairing, metric, figure, charts[metric], watched, command)
        for metric, figure in figures.items()
        if figure.alarm and metric in distinct.values()
    ]
    alerts = history.add_watched(watched, raised)
    quiet = [
        alert
        for alert in history.alerts()
        if alert.name == watched.name
        and alert.state == "acknowledged"
        and alert.branch in ("", watched.branch)
    ]
    return WatchOutcome(
        run, held, watched, charts, tuple(alerts), tuple(quiet), pairing.is_paired, len(pairing.common),
        len(first.questions), history.option,
    )  # fmt: skip


def known_chart(history: History, runs: Sequence[RunSummary], metric: str) -> ChartState | None:
    """The control chart of a metric as it stands at the latest of these runs that was watched; None: there is none."""
    numbers = {run.number for run in runs}
    every = history.watched()
    latest = next((run for run in reversed(every) if run.run in numbers), None)
    if latest is None:
        return None
    past = [run for run in _of_same_chart(every, latest) if run.run <= latest.run]
    chart = chart_of(metric, past, latest.reference, None, len(latest.figures))
    return chart if len(chart.values) > 1 else None


def _of_same_chart(every: Sequence[WatchedRun], latest: WatchedRun) -> list[WatchedRun]:
    """Runs of the same watch and branch that are compared with the same run."""
    return [
        run
        for run in every
        if run.name == latest.name
        and run.reference == latest.reference
        and run.branch in ("", latest.branch)
    ]


def chart_of(
    metric: str,
    past: Sequence[WatchedRun],
    reference: int,
    now: tuple[int, WatchedFigure] | None,
    metrics: int,
) -> ChartState:
    """Of the differences to the reference, up to the run and its figure `now`; the reference's own is nothing."""
    rows = [
        (watched_run.run, watched_run.figures[metric])
        for watched_run in past
        if metric in watched_run.figures
    ]
    if now is not None:
        rows.append(now)
    values = (0.0, *(figure.difference for _, figure in rows))
    unstable = [False, *(figure.alarm is not None for _, figure in rows)]
    chart = ControlChart(ALARM / max(metrics, 1))
    points = [
        chart.add(value, is_stable=not is_out)
        for value, is_out in zip(values, unstable, strict=True)
    ]
    numbers = (reference, *(run for run, _ in rows))
    return ChartState(values, numbers, tuple(points), unstable[:-1].count(False))


def corpus_of(run: KeptRun) -> Mapping[str, Json]:
    """Size, languages, sections and boundary issues of its documents; empty: not known."""
    result = run.details.get("corpus")
    return result if isinstance(result, Mapping) else {}


def _figure(metric: str, fall: Fall, tolerance: float | None) -> WatchedFigure:
    return WatchedFigure(
        fall.before, fall.after, fall.difference.mean, fall.difference.low, fall.difference.high, fall.p,
        fall.pairs, fall.least if tolerance is None else tolerance, lower_is_better(metric),
    )  # fmt: skip


def _alert(
    history: History,
    run: KeptRun,
    pairing: PairedRuns,
    metric: str,
    figure: WatchedFigure,
    chart: ChartState,
    watched: WatchedRun,
    command: str,
) -> Alert:
    since, before = _since(chart, figure)
    sign = 1 if figure.is_lower_better else -1
    moved = pairing.moved(metric)
    difference = history.difference(before, since)
    cause, check = likely_cause(difference, since, metric, figure.is_lower_better, command)
    check = check or f"chunkwise runs diff {before} {since}{history.option}"
    return Alert(
        metric, watched.name, figure.alarm or "fall", figure, watched.reference, since, run.number, run.number,
        run.when,
        falls_by_type(moved, sign), lost_most(moved, sign), cause, check, branch=watched.branch,
    )  # fmt: skip


def _since(chart: ChartState, figure: WatchedFigure) -> tuple[int, int]:
    """The first of the latest runs that are down by half the fall or more, and the run before it."""
    at = len(chart.values) - 1
    down = figure.fall / 2
    sign = 1 if figure.is_lower_better else -1
    while at > 1 and sign * chart.values[at - 1] >= down:
        at -= 1
    return chart.runs[at], chart.runs[at - 1]


def learning_words(chart: ChartState) -> str:
    """What a chart has learnt so far."""
    return f"learning: {min(chart.learnt, FEWEST_RUNS)} of {counted(FEWEST_RUNS, 'stable run')}"


def repeat_every(
    work: Callable[[], object],
    every: float,
    last: datetime | None,
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
    on_wait: Callable[[datetime], None] = lambda due: None,
    rounds: int | None = None,
) -> None:
    """Works whenever `every` seconds have passed since the `last` time, until it is interrupted.

    What was missed meanwhile is made up for by one run. A clock that is set back makes nobody wait longer than `every`;
    one that is set ahead, or a machine that slept, does not make anybody wait for what is due.
    """
    done = 0
    while rounds is None or done < rounds:
        due = now() if last is None else last + timedelta(seconds=every)
        if due > now():
            on_wait(min(due, now() + timedelta(seconds=every)))
        while (left := (due - now()).total_seconds()) > 0:
            due = min(due, now() + timedelta(seconds=every))
            sleep(min(left, _LOOK))
        last = now()
        work()
        done += 1
