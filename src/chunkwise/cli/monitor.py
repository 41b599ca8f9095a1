"""`chunkwise monitor`: evaluate, keep, compare, alert; once or again and again."""

from __future__ import annotations

import shlex
import sys
import time
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import click
from msgspec import Meta

from chunkwise.base.amounts import parse_time
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Name, Names, Option
from chunkwise.base.secrets import mask
from chunkwise.base.wording import counted
from chunkwise.cli.dataclass_options import dataclass_command, is_typed
from chunkwise.cli.exit_status import status_of
from chunkwise.cli.groups import DefaultGroup
from chunkwise.cli.keep_run import ExporterOptions, HistoryOption, exporters_of, hand_on
from chunkwise.cli.monitor_ab import command as ab
from chunkwise.cli.monitor_alerts import ack, alerts
from chunkwise.cli.options import (
    Baseline,
    Queries,
    Tolerance,
)
from chunkwise.cli.report_options import write_or_say
from chunkwise.cli.run_evaluation import (
    Evaluated,
    EvaluationOptions,
    kept_run,
    measured_names,
    prepare,
    say_why_silent,
)
from chunkwise.cli.streams import (
    say,
    say_skipped,
    shown_place,
)
from chunkwise.core import Query
from chunkwise.evaluation.gate import unreviewed
from chunkwise.evaluation.scoring import SearchMore
from chunkwise.models import DEFAULT, get_embedder
from chunkwise.options import Accept
from chunkwise.report.alert_messages import AlertTemplates, alert_message
from chunkwise.report.runs_report import metric_history_report
from chunkwise.report.watch_report import PassageTexts, WatchedRunReport
from chunkwise.report.write_report import write_report
from chunkwise.testsets.query_log import QueryLog
from chunkwise.testsets.reading import read_questions
from chunkwise.tracking.drift import DriftFigure, QuestionDrift, corpus_drift, question_drift
from chunkwise.tracking.explain_difference import changes_between
from chunkwise.tracking.notify import NotSent, parse_channels, resolve_channels, send
from chunkwise.tracking.record_run import git_state
from chunkwise.tracking.run_rows import metric_history
from chunkwise.tracking.watch import (
    WatchOutcome,
    corpus_of,
    reference_of,
    repeat_every,
    watch_run,
    watched_metrics,
)


class MonitorOptions(
    EvaluationOptions,
    HistoryOption,
    ExporterOptions,
    group="Monitor",
    hides_inherited=True,
):
    """The options of `chunkwise monitor`."""

    test_queries: Queries = None
    alert: Annotated[Names, Option(
        "Alert channels: exit, file:FILE, webhook:URL, slack://…", metavar="CHANNELS", common=True
    )] = ("exit",)  # fmt: skip
    alert_template: Annotated[Names, Option(
        "Jinja2 template for alerts", metavar="FORM=FILE"
    )] = ()  # fmt: skip
    tolerance: Tolerance = None
    every: Annotated[Annotated[float, Meta(gt=0, le=366 * 86_400)] | None, Option(
        "Keep running, and repeat at this interval: 12h, 1d, 1w", metavar="TIME", parse=parse_time, common=True
    )] = None  # fmt: skip
    baseline: Baseline = None
    watched: Annotated[Name | None, Option(
        "Metrics to alert on", metavar="NAMES", default_text="eight", common=True
    )] = None  # fmt: skip
    live: Annotated[Name | None, Option(
        "Log of user questions, checked for drift", metavar="FILE", common=True
    )] = None  # fmt: skip
    accept: Accept = ()
    strict_alerts: Annotated[bool, Option("Exit with status 3 if an alert can't be sent")] = False
    keep_text: Annotated[bool, Option(
        "Store the text of passages with the run", long_flag="--save-text"
    )] = False  # fmt: skip


