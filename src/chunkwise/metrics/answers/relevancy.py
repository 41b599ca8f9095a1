"""Is an answer about what was asked? By an embedder, or by a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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
from chunkwise.metrics.metric import Metric
from chunkwise.models import DEFAULT, get_embedder
from chunkwise.models.embed.embedder import Embedder

if TYPE_CHECKING:
    from chunkwise.metrics.evidence import Evidence

NO_WORDS = "no words to compare"
NO_VECTOR = "the model gave no vector"
_DIGITS = 6
"""The last ones depend on the machine."""


def answer_relevancy(
    queries: Sequence[Query], answers: Mapping[str, Answer], embedder: Embedder
) -> list[Score]:
    """Cosine of question and answer, below 0 as 0; an answer in the words of the question is near, right or wrong."""
    answered = [query for query in queries if query.id in answers]
    if not answered:
        return [Score(None, NO_ANSWER) for _ in queries]
    # An empty text has no vector, and some models refuse it.
    texts = [(query.text, answers[query.id].said) for query in answered]
    compared = [number for number, pair in enumerate(texts) if all(map(str.strip, pair))]
    found = {query.id: Score(None, NO_WORDS) for query in answered}
    if compared:
        asked = embedder.embed([texts[number][0] for number in compared], "query")
        said = embedder.embed([texts[number][1] for number in compared], "passage")
        for number, one, other in zip(compared, asked, said, strict=True):
            found[answered[number].id] = _cosine(
                np.asarray(one, np.float64), np.asarray(other, np.float64)
            )
    return [found.get(query.id, Score(None, NO_ANSWER)) for query in queries]


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> Score:
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return Score(None, NO_VECTOR)
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    if not lengths:
        return Score(None, NO_WORDS)
    return Score(round(min(1.0, max(0.0, float(one @ other) / lengths)), _DIGITS))


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
        "answer_relevancy.similarity", "How near the answer is to the question: their cosine.",
        score=_by_similarity, group="answers", needs=("answers", "embedder"),
    ),
    LlmMetric(
        "answer_relevancy.llm", "Whether the answer answers the question, right or wrong: 1, in part 0.5, or 0.",
        judgment=AnswerRelevancy, ask=_answer, group="answers", needs=("answers", "llm"),
    ),
)  # fmt: skip
