"""Is everything there? By the reference answer: each of its statements in at least one hit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from chunkwise.core import Hit, Query, Score
from chunkwise.metrics.claims.claim_support import THRESHOLD, supports
from chunkwise.metrics.claims.fact_search import PlainHits, share_named
from chunkwise.metrics.claims.readable import sentences
from chunkwise.metrics.claims.readable_hits import ReadableHits

NO_ANSWER = "no reference answer"
NOTHING_TO_SEEK = "the reference answer has no words to look for"


def coverage(
    queries: Sequence[Query], hits: Sequence[Sequence[Hit]], threshold: float = THRESHOLD
) -> list[Score]:
    """Share of what the reference answer says that at least one hit holds.

    What it says are the expected facts where they are given, sought as `facts` seeks them in hits; else its sentences,
    each of which one hit must hold, word by word or as `claim_support.supports` says: the same numbers, names and
    negations, and at least `threshold` of the content terms in neighbouring sentences. A sentence of one or two terms,
    or of numbers alone ("12/31/14"), must stand there.
    """
    plain, read = PlainHits(), ReadableHits(chain.from_iterable(hits))
    found = []
    for query, own in zip(queries, hits, strict=True):
        if query.facts:
            found.append(Score(share_named(query.facts, plain(own))))
        elif not query.answer or not query.answer.strip():
            found.append(Score(None, NO_ANSWER))
        elif not (said := sentences(query.answer)):
            found.append(Score(None, NOTHING_TO_SEEK))
        else:
            texts = list(map(read, own))
            held = sum(any(supports(text, each, threshold) for text in texts) for each in said)
            found.append(Score(held / len(said)))
    return found
