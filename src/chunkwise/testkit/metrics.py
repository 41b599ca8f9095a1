"""What every metric and every judge keeps to: a value within its bounds or a reason, the same whoever is beside one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from chunkwise.base.errors import BrokenContract, ChunkwiseError, InvalidParameter
from chunkwise.core import Hit, Query, Score
from chunkwise.metrics.evidence import Evidence, Hits
from chunkwise.metrics.judges.judge import Judge, get_judge
from chunkwise.metrics.metric import Metric
from chunkwise.metrics.registry import MetricAt, parse
from chunkwise.metrics.scorer import ScoreColumn, Scorer, checked_scores
from chunkwise.metrics.span_tables import HitTable
from chunkwise.metrics.spans.span_metric import SpanMetric
from chunkwise.testkit.sample_run import sample_runs

ExpectedValue = float | str
"""A value, or why there is none."""


def check_metric(
    metric: str | Metric, runs: Mapping[str, Evidence] | None = None, *, tolerance: float = 1e-9
) -> None:
    """Hold a metric to the contract on sample runs and on yours; raise `BrokenContract` at the first breach.

    `tolerance` is how far a question's score may move when it is scored among others.
    """
    which = parse(metric) if isinstance(metric, str) else MetricAt(metric, _hits_of(metric))
    if which.metric.score is None and not isinstance(which.metric, SpanMetric):
        raise InvalidParameter(
            f"{which.metric.name} calls a language model, which this check can't"
        )
    for name, evidence in {**sample_runs(), **(runs or {})}.items():
        given = _scored(which, evidence, name)
        if _scored(which, evidence, name) != given:
            raise BrokenContract(f"{which.label}, {name}: a second run returned other values")
        if which.metric.per == "question":
            _check_alone(which, evidence, name, given, tolerance)


def _hits_of(metric: Metric) -> int:
    return 0 if metric.at == "none" else metric.usual_at or 5


def _check_alone(
    which: MetricAt, evidence: Evidence, name: str, given: list[ExpectedValue], tolerance: float
) -> None:
    """Questions are split, sampled and paired: the score of one depends on no other."""
    order = list(range(len(given)))
    backwards = _scored(which, _some(evidence, order[::-1]), name)[::-1]
    alone = [_scored(which, _some(evidence, [at]), name)[0] for at in order]
    for how, others in (("in the opposite order", backwards), ("alone", alone)):
        for at, (one, other) in enumerate(zip(given, others, strict=True)):
            far = isinstance(one, str) != isinstance(other, str) or (
                not isinstance(one, str)
                and not isinstance(other, str)
                and abs(one - other) > tolerance
            )
            if far:
                id = evidence.queries[at].id
                raise BrokenContract(
                    f"{which.label}, {name}: {id!r} has {one!r}, and {how} {other!r}"
                )


def _some(evidence: Evidence, positions: Sequence[int]) -> Evidence:
    queries = [evidence.queries[at] for at in positions]
    return replace(
        evidence, queries=queries, hits=[evidence.hits[at] for at in positions], _made={}
    )


def _scored(which: MetricAt, evidence: Evidence, name: str) -> list[ExpectedValue]:
    """One value a question, or one of the whole."""
    metric = which.metric
    evidence = replace(evidence, _made={})
    if which.at and not which.tokens:
        evidence = evidence.with_hits([list(hit)[: which.at] for hit in evidence.hits])
    if isinstance(metric, SpanMetric):
        return _of_column(Scorer(evidence, _Run(evidence), {}).columns([which])[which.label])
    assert metric.score is not None
    try:
        scores = checked_scores(metric, evidence, metric.score(evidence))
    except ChunkwiseError as error:
        raise BrokenContract(f"{name}: {error}") from error
    except Exception as error:  # of a run it would be the reason why there is no score
        raise BrokenContract(
            f"{metric.name}, {name}: raised {type(error).__name__}; expected a reason as a str "
            f"instead: {error}"
        ) from error
    values = _of_column(ScoreColumn.of(scores))
    for value in values:
        if isinstance(value, str) and (
            not value.strip() or value.startswith(f"{metric.name} returned")
        ):
            raise BrokenContract(
                f"{name}: {value.strip() or f'{metric.name} returned no value and no reason'}"
            )
    return values


def _of_column(column: ScoreColumn) -> list[ExpectedValue]:
    values = zip(column.values.tolist(), column.reasons, strict=True)
    return [reason if math.isnan(value) else value for value, reason in values]


class _Run:
    """Hits that are there already."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._table = HitTable.of(evidence.hits, evidence.numbers)

    def table(self, wanted: MetricAt) -> HitTable:
        return self._table

    def hits(self, wanted: MetricAt) -> Hits:
        return self._evidence.hits


def check_judge(judge: str | Judge, runs: Mapping[str, Evidence] | None = None) -> None:
    """Hold a judge to the contract on sample runs and on yours: 1, 0 or a reason a hit, whatever is beside it."""
    made = get_judge(judge)
    if not isinstance(made.name, str):
        raise BrokenContract(f"the name of {type(made).__name__} is {made.name!r}; expected a str")
    try:
        Metric(f"retrieval_precision.{made.name}", "Its metric.")
    except InvalidParameter:
        raise BrokenContract(
            f"judge name {made.name!r}; allowed: lower-case letters, digits and _"
        ) from None
    for name, run in {**sample_runs(), **(runs or {})}.items():
        queries, hits = list(run.queries), [list(hit) for hit in run.hits]
        given = _verdicts(made, queries, hits, name)
        backwards = _verdicts(made, queries[::-1], [hit[::-1] for hit in hits[::-1]], name)[::-1]
        for at, query in enumerate(queries):
            alone = _verdicts(made, [query], [hits[at]], name)[0]
            if given[at] != alone or given[at] != backwards[at][::-1]:
                raise BrokenContract(
                    f"{made.name}, {name}: its verdicts on {query.id!r} depend on the other "
                    "questions and hits"
                )


def _verdicts(
    judge: Judge, queries: Sequence[Query], hits: Sequence[Sequence[Hit]], name: str
) -> list[list[float | None]]:
    try:
        result = [list(scores) for scores in judge.judge(queries, hits)]
    except Exception as error:  # of a run it would be the reason why there is no verdict
        raise BrokenContract(
            f"{judge.name}, {name}: raised {type(error).__name__}; expected Score(None, "
            f"'reason'): {error}"
        ) from error
    if [len(scores) for scores in result] != [len(hit) for hit in hits]:
        raise BrokenContract(f"{judge.name}, {name}: didn't return one score per hit")
    for score in (item for own in result for item in own):
        if not isinstance(score, Score):
            raise BrokenContract(f"{judge.name}, {name}: returned {score!r}; expected a Score")
        if score.value is None and not score.reason.strip():
            raise BrokenContract(f"{judge.name}, {name}: returned no verdict and no reason")
        if score.value not in (None, 0, 1):
            raise BrokenContract(
                f"{judge.name}, {name}: returned {score.value!r}; expected 1, 0 or None"
            )
    return [[score.value for score in scores] for scores in result]
