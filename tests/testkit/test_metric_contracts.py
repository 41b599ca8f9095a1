"""The contracts of metrics and judges: kept by ours, and each breach found in one that breaks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from chunkwise.base.errors import BrokenContract, InvalidParameter
from chunkwise.core import Hit, Query
from chunkwise.ext import Evidence, Metric, Score
from chunkwise.metrics.answers.question_evidence import LlmMetric
from chunkwise.metrics.judges.relevance_judges import SimilarityJudge
from chunkwise.metrics.registry import known_metrics
from chunkwise.testkit import check_judge, check_metric
from chunkwise.testkit.sample_run import HashedWords, sample_runs
from tables import cases

OWN = known_metrics()


@cases("name", [name for name in OWN if not isinstance(OWN[name], LlmMetric)])
def test_what_we_have_keeps_the_contract(name: str) -> None:
    check_metric(name)


def test_the_sample_runs_score_our_metrics_and_leave_them_unscored() -> None:
    """Else the contract would be kept by whoever always says that there is no score."""
    by_model = {
        "retrieval_precision.llm",
        "retrieval_precision.similarity",
        "retrieval_precision.spans",
    }
    by_model |= {"retrieval_precision.labels", "cohesion", "contrast", "citation_accuracy.position"}
    whole = sample_runs()["a whole run"]
    for name, metric in OWN.items():
        if name not in by_model and metric.score is not None:
            given: Any = metric.score(whole)
            values = given if isinstance(given, list) else [getattr(given, "score", given)]
            assert any(getattr(each, "value", each) is not None for each in values), name


def test_a_metric_at_a_number_or_asking_a_model() -> None:
    check_metric("recall@2")
    check_metric("recall@30t")
    with pytest.raises(InvalidParameter, match="calls a language model"):
        check_metric("faithfulness.llm")


def declared(score: Callable[[Evidence], Any], **more: Any) -> Metric:
    return Metric("odd_one", "Odd.", score=score, **more)


CALLS = count(1)


def half(evidence: Evidence) -> list[float]:
    return [0.5 for _ in evidence.queries]


def test_one_of_somebody_else_keeps_it_and_own_runs_are_read() -> None:
    check_metric(declared(half))
    check_metric(declared(lambda evidence: 0.5, per="chunking"))
    one = replace(sample_runs()["a whole run"], queries=[Query("sea", "the sea")], hits=[[]])

    def fears(evidence: Evidence) -> list[float]:
        return [9.0 if query.text == "the sea" else 0.5 for query in evidence.queries]

    check_metric(declared(fears))
    with pytest.raises(BrokenContract, match=r"mine: odd_one returned 9\.0; expected 0 to 1"):
        check_metric(declared(fears), {"mine": one})


@cases(
    "score, more, said",
    [
        (lambda evidence: [len(own) / 1 for own in evidence.hits], {}, "0 to 1"),
        (lambda evidence: [1 / len(own) for own in evidence.hits], {}, "raised ZeroDivisionError"),
        (lambda evidence: [0.5], {}, "returned 1 value for"),
        (lambda evidence: 0.5, {}, "one value per question"),
        (lambda evidence: "nothing", {}, "one value per question"),
        (lambda evidence: half(evidence), {"per": "chunking"}, "several values"),
        (lambda evidence: [float("nan")] * len(evidence.queries), {}, "returned NaN"),
        (lambda evidence: [None] * len(evidence.queries), {}, "raised TypeError"),
        (lambda evidence: [""] * len(evidence.queries), {}, "no value and no reason"),
        (lambda evidence: [Score(None)] * len(evidence.queries), {}, "no value and no reason"),
        (lambda evidence: [1 / len(evidence.queries) for _ in evidence.queries], {}, "and alone"),
        (lambda evidence: [n / 99 for n, _ in enumerate(evidence.queries)], {}, "in the opposite order"),
        (lambda evidence: 1 / next(CALLS), {"per": "chunking"}, "a second run"),
    ],
)  # fmt: skip
def test_a_breach_is_told(score: Callable[..., Any], more: dict[str, Any], said: str) -> None:
    with pytest.raises(BrokenContract, match=said):
        check_metric(declared(score, **more))


Judged = Callable[[Query, Sequence[Hit]], Any]


class Rule:
    """A judge by a rule that sees one question and its hits."""

    def __init__(self, rule: Judged, name: Any = "rule") -> None:
        self.name = name
        self._rule = rule

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[Any]:
        return [self._rule(query, own) for query, own in zip(queries, hits, strict=True)]


def yes(query: Query, hits: Sequence[Hit]) -> list[Score]:
    return [Score(1.0) for _ in hits]


@cases("judge", ["labels", "spans", SimilarityJudge(HashedWords()), Rule(yes)])
def test_our_judges_keep_theirs(judge: Any) -> None:
    check_judge(judge)


class CountsQuestions(Rule):
    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[Any]:
        return [[Score(float(len(queries) > 1)) for _ in own] for own in hits]


@cases(
    "judge, said",
    [
        (Rule(yes, "My Judge"), "allowed: lower-case letters, digits and _"),
        (Rule(yes, 5), "is 5; expected a str"),
        (Rule(lambda query, hits: [Score(0.5) for _ in hits]), "returned 0.5; expected 1, 0 or None"),
        (Rule(lambda query, hits: [Score(None) for _ in hits]), "no verdict and no reason"),
        (Rule(lambda query, hits: [1.0 for _ in hits]), r"returned 1\.0.* Score"),
        (Rule(lambda query, hits: yes(query, hits)[1:]), "one score per hit"),
        (Rule(lambda query, hits: [Score(1 / len(query.references)) for _ in hits]), "raised ZeroDivision"),
        (Rule(lambda query, hits: [Score(float(not n)) for n, _ in enumerate(hits)]), "depend on"),
        (CountsQuestions(yes), "depend on"),
    ],
)  # fmt: skip
def test_a_breach_of_a_judge_is_told(judge: Rule, said: str) -> None:
    with pytest.raises(BrokenContract, match=said):
        check_judge(judge)
