"""Does an answer say what the reference answer says, all of it and nothing else?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Query, Score
from chunkwise.metrics.citations.claims import NO_CLAIMS
from chunkwise.metrics.claims.answers import NO_ANSWER, Answer
from chunkwise.metrics.claims.claim_support import THRESHOLD, supports
from chunkwise.metrics.claims.readable import Readable, sentences
from chunkwise.metrics.completeness.coverage import NO_ANSWER as NO_REFERENCE_ANSWER
from chunkwise.metrics.completeness.coverage import NOTHING_TO_SEEK


def answer_correctness(
    queries: Sequence[Query], answers: Mapping[str, Answer], threshold: float = THRESHOLD
) -> list[Score]:
    """F1 of the claims of the answer that the reference answer supports, and the other way round.

    Claims are sentences; whether a text supports one `claim_support.supports` says. An empty answer says nothing of
    what it should: 0.
    """

    def score(query: Query) -> Score:
        answer = answers.get(query.id)
        if (why := why_unscored(query, answer)) or answer is None or query.answer is None:
            return Score(None, why)
        if not answer.text.strip():
            return Score(0.0)
        said, expected = sentences(answer.text), sentences(query.answer)
        if not said or not expected:
            return Score(None, NO_CLAIMS if not said else NOTHING_TO_SEEK)
        given, reference = Readable(answer.text), Readable(query.answer)
        right = [supports(reference, claim, threshold) for claim in said]
        named = [supports(given, claim, threshold) for claim in expected]
        return Score(f1(sum(right) / len(right), sum(named) / len(named)))

    return [score(query) for query in queries]


def why_unscored(query: Query, answer: Answer | None) -> str:
    """What is missing to compare; empty: nothing."""
    if not query.answer or not query.answer.strip():
        return NO_REFERENCE_ANSWER
    return NO_ANSWER if answer is None else ""


def f1(precision: float, recall: float) -> float:
    """The harmonic mean; 0 where both are."""
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0