@dataclass_command("monitor", MonitorOptions)
def run(options: MonitorOptions) -> None:
    """Evaluate, save the run, and alert if a metric falls below the baseline.

    SOURCE and most options are those of `chunkwise evaluate`. The first run is the baseline until you choose another
    with `chunkwise runs baseline set RUN`.

    Examples:
      chunkwise monitor docs/ -Q q.json
      chunkwise monitor docs/ -Q q.json --every 1w
      chunkwise monitor docs/ -Q q.json --live asked.jsonl
      chunkwise monitor docs/ -Q q.json --tolerance 2% --html watch.html

    Alert rules and their false alarm rate: docs/how-to/monitor.md.
    """
    if options.every is not None and options.dry_run:
        raise click.UsageError("--dry-run and --every exclude each other")
    watch = _Watch(options)
    if options.every is None:
        if status := watch.once():
            sys.exit(status)
        return

    def waiting(due: datetime) -> None:
        if not options.quiet:
            say(f"next run at {due:%Y-%m-%d %H:%M} UTC; stop with Ctrl-C")

    repeat_every(watch.once_told, options.every, watch.last_time(), on_wait=waiting)


class _Watch:
    """What is done each time."""

    def __init__(self, options: MonitorOptions) -> None:

        self._channels = resolve_channels(parse_channels(options.alert))
        self._templates = AlertTemplates(options.alert_template)
        self._exporters = exporters_of(options)
        self._prepared = prepare(options)
        self._options = self._prepared.options
        self._metrics = measured_names(self._options.watched, self._options)
        self._history = options.opened()

    def last_time(self) -> datetime | None:
        """When this watch last kept a run; None: never."""

        branch = git_state(".")[1]
        name = reference_of(self._history, name=self._options.baseline, branch=branch).name
        runs = self._history.watched(name)
        return datetime.fromisoformat(self._history.run(runs[-1].run).when) if runs else None

    def once_told(self) -> None:
        """For a watch that stays: what goes wrong this time may go well the next time."""
        try:
            self.once()
        except ChunkwiseError as error:
            say(f"this run failed: {error}; the schedule continues")
        sys.stdout.flush()

    def once(self) -> int:
        """The exit status."""
        options = self._options
        # A history that cannot be written to is an error before any work; a second watch waits.
        with self._history.watching(lambda: say("waiting for another monitor of this history")):
            began = time.monotonic()
            live = _LiveQuestions(options)
            evaluated = self._prepared.run(live.search if options.live else None)
            saved = write_or_say(options.output, evaluated.results.save, options.quiet)
            run = kept_run(evaluated, options.keep_text)
            number = self._history.add(replace(run, seconds=time.monotonic() - began)).number
            self._say(f"saved as run {number} in {shown_place(self._history.place)}")
            outcome = self._compare(number, evaluated, live)
        hand_on(self._history.run(number), self._exporters, self._say)
        watched = self._watched(outcome, evaluated, live)
        sent = self._tell(watched)
        page = self._write_page(outcome)
        if options.as_json or not options.quiet:
            options.print_result(watched.report, watched.to_dict)
        missed = self._prepared.missed(evaluated.results)
        is_silent = say_why_silent(evaluated.results)
        exits = any(channel.kind == "exit" for channel in self._channels)
        is_first = outcome.watched.reference == number
        compared = watched_metrics(outcome.run, None) if is_first else outcome.watched.figures
        return status_of(
            failed=not (saved and page),
            not_reached=bool(missed) or (bool(outcome.alerts) and exits),
            skipped=bool(evaluated.left_out) or is_silent or live.left_out or not compared
            or (options.strict_alerts and not sent),
        )  # fmt: skip

    def _say(self, line: str) -> None:
        if not self._options.quiet:
            say(line)

    def _compare(self, number: int, evaluated: Evaluated, live: _LiveQuestions) -> WatchOutcome:

        options, name = self._options, self._options.baseline
        known = {baseline.name for baseline in self._history.baselines()}
        known |= {watch.name for watch in self._history.watched()}
        if name is not None and known and name not in known:
            say(
                f"no baseline {name!r} yet: run {number} becomes it; existing: "
                f"{', '.join(sorted(known))}"
            )
        if reasons := unreviewed(evaluated.results.data, options.accept):
            raise ChunkwiseError(reasons[0])
        live.compare(evaluated.queries)
        return watch_run(
            self._history, self._history.run(number), name=name, metrics=self._metrics,
            tolerance=options.tolerance, live=live.kept(), command=_again(options, self._prepared.paths),
        )  # fmt: skip

    def _watched(
        self, outcome: WatchOutcome, evaluated: Evaluated, live: _LiveQuestions
    ) -> WatchedRunReport:

        first, number = None, outcome.watched.reference
        if number != outcome.run.number:
            try:
                first = self._history.run(number)
            except ChunkwiseError as error:  # silences no alert
                say(f"cannot compare with run {number}: {error}")
        texts = {document.id: document.text for document in evaluated.documents}
        drift: tuple[DriftFigure, ...] = ()
        if first is not None:
            changes = changes_between(first, outcome.run)
            drift = corpus_drift(corpus_of(first), outcome.watched.corpus, changes)
        passages = PassageTexts(texts, first, outcome.run)
        return WatchedRunReport(outcome, drift, live.drift, passages, tuple(evaluated.left_out))

    def _tell(self, watched: WatchedRunReport) -> bool:
        """Send the alerts; whether every channel worked."""
        if not watched.outcome.alerts:
            return True

        message = alert_message(watched)
        fine = True
        try:
            message = self._templates.apply(message)
        except ChunkwiseError as error:
            say(f"alerts are sent without the template: {error}")
            fine = False
        for channel in self._channels:
            try:
                send(channel, message)
            except NotSent as problem:
                say(f"cannot send an alert: {problem}")
                fine = False
        return fine

    def _write_page(self, outcome: WatchOutcome) -> bool:
        if self._options.page is None:
            return True

        figures = [alert.metric for alert in outcome.alerts] or list(outcome.watched.figures)
        metric = next(iter(figures), None)

        def write(path: Path) -> None:
            history = metric_history(self._history, metric, kind="evaluate")
            write_report(metric_history_report(history), path)

        return write_or_say(self._options.page, write, self._options.quiet)


