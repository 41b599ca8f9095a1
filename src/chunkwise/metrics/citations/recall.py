"""Of the claims of an answer, those that carry a citation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Query, Score
from chunkwise.metrics.citations.claims import NO_CLAIMS, read_claims
from chunkwise.metrics.claims.answers import NO_ANSWER, Answer
from chunkwise.metrics.claims.claim_support import THRESHOLD


def citation_recall(queries: Sequence[Query], answers: Mapping[str, Answer]) -> list[Score]:
    """Claims that carry a citation / claims: an answer that cites nothing scores 0."""
    found = []
    for query in queries:
        answer = answers.get(query.id)
        if answer is None:
            found.append(Score(None, NO_ANSWER))
            continue
        cited = read_claims(answer, {}, THRESHOLD).cited  # where citations lead is not asked here
        found.append(Score(sum(cited) / len(cited)) if cited else Score(None, NO_CLAIMS))
    return found
