"""Reports of a watched run: every metric beside its reference, alerts with their reasons, drift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chunkwise.base.wording import counted, from_to, listed, percent, thousands
from chunkwise.report.comparison_report import change_of, score_of
from chunkwise.report.evaluation_report import directed
from chunkwise.report.format_values import format_value
from chunkwise.report.report import (
    Badge,
    Column,
    Excerpt,
    Headline,
    Level,
    Next,
    Note,
    Report,
    ReportPart,
    Section,
    TextRun,
    ValueTable,
)
from chunkwise.report.runs_report import figure_value
from chunkwise.report.sanitize import one_line
from chunkwise.stats.intervals import Interval
from chunkwise.tracking.alerts import Alert, LostQuestion, RetrievedPassage, WatchedFigure
from chunkwise.tracking.drift import DriftFigure, QuestionDrift
from chunkwise.tracking.run import KeptRun
from chunkwise.tracking.watch import ChartState, WatchOutcome, learning_words, watched_metrics

_TYPES = 4
_PASSAGES = 2
_EXCERPT = 90
_SUBJECT = 120
_LEVELS: Mapping[str, Level] = {"fell": "bad", "rose": "bad", "decays": "bad", "better": "good"}


class PassageTexts:
    """Words of passages, where the documents still have them."""

    def __init__(self, texts: Mapping[str, str], before: KeptRun | None, after: KeptRun) -> None:
        self._texts = texts
        first = (before.documents or {}) if before else {}
        second = after.documents or {}
        self._same = {id for id, version in second.items() if first.get(id) == version}

    def of(self, hit: RetrievedPassage, *, is_new: bool) -> str:
        text = hit.text
        if not text and (is_new or hit.doc_id in self._same):
            text = self._texts.get(hit.doc_id, "")[hit.start : hit.end]
        return one_line(text.strip(), _EXCERPT)


@dataclass(frozen=True)
class WatchedRunReport:
    """A watched run with what is known beside it."""

    outcome: WatchOutcome
    corpus: tuple[DriftFigure, ...] = ()
    live: QuestionDrift | None = None
    texts: PassageTexts | None = None
    left_out: tuple[str, ...] = ()
    """What could not be used: files, questions whose passage is gone."""

    def report(self) -> Report:
        """Build the report of a watched run."""
        outcome, run = self.outcome, self.outcome.run
        reference = outcome.watched.reference
        is_first = reference == run.number
        parts: list[ReportPart] = [
            _headline(outcome),
            *(Note(note) for note in _notes(outcome, self.left_out)),
            *([_first_figures(run)] if is_first else _figures(outcome)),
            *_alert_sections(outcome, self.texts),
            *(
                Note(
                    f"Alert {alert.number} is acknowledged: {alert.metric} "
                    f"{difference_words(alert)}"
                )
                for alert in outcome.quiet
            ),
            *drift_parts(self.corpus, self.live),
        ]
        if outcome.alerts and outcome.alerts[0].check:
            parts.append(Next(outcome.alerts[0].check))
        title = f"Run {run.number}" + ("" if is_first else f" against run {reference}")
        return Report(title, tuple(parts), "watch", run.label)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        outcome, watched = self.outcome, self.outcome.watched
        rows = [
            {
                "metric": metric,
                "figure": figure,
                "verdict": _verdict_word(figure, outcome.charts[metric]),
            }
            for metric, figure in watched.figures.items()
        ]
        return {
            "run": outcome.run.number, "when": outcome.run.when, "reference": watched.reference,
            "name": watched.name, "notes": _notes(outcome, self.left_out), "rows": rows,
            "alerts": outcome.alerts, "quiet": outcome.quiet, "corpus": self.corpus, "live": self.live,
            "left_out": self.left_out,
        }  # fmt: skip


def _headline(outcome: WatchOutcome) -> Headline:
    if outcome.alerts:
        return Headline(f"{alerts_subject(outcome.alerts)}.", "bad")
    if outcome.watched.reference == outcome.run.number:
        return Headline("First run: later runs are compared with it.")
    if not outcome.watched.figures:
        return Headline("The runs have no scored metric in common.", "bad")
    return Headline(
        f"No metric is significantly worse than in run {outcome.watched.reference}.", "good"
    )


def _first_figures(run: KeptRun) -> ValueTable:
    columns = (Column("metric", "code"), Column("score", "score", is_drawn=True))
    names = watched_metrics(run, None)
    return ValueTable(
        columns, tuple((directed(name), figure_value(name, run.figures[name])) for name in names)
    )


def _figures(outcome: WatchOutcome) -> Iterator[ValueTable]:
    figures = outcome.watched.figures
    if not figures:
        return
    columns = (
        Column("metric", "code"), Column("then", "score"), Column("now", "score"), Column("difference", "change"),
        Column("verdict"),
    )  # fmt: skip
    rows = tuple(
        (
            directed(metric),
            score_of(metric, figure.before),
            score_of(metric, figure.after),
            change_of(metric, Interval(figure.difference, figure.low, figure.high)),
            Badge(word := _verdict_word(figure, outcome.charts[metric]), _LEVELS.get(word, "tie")),
        )
        for metric, figure in figures.items()
    )
    yield ValueTable(columns, rows, noun="metric", brief_rows=8)


def _verdict_word(figure: WatchedFigure, chart: ChartState) -> str:
    """What the test against the reference and the control chart say, in a word or two."""
    if figure.alarm:
        return _fell(figure) if figure.alarm == "fall" else "decays"
    point = chart.points[-1]
    if point and (point.is_above if figure.is_lower_better else point.is_below):
        return "beyond its limits, not significant"
    if figure.is_shown_worse:
        return "lower, within tolerance" if figure.fall < figure.tolerance else "perhaps lower"
    return "better" if figure.low > 0 or figure.high < 0 else "no significant change"


def _notes(outcome: WatchOutcome, left_out: Sequence[str]) -> list[str]:
    """What is to be known of the comparison: a first run, other questions."""
    run, held = outcome.run.number, outcome.reference
    notes = []
    if left_out:
        notes.append(
            f"{counted(len(left_out), 'line')} on stderr about skipped input, including "
            f"questions whose passage no longer exists"
        )
    named = "" if held.name == "default" else f" --name {held.name}"
    if outcome.watched.reference == run:
        return [
            *notes,
            f"run {run} is the first: later runs are compared with it until you set a "
            f"baseline: chunkwise runs baseline set {run}{named}{outcome.option}",
        ]
    if not held.is_baseline:
        notes.append(
            f"no baseline set: compared with run {held.run}, the first monitored one; to "
            f"choose another: chunkwise runs baseline set RUN{named}{outcome.option}"
        )
    if not outcome.paired:
        notes.append(
            f"the questions changed ({thousands(outcome.common)} in both runs): means are "
            f"compared, not question by question, so only larger drops are detectable"
        )  # fmt: skip
    elif outcome.common < max(asked := len(outcome.run.questions), outcome.asked_then):
        notes.append(
            f"compared on {counted(outcome.common, 'shared question')}, of {thousands(asked)} "
            f"now and {thousands(outcome.asked_then)} before"
        )
    learning = [chart for chart in outcome.charts.values() if chart.is_learning]
    if learning:
        notes.append(f"control charts are {learning_words(learning[0])}")
    return notes


def alerts_subject(alerts: Sequence[Alert]) -> str:
    """One line for all of them."""
    first = alerts[0]
    verb = _fell(first.figure) if first.kind == "fall" else "is declining"
    difference = format_value(change_of(first.metric, first.figure.difference), "change")
    message = f"{one_line(first.metric, 60)} {verb}: {difference} in run {first.last_run} against run {first.reference}"
    more = f", and {counted(len(alerts) - 1, 'more metric')}" if len(alerts) > 1 else ""
    return one_line(f"{message}{more}", _SUBJECT)


def _fell(figure: WatchedFigure) -> str:
    return "rose" if figure.is_lower_better else "fell"


def difference_words(alert: Alert) -> str:
    """ "−8.1 pts (−11.2 to −5.0)"."""
    figure = alert.figure
    interval = Interval(figure.difference, figure.low, figure.high)
    return format_value(change_of(alert.metric, interval), "change")


def alert_reports(
    alerts: Sequence[Alert], texts: PassageTexts | None = None, option: str = ""
) -> list[Report]:
    """One for each; of alerts with the same cause the first is told whole."""
    reports = []
    for at, alert in enumerate(alerts):
        same = (alert.since, alert.reference, alert.cause)
        beside = next(
            (item for item in alerts[:at] if (item.since, item.reference, item.cause) == same), None
        )
        parts = (
            tuple(_alert_parts(alert, texts, option))
            if beside is None
            else (
                Note(
                    f"Since the same run, likely for the same reason as alert {beside.number}; "
                    f"details: chunkwise monitor alerts {alert.number}{option}"
                ),
            )
        )
        headline = Headline(f"{_alert_words(alert)}.", "bad")
        reports.append(Report(f"Alert {alert.number}", (headline, *parts), "alert"))
    return reports


def _alert_sections(outcome: WatchOutcome, texts: PassageTexts | None) -> Iterator[Section]:
    """The first alert at once, the others in detail."""
    for at, report in enumerate(alert_reports(outcome.alerts, texts, outcome.option)):
        yield Section(report.title, report.parts, detail=at > 0)


def _alert_words(alert: Alert) -> str:
    figure = alert.figure
    verb = _fell(figure) if alert.kind == "fall" else "declines (by the control chart of all runs)"
    before, after = (
        format_value(score_of(alert.metric, value), "score")
        for value in (figure.before, figure.after)
    )
    return f"{alert.metric} {verb}: {before} → {after}, {difference_words(alert)}"


def _alert_parts(alert: Alert, texts: PassageTexts | None, option: str) -> Iterator[ReportPart]:
    """Since when it is down, on what, and why."""
    figure = alert.figure
    how = (
        f"on {counted(figure.pairs, 'question')}, paired"
        if figure.pairs
        else "on other questions or chunks than before"
    )
    raised = f"; raised in run {alert.first_run}" if alert.first_run != alert.last_run else ""
    yield Note(f"Since run {alert.since}, against run {alert.reference}, {how}{raised}.")
    worse = [
        f"{fall.name} {format_value(change_of(alert.metric, fall.difference), 'change')} "
        f"({counted(fall.questions, 'question')})"
        for fall in alert.types
        if (fall.difference > 0) == figure.is_lower_better and fall.difference
    ]
    if worse:
        yield Note(f"By question type: {listed(worse, _TYPES)}.")
    if alert.cause:
        yield Note(f"Likeliest cause: {alert.cause}")
    if alert.lost:
        columns = (Column("then", "score"), Column("now", "score"), Column("question"))
        rows = tuple(
            (
                score_of(alert.metric, question.before),
                score_of(alert.metric, question.after),
                question.text,
            )
            for question in alert.lost
        )
        details = tuple(tuple(_passages(question, texts)) for question in alert.lost)
        yield ValueTable(columns, rows, "Largest losses by question", details=details, brief_rows=3)
        for question in alert.lost[:1]:
            yield from _passages(question, texts)
    if alert.check:
        yield Note(f"Check it: {alert.check}", detail=True)
    yield Note(
        f"To silence this alert until it gets worse: chunkwise monitor ack {alert.number}{option}",
        detail=True,
    )


def _passages(question: LostQuestion, texts: PassageTexts | None) -> Iterator[Excerpt]:
    for word, hits, is_new in (
        ("no longer found", question.lost, False),
        ("found instead", question.gained, True),
    ):
        for hit in hits[:_PASSAGES]:
            text = texts.of(hit, is_new=is_new) if texts else ""
            place = f"{from_to(hit.start, hit.end)} · {word}"
            level: Level = "" if is_new else "bad"
            runs = (TextRun(text),) if text else ()
            yield Excerpt(runs, hit.doc_id, place, level, detail=True)


def alerts_report(alerts: Sequence[Alert], place: str) -> Report:
    """Build the report of the alerts that are kept."""
    columns = (
        Column("alert", 'count'), Column("state", is_filter=True), Column("metric", "code"),
        Column("difference", "change"), Column("since", 'count'), Column("last", 'count'), Column("cause"),
    )  # fmt: skip
    rows = tuple(
        (
            alert.number,
            alert.state,
            alert.metric,
            change_of(alert.metric, Interval(alert.figure.difference, alert.figure.low, alert.figure.high)),
            alert.since,
            alert.last_run,
            f"{alert.cause} (branch {alert.branch})" if alert.branch else alert.cause,
        )
        for alert in alerts
    )  # fmt: skip
    first = alerts[0].number if alerts else 0
    parts = (
        ValueTable(columns, rows, noun="alert", brief_rows=20),
        Next(f"chunkwise monitor alerts {first}"),
    )
    return Report(counted(len(alerts), "alert"), parts, "alerts", place)


def drift_parts(corpus: Sequence[DriftFigure], live: QuestionDrift | None) -> Iterator[ReportPart]:
    """Corpus and questions that are no longer what was measured."""
    parts: list[ReportPart] = []
    if corpus:
        parts.append(
            Note(f"Corpus since the reference: {', '.join(figure.words for figure in corpus)}")
        )
    if live is not None:
        parts += _live_parts(live)
    if parts:
        yield Section("Drift", tuple(parts))


def _live_parts(live: QuestionDrift) -> Iterator[ReportPart]:
    yield Note(live.words)
    shares = (
        ("mostly new words", live.new_words), ("dissimilar to all test questions", live.far),
        ("found nothing", live.found_nothing), ("low scores", live.low_scores),
    )  # fmt: skip
    yield Note(", ".join(f"{name} {percent(share)}" for name, share in shares if share is not None))
    if live.frequent_new_words:
        yield Note(f"New words: {', '.join(live.frequent_new_words)}")
    if live.examples:
        columns = (
            Column("asked"),
            Column("nearest test question"),
            Column("likeness", "number"),
            Column("documents"),
        )
        rows = tuple(
            (example.text, example.nearest or "", example.similarity, ", ".join(example.documents))
            for example in live.examples
        )  # fmt: skip
        yield ValueTable(columns, rows, "Dissimilar to all test questions", brief_rows=3)
