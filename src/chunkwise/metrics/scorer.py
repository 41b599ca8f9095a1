"""The one scorer: what was retrieved goes in as arrays, a column of scores a metric comes out.

An evaluation turns its hits into the arrays, a sweep has them already; both are scored here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, error_words
from chunkwise.base.wording import as_set, counted, shown
from chunkwise.core import Document, Score
from chunkwise.metrics.evidence import Evidence, Hits
from chunkwise.metrics.metric import Metric, Scores, WholeScore
from chunkwise.metrics.registry import MetricAt, is_own
from chunkwise.metrics.span_tables import Chunking, Gold, HitTable
from chunkwise.metrics.spans.coverage import RELEVANCE_THRESHOLD
from chunkwise.metrics.spans.span_metric import SpanEvidence, SpanMetric
from chunkwise.metrics.token_budget import TokenCut, TokenEnds, in_tokens, within
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike

_ALL = 1_000_000_000
"""Hits: within a budget all are looked at that fit."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreColumn:
    """A value a question; where it is NaN the question is unscored, and `reasons` says why."""

    values: NDArray[np.float64]
    reasons: tuple[str, ...]

    @classmethod
    def of(cls, scores: Sequence[Score]) -> ScoreColumn:
        """From single scores, in the order of the questions."""
        values = [np.nan if score.value is None else score.value for score in scores]
        return cls(np.array(values, np.float64), tuple(score.reason for score in scores))


class RetrievedTables(Protocol):
    """What was retrieved for all questions, as deep as somebody looks."""

    def table(self, wanted: MetricAt) -> HitTable:
        """Enough hits for a metric: at least its number of them, or of their tokens; the same object for the same."""


@dataclass(frozen=True, slots=True, eq=False)
class SpanRules:
    """What turns lengths and ranks into scores."""

    gold: Gold
    chunking: Chunking | None
    cut: TokenEnds
    threshold: float = RELEVANCE_THRESHOLD
    documents: Sequence[Document] = ()
    tokenizer: TokenizerLike = DEFAULT_TOKENIZER
    unit: str = "characters"


def span_scores(
    wanted: Sequence[MetricAt],
    gold: Gold,
    found: HitTable,
    chunking: Chunking | None,
    cut: TokenEnds,
    threshold: float = RELEVANCE_THRESHOLD,
) -> dict[str, Scores]:
    """By label, one value a question; NaN: unscored, for the reason `why_unscored` gives."""
    whole = SpanEvidence(gold, found, chunking, threshold)
    budgets = {metric_at.at for metric_at in wanted if metric_at.tokens}
    cuts = {at: SpanEvidence(gold, within(found, at, cut), chunking, threshold) for at in budgets}
    return {
        metric_at.label: _scores(metric_at, cuts[metric_at.at] if metric_at.tokens else whole)
        for metric_at in wanted
    }


def _scores(wanted: MetricAt, evidence: SpanEvidence) -> Scores:
    metric = wanted.metric
    assert isinstance(metric, SpanMetric)
    scores = metric.formula(evidence, _ALL if wanted.tokens else wanted.at)
    unscored = evidence.without_references
    if metric.ideal:
        unscored = unscored | evidence.without_ideal(wanted.at)
    return np.where(unscored, np.nan, scores)


def score_spans(
    wanted: Sequence[MetricAt], retrieved: RetrievedTables, rules: SpanRules
) -> dict[str, Scores]:
    """Of the metrics over spans among these; those that look at the same hits share what is found about them."""
    tables: dict[int, tuple[HitTable, list[MetricAt]]] = {}
    for at in wanted:
        if isinstance(at.metric, SpanMetric):
            table = retrieved.table(at)
            tables.setdefault(id(table), (table, []))[1].append(at)
    spans: dict[str, Scores] = {}
    gold, chunking, threshold = rules.gold, rules.chunking, rules.threshold
    for table, ats in tables.values():
        spans |= span_scores(ats, gold, table, chunking, rules.cut, threshold)
        if rules.unit == "tokens":
            # Hits are counted, not measured: which one is relevant, and which is the same, characters tell.
            measured = [at for at in ats if not _counts_hits(at.metric)]
            other = in_tokens(gold, table, chunking, rules.documents, rules.tokenizer)
            spans |= span_scores(measured, *other, threshold)
    return spans


def _counts_hits(metric: Metric) -> bool:
    return isinstance(metric, SpanMetric) and metric.counts_hits


def why_unscored(wanted: MetricAt, *, references: int, chunking: Chunking | None) -> str:
    """Why a question with so many references has no score by a metric over spans."""
    if not references:
        return "the question has no references"
    if chunking is None:
        return f"{wanted.metric.name} needs the chunks of an index"
    return f"{wanted.metric.name} counts chunks, but these hits aren't chunks of the index"


