"""Every question's score by every metric over questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Query, Score
from chunkwise.evaluation.figures import ScoreColumn
from chunkwise.evaluation.judging import Verdicts
from chunkwise.evaluation.measuring import ScoringOptions
from chunkwise.evaluation.subject import Hits, SearchRun, Subject
from chunkwise.metrics.answers.answer import NO_ANSWER, Answer
from chunkwise.metrics.answers.citations import (
    citation_attribution,
    citation_precision,
    citation_recall,
    citation_support,
)
from chunkwise.metrics.answers.completeness import answer_completeness, coverage, facts, spans
from chunkwise.metrics.answers.correctness import answer_correctness
from chunkwise.metrics.answers.faithfulness import faithfulness
from chunkwise.metrics.answers.relevancy import answer_relevancy
from chunkwise.metrics.judges.retrieval_precision import retrieval_precision
from chunkwise.metrics.measures import MetricAt, is_measure, parse, span_scores, why_unscored
from chunkwise.metrics.spans.budget import TokenCut, in_tokens
from chunkwise.metrics.spans.tables import Gold, HitTable
from chunkwise.models import DEFAULT, get_embedder


@dataclass(frozen=True, slots=True)
class Scoring:
    """What scores are made of."""

    subject: Subject
    queries: Sequence[Query]
    asking: SearchRun
    measuring: ScoringOptions
    verdicts: Verdicts
    answers: Mapping[str, Answer]
    """By the id of the question; empty: nobody answered."""
    by_llm: Mapping[str, list[Score]] = field(default_factory=dict)
    """Scores that a language model's verdicts gave, by metric."""

    @property
    def gold(self) -> Gold:
        return Gold.of(self.queries, self.subject.numbers)

    def columns(self) -> dict[str, ScoreColumn]:
        """One column a metric, in the order they were asked for."""
        found = self._over_spans()
        for name in self.measuring.metrics:
            if name not in found and (score := self._scores(name)) is not None:
                found[name] = ScoreColumn.of(score)
        return {name: found[name] for name in self.measuring.metrics if name in found}

    def _over_spans(self) -> dict[str, ScoreColumn]:
        wanted = [parse(name) for name in self.measuring.metrics if is_measure(name)]
        found: dict[str, ScoreColumn] = {}
        for _, group in groupby(sorted(wanted, key=_depth), _depth):
            found |= self._at_one_depth(list(group))
        return found

    def _at_one_depth(self, wanted: Sequence[MetricAt]) -> dict[str, ScoreColumn]:
        subject, rules = self.subject, self.measuring
        gold, found = self.gold, HitTable.of(self._hits(wanted[0]), subject.numbers)
        chunking, threshold = subject.chunking, rules.relevance_threshold
        cut = TokenCut(subject.documents, subject.tokenizer)
        scores = span_scores(wanted, gold, found, chunking, cut, threshold)
        if rules.unit == "tokens":
            # Hits are counted, not measured: which one is relevant, and which is the same, characters tell.
            measured = [each for each in wanted if not each.measure.counts_hits]
            tables = in_tokens(gold, found, chunking, subject.documents, subject.tokenizer)
            scores |= span_scores(measured, *tables, threshold)
        references = np.bincount(gold.question, minlength=len(self.queries)).tolist()
        return {
            each.label: ScoreColumn(
                values := scores[each.label],
                tuple(
                    why_unscored(each, references=count, chunking=chunking) if missing else ""
                    for count, missing in zip(references, np.isnan(values).tolist(), strict=True)
                ),
            )
            for each in wanted
        }

    def _hits(self, wanted: MetricAt) -> Hits:
        if wanted.tokens:
            return self.asking.filling(wanted.at)
        return self.asking.top(wanted.at) if wanted.at else self.asking.shown

    def _scores(self, name: str) -> list[Score] | None:
        """Of the metrics that look at the hits a user gets, or at answers; None: it is not one of these."""
        shown, texts = self.asking.shown, self.subject.texts
        answered = {id: answer.text for id, answer in self.answers.items()}
        queries, answers = self.queries, self.answers
        makers: dict[str, Callable[[], list[Score]]] = {
            "completeness.facts": lambda: facts(queries, shown, answered),
            "completeness.coverage": lambda: coverage(queries, shown),
            "completeness.spans": self._all_covered,
            "citation_accuracy.support": lambda: citation_support(queries, answers, texts),
            "citation_accuracy.attribution": lambda: citation_attribution(queries, answers, texts),
            "citation_precision": lambda: citation_precision(queries, answers, texts),
            "citation_recall": lambda: citation_recall(queries, answers),
            "answer_completeness": lambda: answer_completeness(queries, answers),
            "answer_correctness.words": lambda: answer_correctness(queries, answers),
            "answer_relevancy.similarity": self._relevancy,
            "faithfulness.words": lambda: faithfulness(queries, shown, answers),
        }
        judge = name.removeprefix("retrieval_precision.")
        if judge in self.verdicts:
            return retrieval_precision(self.verdicts[judge], self._expected(judge))
        if name in self.by_llm:
            return self.by_llm[name]
        return makers[name]() if name in makers else None

    def _all_covered(self) -> list[Score]:
        subject = self.subject
        gold, found = self.gold, HitTable.of(self.asking.shown, subject.numbers)
        if self.measuring.unit == "tokens":
            gold, found, *_ = in_tokens(gold, found, None, subject.documents, subject.tokenizer)
        return spans(gold, found)

    def _relevancy(self) -> list[Score]:
        """By the model of the similarity judge; where it cannot be had, the others are scored all the same."""
        if not self.answers:
            return [Score(None, NO_ANSWER) for _ in self.queries]
        try:
            embedder = get_embedder(self.measuring.judge_model or DEFAULT)
        except ChunkwiseError as error:
            return [Score(None, str(error)) for _ in self.queries]
        return answer_relevancy(self.queries, self.answers, embedder)

    def _expected(self, judge: str) -> list[bool]:
        """Whether gold spans say that something is there: to find nothing is then 0. Others judge hits only."""
        return [judge == "spans" and bool(query.references) for query in self.queries]


def depths(names: Iterable[str]) -> list[int]:
    """How many hits these metrics look at."""
    wanted = [parse(name) for name in names if is_measure(name)]
    return [each.at for each in wanted if each.at and not each.tokens]


def _depth(wanted: MetricAt) -> tuple[bool, int]:
    return wanted.tokens, wanted.at
