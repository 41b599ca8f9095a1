"""Of the claims that carry a citation, those that it supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Query, Score
from chunkwise.metrics.citations.claims import NO_CLAIMS, read_claims
from chunkwise.metrics.citations.each_answer import each_answer
from chunkwise.metrics.citations.places import CitedTexts
from chunkwise.metrics.claims.answers import Answer
from chunkwise.metrics.claims.claim_support import THRESHOLD

NO_CITED_CLAIM = "no citation is for a sentence of the answer"


def citation_precision(
    queries: Sequence[Query],
    answers: Mapping[str, Answer],
    texts: Mapping[str, str],
    threshold: float = THRESHOLD,
) -> list[Score]:
    """Supported claims / claims that carry a citation; one citation that supports a claim is enough.

    A citation for a part of a sentence supports the sentence where its place contains the whole, or where the
    supported parts together have all its numbers and at least `threshold` of its content terms.
    """
    cited = CitedTexts(texts)

    def score(_: Query, answer: Answer) -> Score:
        claims = read_claims(answer, cited, threshold)
        if not claims.cited:
            return Score(None, NO_CLAIMS)
        if not any(claims.cited):
            return Score(None, NO_CITED_CLAIM)
        return Score(sum(claims.supported) / sum(claims.cited))

    return each_answer(queries, answers, score)
