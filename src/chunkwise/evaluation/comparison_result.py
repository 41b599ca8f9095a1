"""What a comparison of runs says, and the questions and figures that runs have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, NotComparable
from chunkwise.base.repr_html import drawn
from chunkwise.base.wording import counted, did_you_mean, thousands
from chunkwise.evaluation.results import QuestionResult, Results
from chunkwise.metrics.registry import groups
from chunkwise.records.json import plain
from chunkwise.records.tables import Table
from chunkwise.stats.intervals import Interval, ScoreMatrix

FORMAT = "chunkwise comparison"
"""What a file of a comparison says it is."""
_VERSION = 1
NO_DIFFERENCE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Run:
    """A compared run."""

    name: str
    """a, b, c … in the given order."""
    label: str
    questions: int
    source: str = ""
    """Its file."""


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """One metric in two runs, over the questions that both have a score for."""

    first: float
    second: float
    difference: Interval
    """Second minus first, with the 95% interval of this metric alone."""
    pairs: int

    @property
    def relative(self) -> float | None:
        """The difference as a share of the first; None: the first is nothing, or less."""
        return self.difference.mean / self.first if self.first > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested(MetricDifference):
    """The same with what can be said about it."""

    corrected: Interval
    """The interval after Holm's correction, as `adjusted` is: the verdict says a run is better when it leaves out 0."""
    confidence: float
    """Of the corrected interval: 0.95 of a single test, more of several."""
    p: float
    """How much an interval must leave outside to reach just to 0, for this metric alone; of right and wrong, that of
    the exact sign test."""
    adjusted: float
    """After Holm's correction over everything that is tested in the comparison."""
    verdict: str
    """'a is better', 'b is better' or 'inconclusive'."""
    lower_is_better: bool
    unscored: int
    """Questions in both of which one run or both have no score."""
    detectable: float | None
    """The least difference that so many questions show four times in five, tested alone; None: not known."""
    needed: int | None
    """Questions that would about show a difference of this size; None: not known, or there is none."""


@dataclass(frozen=True, slots=True)
class Change:
    """A question that one run answers better than the other."""

    id: str
    text: str
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class Contrast:
    """A run compared with the first one."""

    first: str
    second: str
    """Names of the runs."""
    questions: int
    """Questions in both runs, by id, with the same text."""
    other_text: tuple[str, ...]
    """Shared ids with different texts, which are skipped."""
    only_first: int
    only_second: int
    metrics: Mapping[str, Tested]
    unpaired: tuple[str, ...]
    """Shared metrics without a question scored in both."""
    by_type: Mapping[str, Mapping[str, MetricDifference]]
    """Differences by question type and metric, with uncorrected 95% intervals."""
    objective: str
    """The metric of changed questions."""
    first_better: tuple[Change, ...]
    second_better: tuple[Change, ...]
    """Most changed questions, largest change first."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best of several runs by one metric, on the questions scored in all of them."""

    best: str
    tied: tuple[str, ...]
    """Runs that aren't significantly worse, including the best."""
    best_share: Mapping[str, float]
    """Share of 10,000 bootstrap samples in which each run is best."""
    questions: int
    needed: int | None
    """Approximate number of questions needed to separate the best two."""


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Table):
    """Runs on the same questions, each compared with the first."""

    runs: tuple[Run, ...]
    contrasts: tuple[Contrast, ...]
    best: Mapping[str, Best]
    """The best run by metric; empty for two runs."""
    tests: int
    """Number of tests that Holm's correction covers."""
    figures: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """Metrics and costs per corpus, one value per run, not tested."""
    warnings: tuple[str, ...] = ()
    """Warnings about limited comparability."""

    def rows(self) -> Iterator[dict[str, object]]:
        """List each run's difference to the first, by metric."""
        for contrast in self.contrasts:
            for name, tested in contrast.metrics.items():
                yield {
                    "run": contrast.second, "baseline": contrast.first, "metric": name,
                    "score": tested.second, "baseline_score": tested.first, "difference": tested.difference.mean,
                    "low": tested.difference.low, "high": tested.difference.high, "p": tested.adjusted,
                    "verdict": tested.verdict,
                }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, as `chunkwise compare --json` prints them."""
        result: dict[str, Any] = plain(self)
        for contrast, told in zip(self.contrasts, result["contrasts"], strict=True):
            for name, tested in contrast.metrics.items():
                told["metrics"][name]["relative"] = tested.relative
        return {"format": FORMAT, "version": _VERSION, **result}

    def __repr__(self) -> str:
        """What each run is, and which verdicts there are."""
        runs = ", ".join(f"{run.name}: {run.label}" for run in self.runs)
        said = Counter(metric.verdict for one in self.contrasts for metric in one.metrics.values())
        message = ", ".join(
            f"{verdict} by {counted(count, 'metric')}" for verdict, count in said.most_common()
        )
        return f"<Comparison {runs}; {message or 'nothing in common'}>"

    def _repr_html_(self) -> str:
        return drawn(self)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Questions with the same id and text in all runs, by id: in what order a file has them changes no figure."""

    runs: tuple[tuple[QuestionResult, ...], ...]
    """The same questions of each run."""
    other_text: tuple[str, ...]
    """Ids in all runs whose texts differ."""

    def scores(self, run: int, metrics: Sequence[str]) -> ScoreMatrix:
        """Questions × metrics; NaN: unscored."""
        # NumPy makes NaN of None.
        rows = [[result.scores.get(name) for name in metrics] for result in self.runs[run]]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(metrics))


