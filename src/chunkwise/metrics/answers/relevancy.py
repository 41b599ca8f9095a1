"""Is an answer about what was asked? By an embedder, or by a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Query, Score
from chunkwise.metrics.answers.question_evidence import (
    NO_ANSWER,
    Asked,
    LlmMetric,
    QuestionEvidence,
)
from chunkwise.metrics.evidence import Answer
from chunkwise.metrics.judges.llm_answer_judgments import AnswerRelevancy
from chunkwise.metrics.judges.relevance_judges import cosine_scores
from chunkwise.metrics.metric import Metric
from chunkwise.models import DEFAULT, get_embedder
from chunkwise.models.embed.embedder import Embedder

if TYPE_CHECKING:
    from chunkwise.metrics.evidence import Evidence

_DIGITS = 6
"""The last ones depend on the machine."""


def answer_relevancy(
    queries: Sequence[Query], answers: Mapping[str, Answer], embedder: Embedder
) -> list[Score]:
    """Cosine of question and answer, below 0 as 0; an answer in the words of the question is near, right or wrong."""
    answered = [query for query in queries if query.id in answers]
    near = cosine_scores([(query.text, answers[query.id].said) for query in answered], embedder)
    result = {query.id: _rounded(score) for query, score in zip(answered, near, strict=True)}
    return [result.get(query.id, Score(None, NO_ANSWER)) for query in queries]


def _rounded(near: Score) -> Score:
    return near if near.value is None else Score(round(min(1.0, max(0.0, near.value)), _DIGITS))


def _answer(given: QuestionEvidence) -> Asked | str:
    if given.answer is None:
        return NO_ANSWER
    return [([given.answer.said], [given.answer.said])]


def _by_similarity(evidence: Evidence) -> list[Score]:
    """By the model of the similarity judge; where it cannot be had, the others are scored all the same."""
    if not evidence.answers:
        return [Score(None, NO_ANSWER) for _ in evidence.queries]
    try:
        embedder = get_embedder(evidence.embedder or DEFAULT)
    except ChunkwiseError as error:
        return [Score(None, str(error)) for _ in evidence.queries]
    return answer_relevancy(evidence.queries, evidence.answers, embedder)


METRICS = (
    Metric(
        "answer_relevancy.similarity", "Cosine similarity of answer and question.",
        score=_by_similarity, group="answers", needs=("answers", "embedder"),
    ),
    LlmMetric(
        "answer_relevancy.llm", "Whether the answer addresses the question, right or wrong: 1, partly 0.5, or 0.",
        judgment=AnswerRelevancy, ask=_answer, group="answers", needs=("answers", "llm"),
    ),
)  # fmt: skip
