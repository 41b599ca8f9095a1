"""What is shown of a watched run: every metric beside its reference, alerts with their reasons, drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunkwise.base.wording import (
    counted,
    from_to,
    listed,
    percent,
    points,
    points_between,
    score,
    thousands,
    two_digits,
    with_interval,
)
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.history import shown_time
from chunkwise.report.views.view import View
from chunkwise.tracking.alerts import Alert, LostQuestion, RetrievedPassage, WatchedFigure
from chunkwise.tracking.drift import DriftFigure, QuestionDrift
from chunkwise.tracking.run import KeptRun
from chunkwise.tracking.watch import (
    ChartState,
    WatchOutcome,
    learning_words,
    watched_metrics,
)

_TYPES = 4
_PASSAGES = 2
_EXCERPT = 90
_QUESTION = 160
_SUBJECT = 120
_LEFT_OUT = 3
"""Lines that are told; the others are counted."""


@dataclass(frozen=True, slots=True)
class WatchedRow:
    """One metric of the run."""

    metric: str
    figure: WatchedFigure
    verdict: str
    """What the test against the reference and the control chart say."""


@dataclass(frozen=True, slots=True)
class WatchView(View):
    """A run that was watched."""

    run: int
    when: str
    reference: int
    name: str
    notes: tuple[str, ...]
    """What is to be known of the comparison: a first run, other questions."""
    figures: tuple[tuple[str, str], ...]
    """Of a first run: what later ones are compared with, metric and words."""
    rows: tuple[WatchedRow, ...]
    alerts: tuple[Alert, ...]
    lines: tuple[tuple[str, ...], ...]
    """Of each alert, in words."""
    quiet: tuple[str, ...]
    """Acknowledged ones."""
    corpus: tuple[DriftFigure, ...]
    live: QuestionDrift | None
    left_out: tuple[str, ...] = ()
    """What could not be used: files, questions whose passage is gone."""


def watch_view(
    outcome: WatchOutcome,
    *,
    corpus: Sequence[DriftFigure] = (),
    live: QuestionDrift | None = None,
    excerpts: Excerpts | None = None,
    left_out: Sequence[str] = (),
) -> WatchView:
    watched = outcome.watched
    return WatchView(
        outcome.run.number,
        shown_time(outcome.run.when),
        watched.reference,
        watched.name,
        tuple(_notes(outcome, left_out)),
        _first_figures(outcome),
        tuple(
            WatchedRow(metric, figure, _verdict(figure, outcome.charts[metric]))
            for metric, figure in watched.figures.items()
        ),
        outcome.alerts,
        tuple(
            tuple(
                alert_lines(alert, excerpts, beside=_told_before(outcome.alerts, at), option=outcome.option)
            )
            for at, alert in enumerate(outcome.alerts)
        ),
        tuple(
            f"alert {alert.number} is acknowledged: {alert.metric} {difference_words(alert.figure)}"
            for alert in outcome.quiet
        ),
        tuple(corpus),
        live,
        tuple(left_out),
    )  # fmt: skip


def _first_figures(outcome: WatchOutcome) -> tuple[tuple[str, str], ...]:
    if outcome.watched.reference != outcome.run.number:
        return ()
    own = outcome.run.figures
    return tuple(
        (name, with_interval(own[name].mean, own[name].low, own[name].high))
        for name in watched_metrics(outcome.run, None)
    )


def _notes(outcome: WatchOutcome, left_out: Sequence[str]) -> list[str]:
    run, held = outcome.run.number, outcome.reference
    missed = [
        f"{counted(len(left_out), 'line')} on stderr: what could not be used, questions among it whose passage is gone"
    ]
    missed = missed if left_out else []
    named = "" if held.name == "default" else f" --name {held.name}"
    if outcome.watched.reference == run:
        return [
            *missed,
            f"run {run} is the first: later ones are compared with it until another is chosen; "
            f"chunkwise runs baseline set {run}{named}{outcome.option} makes it the baseline for good",
        ]
    found = missed
    if not held.is_baseline:
        found.append(
            f"no baseline is set: compared with run {held.run}, the first that was watched; "
            f"chunkwise runs baseline set RUN{named}{outcome.option} chooses one"
        )
    if not outcome.paired:
        found.append(
            f"the questions are others ({thousands(outcome.common)} in both runs): means are compared, not question by "
            "question, and only a larger fall can be shown"
        )  # fmt: skip
    elif outcome.common < max(asked := len(outcome.run.questions), outcome.asked_then):
        found.append(
            f"compared on the {counted(outcome.common, 'question')} that both runs ask alike, of "
            f"{thousands(asked)} now and {thousands(outcome.asked_then)} then"
        )
    learning = [chart for chart in outcome.charts.values() if chart.is_learning]
    if learning:
        found.append(f"control charts are {learning_words(learning[0])}")
    if not outcome.watched.figures:
        found.append("no metric has scores by question in both runs: nothing can be compared")
    return found


def difference_words(figure: WatchedFigure) -> str:
    """ "−8.1 points (95% interval −11.2 to −5)"."""
    ends = points_between(figure.low, figure.high)
    return f"{points(figure.difference)} points (95% interval {ends})"


def _verdict(figure: WatchedFigure, chart: ChartState) -> str:
    """In a word or two."""
    if figure.alarm:
        return _worse(figure) if figure.alarm == "fall" else "decays"
    point = chart.points[-1]
    if point and (point.is_above if figure.is_lower_better else point.is_below):
        return "beyond its limits, not shown"
    if figure.is_shown_worse:
        return "lower, within tolerance" if figure.fall < figure.tolerance else "perhaps lower"
    return "better" if figure.low > 0 or figure.high < 0 else "no change shown"


class Excerpts:
    """Words of passages, where the documents still have them."""

    def __init__(self, texts: Mapping[str, str], before: KeptRun | None, after: KeptRun) -> None:
        self._texts = texts
        first = (before.documents or {}) if before else {}
        second = after.documents or {}
        self._same = {id for id, own in second.items() if first.get(id) == own}

    def of(self, hit: RetrievedPassage, *, is_new: bool) -> str:
        text = hit.text
        if not text and (is_new or hit.doc_id in self._same):
            text = self._texts.get(hit.doc_id, "")[hit.start : hit.end]
        return one_line(text.strip(), _EXCERPT)


def subject(alerts: Sequence[Alert]) -> str:
    """One line for all of them."""
    first = alerts[0]
    verb = _worse(first.figure) if first.kind == "fall" else "is in decay"
    told = (
        f"{one_line(first.metric, 60)} {verb}: {points(first.figure.difference)} points in run {first.last_run} "
        f"against run {first.reference}"
    )
    more = f", and {counted(len(alerts) - 1, 'more metric')}" if len(alerts) > 1 else ""
    return one_line(f"{told}{more}", _SUBJECT)


def _worse(figure: WatchedFigure) -> str:
    return "rose" if figure.is_lower_better else "fell"


def _told_before(alerts: Sequence[Alert], at: int) -> Alert | None:
    """The first alert of the same fall, which another metric shows, too."""
    own = alerts[at]
    same = (own.since, own.reference, own.cause)
    return next(
        (each for each in alerts[:at] if (each.since, each.reference, each.cause) == same), None
    )


def alert_lines(
    alert: Alert,
    excerpts: Excerpts | None = None,
    *,
    beside: Alert | None = None,
    option: str = "",
) -> list[str]:
    """What fell, since when, by how much, on what, and why; `beside` one of the same cause only what is its own."""
    figure = alert.figure
    how = (
        f"on {counted(figure.pairs, 'question')}, each against itself"
        if figure.pairs
        else "on other questions or chunks than then"
    )
    verb = (
        _worse(figure)
        if alert.kind == "fall"
        else "decays (the control chart of all runs shows it)"
    )
    head = (
        f"alert {alert.number}: {alert.metric} {verb}: {score(figure.before)} → {score(figure.after)}, "
        f"{difference_words(figure)}, {how}"
    )
    if beside is not None:
        more = f"since the same run, likely for the same reason as alert {beside.number}"
        return [
            one_line(head, 400),
            f"{more}; whole: chunkwise monitor alerts {alert.number}{option}",
        ]
    lines = [
        head,
        f"since run {alert.since}, against run {alert.reference}"
        + (f"; raised in run {alert.first_run}" if alert.first_run != alert.last_run else ""),
    ]
    worse = [each for each in alert.types if _is_worse(each.difference, figure)]
    if worse:
        told = [
            f"{each.name} {points(each.difference)} points ({counted(each.questions, 'question')})"
            for each in worse[:_TYPES]
        ]
        lines.append(f"by type of question: {listed(told, _TYPES)}")
    if alert.lost:
        lines.append("questions that lost most:")
    for each in alert.lost:
        lines.append(
            f"  {score(each.before)} → {score(each.after)}  {one_line(each.text, _QUESTION)}"
        )
        lines += _passage_lines(each, excerpts)
    if alert.cause:
        lines.append(f"likeliest cause: {alert.cause}")
    if alert.check:
        lines.append(f"check it: {alert.check}")
    lines.append(
        f"known already? chunkwise monitor ack {alert.number}{option} keeps it quiet until it is worse"
    )
    return [f"{_indent(line)}{one_line(line.strip(), 400)}" for line in lines]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _is_worse(difference: float, figure: WatchedFigure) -> bool:
    return difference > 0 if figure.is_lower_better else difference < 0


def _passage_lines(question: LostQuestion, excerpts: Excerpts | None) -> list[str]:
    lines = []
    for word, hits, is_new in (
        ("no longer found", question.lost, False),
        ("found instead", question.gained, True),
    ):
        for hit in hits[:_PASSAGES]:
            text = excerpts.of(hit, is_new=is_new) if excerpts else ""
            place = f"{one_line(hit.doc_id, 80)} {from_to(hit.start, hit.end)}"
            lines.append(f"    {word}: {place}{f' “{text}”' if text else ''}")
    return lines


def drift_lines(corpus: Sequence[DriftFigure], live: QuestionDrift | None) -> list[str]:
    """Corpus and questions, in words."""
    lines = []
    if corpus:
        lines.append(
            f"corpus since the reference: {', '.join(one_line(each.words, 80) for each in corpus)}"
        )
    if live is None:
        return lines
    lines.append(live.words)
    shares = (
        ("mostly new words", live.new_words), ("far from every test question", live.far),
        ("found nothing", live.found_nothing), ("low scores", live.low_scores),
    )  # fmt: skip
    told = [f"{name} {percent(share)}" for name, share in shares if share is not None]
    lines.append(f"  {', '.join(told)}")
    if live.frequent_new_words:
        lines.append(
            f"  new words: {', '.join(one_line(word, 30) for word in live.frequent_new_words)}"
        )
    for each in live.examples:
        near = (
            f" ({two_digits(each.similarity)} to “{one_line(each.nearest, 60)}”)"
            if each.nearest and each.similarity is not None
            else ""
        )
        documents = ", ".join(one_line(id, 60) for id in each.documents) or "nothing"
        lines.append(f"  {one_line(each.text, 100)}{near}: nearest documents {documents}")
    return lines
