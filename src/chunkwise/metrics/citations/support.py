"""Can one point at the source? By support: the cited place contains the claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Query, Score
from chunkwise.metrics.citations.claims import NO_CITATIONS, read_claims
from chunkwise.metrics.claims.answers import NO_ANSWER, Answer
from chunkwise.metrics.claims.claim_support import THRESHOLD


def citation_support(
    queries: Sequence[Query],
    answers: Mapping[str, Answer],
    texts: Mapping[str, str],
    threshold: float = THRESHOLD,
) -> list[Score]:
    """Share of an answer's citations that contain what they are cited for; `texts` are the documents by id.

    A place contains a claim that stands in it word by word, or all numbers and at least `threshold` of the content
    terms of which it has. A citation of no claim in particular is for any sentence of the answer. One that leads
    nowhere contains nothing.
    """
    found = []
    for query in queries:
        answer = answers.get(query.id)
        if answer is None:
            found.append(Score(None, NO_ANSWER))
        elif not answer.citations:
            found.append(Score(None, NO_CITATIONS))
        else:
            cited = read_claims(answer, texts, threshold).supporting
            found.append(Score(sum(cited) / len(cited)))
    return found