class RunHits(RetrievedTables, Protocol):
    """A run whose hits are there as hits, too."""

    def hits(self, wanted: MetricAt) -> Hits:
        """What a metric looks at that reads more than places."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """Every question's score by every metric over questions, and the figures of the whole chunking."""

    evidence: Evidence
    run: RunHits
    by_llm: Mapping[str, Sequence[Score]]
    """Scores that a language model's verdicts gave, by metric."""

    def columns(self, wanted: Sequence[MetricAt]) -> dict[str, ScoreColumn]:
        """One column a metric that scores questions, in the order they were asked for."""
        result = self._over_spans(wanted)
        for at in wanted:
            metric = at.metric
            if at.label in result or metric.per != "question":
                continue
            if metric.name in self.by_llm:
                result[at.label] = ScoreColumn.of(self.by_llm[metric.name])
            elif metric.score is not None:
                evidence = self.evidence
                if metric.at != "none":
                    evidence = evidence.with_hits(self.run.hits(at))
                result[at.label] = ScoreColumn.of(question_scores(metric, evidence))
        return {at.label: result[at.label] for at in wanted if at.label in result}

    def whole(self, wanted: Sequence[MetricAt]) -> dict[str, WholeScore]:
        """Of the metrics that score a whole chunking."""
        return {
            at.label: whole_score(at.metric, self.evidence)
            for at in wanted
            if at.metric.per == "chunking"
        }

    def _over_spans(self, wanted: Sequence[MetricAt]) -> dict[str, ScoreColumn]:
        evidence = self.evidence
        gold, chunking = evidence.gold, evidence.chunking
        rules = SpanRules(
            gold, chunking, TokenCut(evidence.documents, evidence.tokenizer),
            evidence.relevance_threshold, evidence.documents, evidence.tokenizer, evidence.unit,
        )  # fmt: skip
        scores = score_spans(wanted, self.run, rules)
        references = np.bincount(gold.question, minlength=len(evidence.queries)).tolist()
        return {
            at.label: ScoreColumn(
                values := scores[at.label],
                tuple(
                    why_unscored(at, references=count, chunking=chunking) if missing else ""
                    for count, missing in zip(references, np.isnan(values).tolist(), strict=True)
                ),
            )
            for at in wanted
            if at.label in scores
        }


def question_scores(metric: Metric, evidence: Evidence) -> list[Score]:
    """One score a question; what somebody else's metric raises, or gives too much or too little of, is the reason."""
    assert metric.score is not None
    try:
        return checked_scores(metric, evidence, metric.score(evidence))
    except Exception as error:  # somebody else's metric: it is unscored, the others stay
        if is_own(metric):
            raise
        return [_failed(error)] * len(evidence.queries)


def whole_score(metric: Metric, evidence: Evidence) -> WholeScore:
    """The one score of a chunking."""
    assert metric.score is not None
    try:
        given = metric.score(evidence)
        if isinstance(given, WholeScore):
            return given
        chunks = 0 if evidence.chunking is None else len(evidence.chunking.start)
        return WholeScore(checked_scores(metric, evidence, given)[0], chunks)
    except Exception as error:  # somebody else's metric: it is unscored, the others stay
        if is_own(metric):
            raise
        return WholeScore(_failed(error))


def checked_scores(metric: Metric, evidence: Evidence, given: object) -> list[Score]:
    """What a metric gave as scores, one a question or one of the whole; a `ChunkwiseError` says what is wrong."""
    several = isinstance(given, Sequence) and not isinstance(given, str)
    if metric.per == "chunking":
        if several:
            raise ChunkwiseError(f"{metric.name} returned several values; expected one")
        return [_score(metric, given.score if isinstance(given, WholeScore) else given)]
    if not several:
        raise ChunkwiseError(
            f"{metric.name} returned {shown(given)}; expected one value per question"
        )
    values = list(given)  # type: ignore[call-overload]
    if len(values) != len(evidence.queries):
        raise ChunkwiseError(
            f"{metric.name} returned {counted(len(values), 'value')} for "
            f"{counted(len(evidence.queries), 'question')}"
        )
    return [_score(metric, value) for value in values]


def _failed(error: Exception) -> Score:
    return Score(None, error_words(error) or type(error).__name__)


def _score(metric: Metric, value: Any) -> Score:
    if isinstance(value, str):
        return Score(None, value or f"{metric.name} returned no value and no reason")
    if isinstance(value, Score):
        if value.value is None:
            return value
        value = value.value
    low, high = metric.bounds
    number = float(value)
    if math.isnan(number):
        return Score(None, f"{metric.name} returned NaN")
    if not low - 1e-9 <= number <= high + 1e-9:
        raise ChunkwiseError(
            f"{metric.name} returned {number!r}; expected {as_set(low)} to {as_set(high)}"
        )
    return Score(number)
