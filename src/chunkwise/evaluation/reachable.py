"""How far a figure could rise: five hits for a question that one chunk answers hold four that do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkwise.core import Query
from chunkwise.evaluation.subject import Hits, Subject
from chunkwise.metrics.spans.relevance import relevant_chunks
from chunkwise.metrics.spans.tables import Gold

PRECISION = "retrieval_precision.spans"


def reachable(
    subject: Subject, queries: Sequence[Query], shown: Hits, threshold: float
) -> dict[str, float]:
    """By metric, the mean of the best ranking of the same chunks, with as many hits a question; empty where hits are no
    chunks of the index, as parents, neighbours and spans of several sizes are not."""
    chunks = subject.chunking
    if chunks is None or not _are_chunks(subject, shown):
        return {}
    asked = [number for number, query in enumerate(queries) if query.references]
    if not asked:
        return {}
    gold = Gold.of(queries, subject.numbers)
    relevant = np.bincount(relevant_chunks(gold, chunks, threshold).first, minlength=len(queries))
    handed = np.array([len(own) for own in shown], np.int64)
    best = np.minimum(relevant, handed) / np.maximum(handed, 1)
    return {PRECISION: float(best[asked].mean())}


def _are_chunks(subject: Subject, shown: Hits) -> bool:
    assert subject.chunking is not None
    chunks, numbers = subject.chunking, subject.numbers
    columns = (chunks.document, chunks.start, chunks.end)
    known = set(zip(*(column.tolist() for column in columns), strict=True))
    for own in shown:
        places = {(numbers[hit.doc_id], hit.start, hit.end) for hit in own}
        # Somebody's hits may name a chunk twice: of those a ranking may have more than there are.
        if len(places) < len(own) or not places <= known:
            return False
    return True
