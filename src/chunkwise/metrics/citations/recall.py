"""Of the claims of an answer, those that carry a citation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Query, Score
from chunkwise.metrics.citations.claims import NO_CLAIMS, read_claims
from chunkwise.metrics.citations.each_answer import each_answer
from chunkwise.metrics.citations.places import CitedTexts
from chunkwise.metrics.claims.answers import Answer
from chunkwise.metrics.claims.claim_support import THRESHOLD


def citation_recall(queries: Sequence[Query], answers: Mapping[str, Answer]) -> list[Score]:
    """Claims that carry a citation / claims: an answer that cites nothing scores 0."""
    nowhere = CitedTexts({})  # where citations lead is not asked here

    def score(_: Query, answer: Answer) -> Score:
        cited = read_claims(answer, nowhere, THRESHOLD).cited
        return Score(sum(cited) / len(cited)) if cited else Score(None, NO_CLAIMS)

    return each_answer(queries, answers, score, uncited=True)
