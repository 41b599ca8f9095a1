"""What is shown of a history: runs with figures, trends and what changed; one metric over all runs; two runs apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from chunkwise.base.wording import interval, number
from chunkwise.metrics.registry import lower_is_better
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.view import ValueTable, View, value_tables
from chunkwise.tracking import RunKind
from chunkwise.tracking.explain_difference import RunDifference
from chunkwise.tracking.run import KeptFigure, KeptRun, RunSummary
from chunkwise.tracking.store import History

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
    return f"{figure.mean:,.0f}" if figure.is_amount else number(figure.mean)


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
        question.id: (question, score)
        for question, score in zip(before.questions, before.scores[metric], strict=True)
    }
    found = []
    for question, score in zip(after.questions, after.scores[metric], strict=True):
        other, old = first.get(question.id, (None, None))
        if (
            other is None
            or old is None
            or score is None
            or old == score
            or other.text != question.text
        ):
            continue
        now, then = ({hit.doc_id: None for hit in each.hits} for each in (question, other))
        found.append(
            MovedQuestion(
                question.id, question.text, old, score, tuple(id for id in now if id not in then),
                tuple(id for id in then if id not in now),
            )
        )  # fmt: skip
    sign = -1 if lower_is_better(metric) else 1
    return tuple(sorted(found, key=lambda each: sign * (each.after - each.before))[:_LOST_MOST])