def pair(runs: Sequence[Results], names: Sequence[str]) -> Pairing:
    """What all runs have; `names` are for errors."""
    known = [_by_id(run, name) for run, name in zip(runs, names, strict=True)]
    rows = [
        [record[question.id] for record in known]
        for question in sorted(runs[0].questions, key=attrgetter("id"))
        if all(question.id in record for record in known)
    ]
    same = [row for row in rows if len({question.text for question in row}) == 1]
    others = tuple(row[0].id for row in rows if len({question.text for question in row}) > 1)
    columns = tuple(zip(*same, strict=True)) if same else ((),) * len(runs)
    return Pairing(columns, others)


def common_metrics(runs: Sequence[Results]) -> list[str]:
    """Metrics with a score a question that all runs have, in the order of the first."""
    first, *others = (_metrics(run) for run in runs)
    return [metric for metric in first if all(metric in other for other in others)]


def check_common(
    runs: Sequence[Results], names: Sequence[str], pairing: Pairing, metrics: Sequence[str]
) -> None:
    """An error where there is nothing to compare two runs by."""
    a, b = (
        f"{name} ({counted(len(run.questions), 'question')})"
        for name, run in zip(names, runs, strict=True)
    )
    if not pairing.runs[0]:
        others = len(pairing.other_text)
        why = f"; {thousands(others)} shared ids have different texts" if others else ""
        raise NotComparable(
            f"{a} and {b} have no question in common{why}; evaluate both with the same questions"
        )
    if not metrics:
        message = "; ".join(
            f"{name} has {', '.join(_metrics(run)) or 'none'}"
            for run, name in zip(runs, names, strict=True)
        )
        raise ChunkwiseError(
            f"no metric in common ({message}); evaluate both with the same metrics, k and budget"
        )


def chosen_metrics(there: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Those that are wanted, in their order; `recall` stands for every recall@…, a group for its members.

    A first word that names nothing itself stands for all that begin with it: `citation` for citation_precision.
    """
    metrics: dict[str, None] = {}
    known = groups()
    for name in wanted:
        names = {name, *(there if name == "all" else known.get(name, ()))}
        fitting = [m for m in there if m in names or m.partition("@")[0] in names]
        if not fitting:
            fitting = [m for m in there if m.startswith((f"{name}_", f"{name}."))]
        if not fitting:
            # As they are written without @, too, of which one may be almost that.
            spelled = dict.fromkeys(item for m in there for item in (m.partition("@")[0], m))
            hint = did_you_mean(name, spelled, otherwise="")
            raise InvalidParameter(
                f"{name!r} isn't a shared metric; {f'{hint} ' if hint else ''}known: "
                f"{', '.join(there)}"
            )
        metrics.update(dict.fromkeys(fitting))
    return list(metrics)


def _by_id(run: Results, name: str) -> Mapping[str, QuestionResult]:
    result: dict[str, QuestionResult] = {}
    for question in run.questions:
        if question.id in result:
            raise ChunkwiseError(
                f"{name} has two questions with the id {question.id!r}; ids must be unique"
            )
        result[question.id] = question
    return result


def _metrics(run: Results) -> dict[str, None]:
    return dict.fromkeys(name for question in run.questions for name in question.scores)


CONTEXT = "context tokens per question"
_SAME = "context_tokens"
"""What an index calls it among its costs."""


def whole_figures(runs: Sequence[Results]) -> dict[str, tuple[float | None, ...]]:
    """By name, one a run; None: this run has none. They are no means over questions, so nothing is tested."""
    columns = [_figures(run) for run in runs]
    names = dict.fromkeys(name for column in columns for name in column)
    return {name: tuple(column.get(name) for column in columns) for name in names}


def _figures(run: Results) -> dict[str, float]:
    asked = {name for question in run.questions for name in question.scores}
    figures = {
        name: figure.mean
        for name, figure in run.summary.items()
        if figure.mean is not None and figure.low is None and name not in asked
    }
    for name, value in run.cost.items():
        if name != _SAME and isinstance(value, int | float) and not isinstance(value, bool):
            figures[name] = float(value)
    if run.questions:
        tokens = sum(question.context_tokens for question in run.questions)
        figures[CONTEXT] = tokens / len(run.questions)
    return figures
