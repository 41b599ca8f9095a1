"""Of the claims of an answer, those that the retrieved context supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Hit, Query, Score
from chunkwise.metrics.answers.citations import NO_CLAIMS
from chunkwise.metrics.answers.question_evidence import (
    NO_ANSWER,
    REFUSED,
    Asked,
    LlmMetric,
    QuestionEvidence,
    claims_of,
    each_answer,
)
from chunkwise.metrics.claims.claim_support import share_held
from chunkwise.metrics.claims.hit_texts import ReadableHits
from chunkwise.metrics.claims.text_normalization import sentences
from chunkwise.metrics.evidence import Answer
from chunkwise.metrics.judges.llm_answer_judgments import Support
from chunkwise.metrics.metric import Metric


def faithfulness(
    queries: Sequence[Query],
    hits: Sequence[Sequence[Hit]],
    answers: Mapping[str, Answer],
) -> list[Score]:
    """Supported claims / claims, by their words; one hit must hold a claim, as `claim_support.supports` says.

    An answer without a claim, or that the documents do not say it, is neither faithful nor unfaithful; where nothing
    was retrieved, nothing is supported.
    """
    read = ReadableHits()
    result = {query.id: own for query, own in zip(queries, hits, strict=True)}

    def score(query: Query, answer: Answer) -> Score:
        claims = sentences(answer.said)
        return share_held(claims, map(read, result[query.id])) or Score(None, NO_CLAIMS)

    return each_answer(queries, answers, score, uncited=True)


def _claims_and_context(given: QuestionEvidence) -> Asked | str:
    if given.answer is None:
        return NO_ANSWER
    if given.answer.is_refusal:
        return REFUSED
    claims = claims_of(given.answer.said)
    return [(claims, given.context)] if claims else NO_CLAIMS


METRICS = (
    Metric(
        "faithfulness.words", "Share of an answer's claims contained in a hit, by word overlap.",
        score=lambda e: faithfulness(e.queries, e.hits, e.answers), group="answers", needs=("answers",),
    ),
    LlmMetric(
        "faithfulness.llm", "Share of an answer's claims supported by the context, judged by an LLM.",
        judgment=Support, ask=_claims_and_context, group="answers", needs=("answers", "llm"),
    ),
)  # fmt: skip
