"""Of the claims of an answer, those that the retrieved context supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from chunkwise.core import Hit, Query, Score
from chunkwise.metrics.citations.claims import NO_CLAIMS
from chunkwise.metrics.claims.answers import NO_ANSWER, REFUSED, Answer
from chunkwise.metrics.claims.claim_support import THRESHOLD, supports
from chunkwise.metrics.claims.readable import sentences
from chunkwise.metrics.claims.readable_hits import ReadableHits


def faithfulness(
    queries: Sequence[Query],
    hits: Sequence[Sequence[Hit]],
    answers: Mapping[str, Answer],
    threshold: float = THRESHOLD,
) -> list[Score]:
    """Supported claims / claims, by their words; one hit must hold a claim, as `claim_support.supports` says.

    An answer without a claim, or that the documents do not say it, is neither faithful nor unfaithful; where nothing
    was retrieved, nothing is supported.
    """
    read = ReadableHits(chain.from_iterable(hits))
    found = []
    for query, own in zip(queries, hits, strict=True):
        answer = answers.get(query.id)
        if answer is None:
            found.append(Score(None, NO_ANSWER))
        elif answer.is_refusal:
            found.append(Score(None, REFUSED))
        elif not (claims := sentences(answer.text)):
            found.append(Score(None, NO_CLAIMS))
        else:
            texts = list(map(read, own))
            held = sum(any(supports(text, claim, threshold) for text in texts) for claim in claims)
            found.append(Score(held / len(claims)))
    return found
