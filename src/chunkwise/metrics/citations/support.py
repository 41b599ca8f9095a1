"""Can one point at the source? By support: the cited place contains the claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Query, Score
from chunkwise.metrics.citations.claims import read_claims
from chunkwise.metrics.citations.each_answer import each_answer
from chunkwise.metrics.citations.places import CitedTexts
from chunkwise.metrics.claims.answers import Answer
from chunkwise.metrics.claims.claim_support import THRESHOLD


def citation_support(
    queries: Sequence[Query],
    answers: Mapping[str, Answer],
    texts: Mapping[str, str],
    threshold: float = THRESHOLD,
) -> list[Score]:
    """Share of an answer's citations that contain what they are cited for; `texts` are the documents by id.

    Whether a place contains a claim `claim_support.supports` says. A citation of no claim in particular is for any
    sentence of the answer. One that leads nowhere contains nothing; one that quotes what stands at several places,
    what any of them contains.
    """
    cited = CitedTexts(texts)

    def score(_: Query, answer: Answer) -> Score:
        supporting = read_claims(answer, cited, threshold).supporting
        return Score(sum(supporting) / len(supporting))

    return each_answer(queries, answers, score)
