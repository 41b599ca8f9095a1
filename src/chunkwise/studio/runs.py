"""What the studio says of runs: the files that were named, any two compared, and the history of the project."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

from msgspec import Meta

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import format_interval
from chunkwise.evaluation.compare import compare
from chunkwise.evaluation.results import Results
from chunkwise.metrics.registry import format_score, kind_of
from chunkwise.report.comparison_report import comparison_report
from chunkwise.report.evaluation_report import evaluation_report
from chunkwise.report.format_values import format_value
from chunkwise.report.report import Headline, Report
from chunkwise.report.runs_report import figure_value, metric_history_report
from chunkwise.report.tuning_report import tuning_report
from chunkwise.report.view import View
from chunkwise.report.watch_report import difference_words
from chunkwise.studio.project import Project, StudioRun
from chunkwise.studio.questions import QuestionsParameters, QuestionsView, questions
from chunkwise.studio.read_request import ApiRequest, NotFound, Position
from chunkwise.studio.sweeps import verdict_of
from chunkwise.tracking import RunKind
from chunkwise.tracking.alerts import Alert
from chunkwise.tracking.history import History
from chunkwise.tracking.run_rows import RunFigure, RunList, list_runs, metric_history

_MOST_KEPT = 50
"""Runs of a history that the list shows."""


@dataclass(frozen=True, slots=True)
class RunFileRow:
    """One file of results."""

    number: int
    kind: str
    """evaluate or tune."""
    name: str
    label: str
    objective: str
    value: str
    interval: str
    questions: int


@dataclass(frozen=True, slots=True)
class AlertRow:
    """A metric that fell, and whether somebody knows of it."""

    number: int
    metric: str
    state: str
    """open or acknowledged."""
    difference: str
    since: int
    """The run since which it is down."""
    cause: str
    check: str
    """A command that checks the cause."""


@dataclass(frozen=True, slots=True)
class RunsView(View):
    """The runs that were named, and those of the history."""

    rows: tuple[RunFileRow, ...]
    verdict: Headline | None
    """Of the first two evaluations, or of the first sweep."""
    matrix: QuestionsView
    """Every question with its score in every evaluation, and in the two sides of every sweep."""
    history: RunList | None
    """None: nothing is kept."""
    history_problem: str
    """Why the history cannot be read; empty: it can."""
    alerts: tuple[AlertRow, ...]
    """Those that stand, the latest first."""

    def figure_words(self, figure: RunFigure) -> str:
        return format_value(figure_value(figure.metric, figure.figure), "score")


def runs(project: Project, request: QuestionsParameters) -> RunsView:
    kept, problem, alerts = None, "", list[Alert]()
    try:
        history = project.history()
        kept = None if history is None else list_runs(history, last=_MOST_KEPT)
        alerts = [] if history is None else history.alerts()
    except ChunkwiseError as error:
        problem = str(error)
    told = tuple(_alert(item) for item in sorted(alerts, key=lambda item: -item.number))
    rows = tuple(map(_row, list(project.runs)))
    return RunsView(rows, _verdict(project), questions(project, request), kept, problem, told)


def _verdict(project: Project) -> Headline | None:
    named = {run.number: Path(run.name).name for run in project.runs if run.results is not None}
    swept = [run.number for run in project.runs if run.sweep is not None]
    names = ""
    if len(named) > 1:
        (first, a), (second, b) = list(named.items())[:2]
        report = comparison(project, CompareParameters(first, second))
        names = f" a: {a}, b: {b}."
    elif named or swept:
        report = run_page(project, RunParameters([*named, *swept][-1])).report
    else:
        return None
    verdict = next((part for part in report.parts if isinstance(part, Headline)), None)
    return verdict and Headline(verdict.text + names, verdict.level)


def _alert(alert: Alert) -> AlertRow:
    return AlertRow(
        alert.number, alert.metric, alert.state, difference_words(alert), alert.since, alert.cause,
        alert.check,
    )  # fmt: skip


class AlertNumber(ApiRequest, frozen=True):
    """Which alert."""

    number: Annotated[int, Meta(ge=1, le=10**9, description="of the alert")] = 0


def acknowledge(project: Project, request: AlertNumber) -> RunsView:
    """Quiet until it is worse, as `chunkwise monitor ack` has it."""
    history = project.history()
    if history is None:
        raise NotFound("no runs are saved, so there are no alerts")
    history.acknowledge(request.number)
    return runs(project, QuestionsParameters())


def _row(run: StudioRun) -> RunFileRow:
    if run.sweep is not None:
        verdict = verdict_of(run.sweep)
        label = f"{verdict.chosen}, {verdict.gain}" if verdict else "No recommendation."
        score = verdict.score if verdict else ""
        return RunFileRow(
            run.number, "tune", run.name, label, "", score, "", len(run.sweep.questions)
        )
    results = cast(Results, run.results)
    figure = results.summary.get(results.objective)
    return RunFileRow(
        run.number,
        "evaluate",
        run.name,
        results.label,
        results.objective,
        format_score(results.objective, figure.mean if figure else None),
        format_interval(figure.low, figure.high, kind_of(results.objective)) if figure else "",
        len(results.questions),
    )


class RunParameters(ApiRequest, frozen=True):
    """Which run."""

    number: Annotated[Position, Meta(description="run, from 0")] = 0


@dataclass(frozen=True, slots=True)
class RunPage(View):
    """A run as its page shows it: an evaluation, or a sweep."""

    kind: str
    name: str
    report: Report


def run_page(project: Project, request: RunParameters) -> RunPage:
    run = project.run(request.number)
    result: RunPage = project.made.get(("run", run.number), lambda: _run_page(project, run))
    return result


def _run_page(project: Project, run: StudioRun) -> RunPage:
    if run.sweep is not None:
        return RunPage("tune", run.name, tuning_report(run.sweep))
    results = cast(Results, run.results)
    worst = set(results.worst)
    ids = {
        hit.doc_id for question in results.questions if question.id in worst for hit in question.hits
    }  # fmt: skip
    report = evaluation_report(results, project.document_texts(sorted(ids)))
    return RunPage("evaluate", run.name, report)


class CompareParameters(ApiRequest, frozen=True):
    """Which two runs."""

    first: Annotated[Position, Meta(description="baseline run, from 0")] = 0
    second: Annotated[Position, Meta(description="the other run, from 0")] = 1


def comparison(project: Project, request: CompareParameters) -> Report:
    if request.first == request.second:
        raise InvalidParameter(f"run {request.first} was chosen twice; choose two different runs")
    sides = [project.run(number) for number in (request.first, request.second)]
    for side in sides:
        if side.results is None:
            raise InvalidParameter(
                f"run {side.number} is a sweep; choose two evaluations. Its report compares its configurations"
            )
    key = "comparison", request.first, request.second
    result: Report = project.made.get(key, lambda: _comparison(sides))
    return result


def _comparison(sides: list[StudioRun]) -> Report:
    results = [cast(Results, side.results) for side in sides]
    names = [Path(side.name).name for side in sides]
    return comparison_report(compare(results, sources=names))


class HistoryParameters(ApiRequest, frozen=True):
    """Which metric of the history."""

    metric: Annotated[str, Meta(description="metric")] = ""
    kind: Annotated[str, Meta(description="kind of run")] = ""


def history_of_metric(project: Project, request: HistoryParameters) -> Report:
    history: History | None = project.history()
    if history is None:
        raise NotFound("no runs are saved yet; save one: chunkwise evaluate … --save")
    kind = cast(RunKind, str(request.kind)) if request.kind else None
    result = metric_history(history, str(request.metric) or None, kind=kind)
    return metric_history_report(result)
