"""Another system's answers as the thing that is evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from chunkwise.core import Document, Hit, OnProgress, Query
from chunkwise.evaluation.results import Json
from chunkwise.evaluation.subjects.subject import Subject
from chunkwise.metrics.spans.token_cut import TokenCut


def hits_subject(
    documents: Sequence[Document],
    hits: Mapping[str, Sequence[Hit]],
    configuration: Mapping[str, Json],
) -> Subject:
    """Hits by the id of their question; a question without any was answered with nothing."""

    def ask(
        queries: Sequence[Query],
        *,
        k: int | None,
        budget: int | None,
        advance: OnProgress | None = None,
    ) -> list[list[Hit]]:
        own = [list(hits.get(query.id, ()))[:k] for query in queries]
        return own if budget is None else [list(_fitting(each, budget)) for each in own]

    return Subject(documents, ask, configuration=configuration)


def _fitting(hits: Sequence[Hit], budget: int) -> Iterator[Hit]:
    """Hits in their order while they fit; the one that crosses the budget is cut there."""
    left = budget
    for hit in hits:
        if left <= 0:
            return
        if hit.token_count <= left:
            yield hit
        elif not hit.level:  # half a summary would say something else
            place = [np.array([value]) for value in (0, hit.start, hit.end, left)]
            end = int(TokenCut([hit.document]).ends(*place)[0])
            if end > hit.start:
                yield replace(hit, end=end, token_count=left)
        left -= hit.token_count
