"""Whether a run may take the place of another, and which limits for its own figures it misses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from chunkwise.base.errors import NotComparable
from chunkwise.base.wording import (
    as_set,
    counted,
    format_change,
    format_interval,
    format_number,
    listed,
    main_reason,
    one_or_many,
    thousands,
)
from chunkwise.evaluation.compare import (
    RunLike,
    Scored,
    changed_data,
    changed_questions,
    changed_rules,
    compare_results,
    read_runs,
    run_name,
)
from chunkwise.evaluation.comparison_result import (
    NO_DIFFERENCE,
    Change,
    Comparison,
    Tested,
    chosen_metrics,
    common_metrics,
    whole_figures,
)
from chunkwise.evaluation.results import Json, Results
from chunkwise.metrics.registry import format_score, kind_of, lower_is_better, metric_of
from chunkwise.options import Accepted, GateOptions
from chunkwise.records.json import plain
from chunkwise.stats.paired import SIGNIFICANCE, equivalence, holm
from chunkwise.testsets.testset import QuestionCounts

ANY = "any"
"""Every metric that the runs have in common."""
CHANGED_MOST = 20
"""Questions of a metric that are listed, of those that got worse and of those that got better."""

NO_SCORES = "no question has a score in any run"
"""Of a metric that is left out."""

Verdict = Literal["worse", "equivalent", "better", "worse within the margin", "inconclusive"]
Outcome = Literal["passed", "failed", "not comparable"]


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One metric of a run compared with the first."""

    run: str
    first: str
    metric: str
    before: float
    after: float
    verdict: Verdict
    margin: float
    tested: Tested | None = None
    """Corrected over the metrics that were named; None: a metric of a whole chunking, which is not a sample."""
    equivalence: float | None = None
    """p of the two one-sided tests, corrected the same way; None: no margin, or too few questions."""
    lost: int = 0
    """Questions that the first run has a score for, and this one has none."""

    @property
    def difference(self) -> float:
        return self.after - self.before

    @property
    def is_worse(self) -> bool:
        """By more than the margin."""
        return self.verdict == "worse"


@dataclass(frozen=True, slots=True)
class NewZero:
    """A question that the first run answered at least in part, and this one not at all."""

    run: str
    metric: str
    id: str
    text: str
    before: float
    after: float | None
    """None: it has no score any more."""


@dataclass(frozen=True, slots=True)
class ChangedQuestions:
    """The questions that moved most by one metric."""

    run: str
    metric: str
    worse: tuple[Change, ...]
    better: tuple[Change, ...]


