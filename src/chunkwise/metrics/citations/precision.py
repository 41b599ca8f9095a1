"""Of the claims that carry a citation, those that it supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Query, Score
from chunkwise.metrics.citations.claims import NO_CITATIONS, NO_CLAIMS, read_claims
from chunkwise.metrics.claims.answers import NO_ANSWER, Answer
from chunkwise.metrics.claims.claim_support import THRESHOLD

NO_CITED_CLAIM = "no citation is for a sentence of the answer"


def citation_precision(
    queries: Sequence[Query],
    answers: Mapping[str, Answer],
    texts: Mapping[str, str],
    threshold: float = THRESHOLD,
) -> list[Score]:
    """Supported claims / claims that carry a citation; one citation that supports a claim is enough."""
    found = []
    for query in queries:
        answer = answers.get(query.id)
        if answer is None:
            found.append(Score(None, NO_ANSWER))
            continue
        if not answer.citations:
            found.append(Score(None, NO_CITATIONS))
            continue
        claims = read_claims(answer, texts, threshold)
        if not claims.cited:
            found.append(Score(None, NO_CLAIMS))
        elif not any(claims.cited):
            found.append(Score(None, NO_CITED_CLAIM))
        else:
            found.append(Score(sum(claims.supported) / sum(claims.cited)))
    return found