def _again(options: MonitorOptions, paths: list[str]) -> str:
    """What evaluates the same once more."""
    words = ["chunkwise", "evaluate", *paths]
    known = {field.name for field in fields(EvaluationOptions)} - {"source", "documents", *_OWN}
    for param in run.params:
        if isinstance(param, click.Option) and param.name in known and is_typed(param.name):
            value = getattr(options, param.name)
            for own in value if isinstance(value, tuple) else [value]:
                words += [param.opts[0]] if param.is_flag else [param.opts[0], str(own)]
    return mask(shlex.join(words))


_OWN = ("output", "page", "as_json", "quiet", "at_least", "at_most", "dry_run")
"""What of an evaluation a watch does with what it finds."""


class _LiveQuestions:
    """What people asked, compared with the test questions."""

    def __init__(self, options: MonitorOptions) -> None:
        self._options = options
        self._search: SearchMore | None = None
        self.left_out = False
        self.drift: QuestionDrift | None = None
        self._queries: list[Query] = []
        if options.live:
            self._queries = self._read(options.live)
            if not self._queries:
                raise ChunkwiseError(f"no questions in {options.live}")

    def _read(self, name: str) -> list[Query]:
        """Without what is private or no question, as `queries import` leaves it out: examples are printed and sent."""

        log = QueryLog()
        for query in read_questions(name, self._bad):
            log.add(query.text)
        if left_out := log.too_long + log.wordless:
            say(f"skipped {counted(left_out, 'live question')}: too long, or without words")
        return [
            Query(spelling.id, spelling.text)
            for spelling in log.spellings()
            for _ in range(spelling.asked)
        ]

    def _bad(self, problem: str) -> None:
        self.left_out = True
        say_skipped(problem)

    def search(self, more: SearchMore) -> None:
        self._search = more

    def compare(self, tests: list[Query]) -> None:
        if not self._queries:
            return

        embed = None
        try:
            model = get_embedder(self._options.embedder or DEFAULT)
            embed = lambda texts: model.embed(texts, "query")  # noqa: E731
        except (ChunkwiseError, OSError) as error:
            say(f"comparing live questions by BM25 terms only: {error}")
        self.drift = question_drift(self._queries, tests, embed=embed, search=self._search)

    def kept(self) -> dict[str, Any]:
        """Figures for the history: no text of what people asked."""
        if self.drift is None:
            return {}
        drift = self.drift
        return {
            "questions": drift.questions, "unlike": drift.unlike, "new_words": drift.new_words, "far": drift.far,
            "found_nothing": drift.found_nothing, "low_scores": drift.low_scores,
        }  # fmt: skip


command = DefaultGroup(run, (alerts, ack, ab))