_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Gate:
    """Which runs are worse than the baseline."""

    labels: tuple[str, ...]
    """Of the runs, the first among them."""
    margin: float
    checks: tuple[GateCheck, ...] = ()
    not_comparable: tuple[str, ...] = ()
    """Why nothing can be said; empty: the runs are comparable."""
    left_out: tuple[str, ...] = ()
    """Metrics that were named and have no score in any run: citations, where nothing was answered."""
    no_new_zero: bool = False
    new_zeros: tuple[NewZero, ...] = ()
    changed: tuple[ChangedQuestions, ...] = ()
    questions: int = 0
    """In the first run and in each of the others."""
    tests: int = 0
    """Over which Holm's correction is made."""
    warnings: tuple[str, ...] = ()
    fails_by_tests: bool = True
    """False: only questions that fall to nothing fail."""
    comparison: Comparison | None = field(default=None, repr=False, compare=False)
    """By the metrics of the gate; None: there is none."""

    @property
    def outcome(self) -> Outcome:
        if self.not_comparable:
            return "not comparable"
        return "failed" if self.failing or (self.no_new_zero and self.new_zeros) else "passed"

    @property
    def failing(self) -> tuple[GateCheck, ...]:
        """Metrics that are worse than they may be."""
        return (
            tuple(check for check in self.checks if check.is_worse) if self.fails_by_tests else ()
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        result: dict[str, Any] = plain(self)
        del result["comparison"]
        return {"outcome": self.outcome, **result}

    def __repr__(self) -> str:
        """What came out, metric by metric; not the comparison it was read from."""
        checks = ", ".join(
            f"{check.metric}: {check.verdict}" for check in self.checks[:_MOST_SHOWN]
        )
        more = ", …" if len(self.checks) > _MOST_SHOWN else ""
        return f"<Gate {self.outcome}; {checks or 'nothing was checked'}{more}>"


def gate(
    *runs: RunLike | Sequence[RunLike],
    metrics: Sequence[str] | None = None,
    min_effect: float | None = None,
    no_new_zero: bool | None = None,
    accept: Sequence[Accepted] | None = None,
    options: GateOptions = GateOptions(),
    fails_by_tests: bool = True,
) -> Gate:
    """Test whether runs are worse than the first one.

    A run fails if it is significantly worse (Holm's correction over `metrics`) by more than `min_effect`. Metrics per
    corpus are not tested and fail if they are worse by more than that.

    Args:
        runs: Results, saved runs or result files; the first is the baseline.
        metrics: Metrics that can fail [default: all].
        min_effect: Ignore smaller differences.
        no_new_zero: Also fail if a question falls to 0.
        accept: Allowed differences: "documents", "questions"; or unreviewed "generated" questions.
        options: All gate options; the keywords above override them.
        fails_by_tests: False: only questions that fall to 0 fail.

    Returns:
        The comparison and the failed runs.

    Raises:
        ChunkwiseError: The runs share no question or no metric.

    Example:
        >>> gate = chunkwise.gate("main.json", "branch.json", metrics=["recall@5"], min_effect=0.02)
        >>> gate.outcome
    """
    if isinstance(metrics, str):
        metrics = [name.strip() for name in metrics.split(",")]
    named = [ANY] if metrics is None else metrics
    accepted = None if accept is None else tuple(accept)
    asked = options.override(min_effect=min_effect, no_new_zero=no_new_zero, accept=accepted)
    min_effect, no_new_zero = asked.min_effect, asked.no_new_zero
    results = read_runs(runs)
    labels = tuple(run.label for run in results)
    tested, whole, left_out = _named(results, named)
    reasons = unreviewed(results[0].data, asked.accept)
    reasons += [
        reason
        for at in range(1, len(results))
        for reason in _differing(results[0], results[at], ("a", run_name(at)), asked.accept)
    ]
    comparison, scored = None, list[Scored]()
    try:
        if tested:
            comparison, scored = compare_results(results, tested)
    except NotComparable as error:
        return Gate(labels, min_effect, not_comparable=(*reasons, str(error)), left_out=left_out)
    if not tested and not whole:
        reasons.append(f"no run has a score for {listed(left_out)}; choose another metric")
    checks = _whole_checks(results, whole, min_effect)
    zeros: list[NewZero] = []
    changed: list[ChangedQuestions] = []
    if comparison is not None:
        for contrast in comparison.contrasts:
            if contrast.unpaired:
                names = listed(contrast.unpaired)
                reasons.append(
                    f"no question has a score for {names} in both {contrast.first} and {contrast.second}"
                )
        checks = [*_checks(comparison, scored, min_effect), *checks]
    for pair in scored:
        own_zeros = _new_zeros(pair)
        zeros += own_zeros
        if "questions" not in asked.accept:
            reasons += _lost_scores(pair, own_zeros if no_new_zero else ())
        for metric in pair.metrics:
            worse, better = changed_questions(pair, metric, CHANGED_MOST)
            if worse or better:
                changed.append(ChangedQuestions(pair.names[1], metric, worse, better))
    return Gate(
        labels, min_effect, tuple(checks), tuple(reasons), left_out, no_new_zero, tuple(zeros), tuple(changed),
        min((contrast.questions for contrast in comparison.contrasts), default=0) if comparison else 0,
        comparison.tests if comparison else 0, comparison.warnings if comparison else (),
        fails_by_tests, comparison,
    )  # fmt: skip


def _named(
    runs: Sequence[Results], metrics: Sequence[str]
) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Those that score questions, figures of a whole chunking, and those that no question of any run has a score by."""
    by_question = common_metrics(runs)
    figures = [
        name
        for name, values in whole_figures(runs).items()
        if metric_of(name) is not None and None not in values
    ]
    chosen = by_question
    if ANY not in metrics:
        chosen = chosen_metrics([*by_question, *figures], metrics)
    scored = {
        name
        for run in runs
        for question in run.questions
        for name, score in question.scores.items()
        if score is not None
    }
    return (
        [name for name in chosen if name in by_question and name in scored],
        [name for name in chosen if name not in by_question],
        tuple(name for name in chosen if name in by_question and name not in scored),
    )


def unreviewed(data: Mapping[str, Json], accept: Sequence[Accepted]) -> list[str]:
    """Why nothing fails by a run's questions: a program wrote them, and nobody looked; empty: it may."""
    if "generated" in accept or not QuestionCounts.of(data.get("questions")).is_unreviewed:
        return []
    return [
        f"fewer than 25 of these generated questions are reviewed; review them (chunkwise "
        f"testset review), or accept this: {_accepting('generated')}"
    ]


def _accepting(what: str) -> str:
    """As it is written on the command line, and in Python."""
    return f"--accept {what} (accept=[{what!r}] in Python)"


def _differing(
    first: Results, second: Results, names: tuple[str, str], accept: Sequence[str]
) -> list[str]:
    """A sentence for each thing that makes a difference between the two say nothing."""
    a, b = names
    texts = [
        f"{a} and {b} have different {what}; evaluate both with the same, or accept this: "
        f"{_accepting(what)}"
        for what in changed_data(first, second)
        if what not in accept
    ]
    if not texts and "questions" not in accept:
        asked = {question.id for question in second.questions}
        gone = [question.id for question in first.questions if question.id not in asked]
        if gone:
            texts.append(
                f"{counted(len(gone), 'question')} of {a} missing from {b}, such as {gone[0]!r}; "
                f"evaluate both with the same questions, or accept this: {_accepting('questions')}"
            )
    return [*texts, *changed_rules(first, second, names)]


def _lost_scores(scored: Scored, judged: Sequence[NewZero]) -> list[str]:
    """A sentence where questions have a score in the first run alone: what a test has left says nothing of them.

    Where one of them is `judged`, the run fails by that.
    """
    failed = {zero.metric for zero in judged if zero.after is None}
    metrics: dict[tuple[int, ...], list[str]] = {}
    had = ~np.isnan(scored.first)
    gone = had & np.isnan(scored.second)
    first, second = scored.pairing.runs
    for at, metric in enumerate(scored.metrics):
        lost = tuple(np.flatnonzero(gone[:, at]).tolist())
        if lost and metric not in failed:
            metrics.setdefault(lost, []).append(metric)
    a, b = scored.names
    scores = []
    for lost, names in metrics.items():
        before = int(had[:, list(scored.metrics).index(names[0])].sum())
        reasons = Counter(second[row].unscored.get(names[0], "no reason recorded") for row in lost)
        scores.append(
            f"{thousands(len(lost))} of the {counted(before, 'question')} with a score by "
            f"{listed(names)} in {a} "
            f"{one_or_many(len(lost), 'has', 'have')} none in {b}, such as {first[lost[0]].id!r}: "
            f"{main_reason(reasons)}; score them, or accept this: {_accepting('questions')}"
        )
    return scores


def _checks(comparison: Comparison, scored: Sequence[Scored], margin: float) -> list[GateCheck]:
    shares = _equivalences(scored, margin) if margin else {}
    checks = []
    for contrast, own in zip(comparison.contrasts, scored, strict=True):
        for at, metric in enumerate(own.metrics):
            if (tested := contrast.metrics.get(metric)) is None:
                continue
            p = shares.get((contrast.second, metric))
            lost = int(np.sum(~np.isnan(own.first[:, at]) & np.isnan(own.second[:, at])))
            checks.append(GateCheck(
                contrast.second, contrast.first, metric, tested.first, tested.second,
                _verdict(tested, contrast.first, margin, p), margin, tested, p, lost,
            ))  # fmt: skip
    return checks


def _equivalences(scored: Sequence[Scored], margin: float) -> dict[tuple[str, str], float]:
    """By run and metric, after Holm's correction over all of them."""
    alone = {
        (item.names[1], metric): p
        for item in scored
        for metric, p in zip(
            item.metrics, equivalence(item.first, item.second, margin), strict=True
        )
        if p is not None
    }
    return dict(zip(alone, holm(list(alone.values())), strict=True))


def _verdict(tested: Tested, first: str, margin: float, equal: float | None) -> Verdict:
    is_worse = tested.verdict == f"{first} is better"
    # A difference of 0.02 may come out as 0.020000000000000018.
    if is_worse and round(abs(tested.difference.mean), 9) > margin:
        return "worse"
    if equal is not None and equal <= SIGNIFICANCE:
        return "equivalent"
    if is_worse:
        return "worse within the margin"
    return "inconclusive" if tested.verdict == NO_DIFFERENCE else "better"


def _whole_checks(
    runs: Sequence[Results], metrics: Sequence[str], margin: float
) -> list[GateCheck]:
    """Nothing is sampled, so nothing is tested: the margin alone decides."""
    figures = whole_figures(runs)
    checks = []
    for at in range(1, len(runs)):
        for metric in metrics:
            before, after = figures[metric][0], figures[metric][at]
            assert before is not None
            assert after is not None
            gain = round(before - after if lower_is_better(metric) else after - before, 9)
            verdict: Verdict = "better" if gain > 0 else "inconclusive"
            if abs(gain) <= margin:
                verdict = "equivalent"
            elif gain < 0:
                verdict = "worse"
            checks.append(GateCheck(run_name(at), "a", metric, before, after, verdict, margin))
    return checks


def _new_zeros(scored: Scored) -> list[NewZero]:
    """By each metric; where lower is better, the worst there is is 1."""
    zeros = []
    for at, metric in enumerate(scored.metrics):
        is_lower = lower_is_better(metric)
        for question, before, after in zip(
            scored.pairing.runs[0],
            scored.first[:, at].tolist(),
            scored.second[:, at].tolist(),
            strict=True,
        ):
            had_some = before < 1 if is_lower else before > 0
            has_none = np.isnan(after) or (after >= 1 if is_lower else after <= 0)
            if had_some and has_none:
                zeros.append(NewZero(
                    scored.names[1], metric, question.id, question.text, before,
                    None if np.isnan(after) else after,
                ))  # fmt: skip
    return zeros


def check_words(check: GateCheck) -> str:
    """ "b is shown to be worse than a: -0.160 (-0.220 to -0.100), p < 0.001"."""
    message = {
        "worse": f"{check.run} is significantly worse than {check.first}",
        "equivalent": f"{check.run} is as good as {check.first}, within {as_set(check.margin)}",
        "better": f"{check.run} is significantly better than {check.first}",
        "worse within the margin": f"{check.run} is worse than {check.first}, by no more than {as_set(check.margin)}",
        "inconclusive": f"inconclusive between {check.run} and {check.first}",
    }[check.verdict]
    if check.tested is None:
        if check.verdict == "worse":
            message = f"{check.run} is worse than {check.first}"
        return f"{message}: {format_change(check.difference, kind_of(check.metric))} (per corpus, not tested)"
    tested = check.tested
    p = check.equivalence if check.verdict == "equivalent" else tested.adjusted
    kind = kind_of(check.metric)
    shown = "p not known" if p is None else f"p = {format_number(p, 'p')}".replace("= <", "< ")
    ends = format_interval(
        tested.corrected.low, tested.corrected.high, "change" if kind == "score" else kind
    )
    lost = f"; {counted(check.lost, 'question')} no longer scored" if check.lost else ""
    return f"{message}: {format_change(tested.difference.mean, kind)} ({ends}), {shown}{lost}"


class MetricLimit(NamedTuple):
    """What a figure has to reach (sign 1), or not to exceed (sign -1)."""

    name: str
    value: float
    sign: int


def missed_limits(results: Results, limits: list[MetricLimit]) -> list[str]:
    """The limits that do not hold, in words: a mean is often within a point of its limit."""
    lines = []
    for name, limit, sign in limits:
        figure = results.summary[name]
        mean = figure.mean
        if mean is None:
            lines.append(f"{name} is unscored; required: {format_score(name, limit)}")
        elif (
            sign * round(mean, 9) < sign * limit
        ):  # a mean of 0.8 may come out as 0.7999999999999999
            side = "under" if sign > 0 else "over"
            gap = format_change(abs(mean - limit), kind_of(name)).removeprefix("+")
            asked = format_score(name, limit)
            of = figure.of_how_many and f" ({figure.of_how_many})"
            lines.append(
                f"{name} is {format_score(name, mean)}{of}, {gap} {side} the required {asked}"
            )
    return lines
