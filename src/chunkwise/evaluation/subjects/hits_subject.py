"""Another system's answers as the thing that is evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Advance, Document, Hit, Query
from chunkwise.evaluation.results import Json
from chunkwise.evaluation.subjects.subject import Subject


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
        advance: Advance | None = None,
    ) -> list[list[Hit]]:
        return [list(hits.get(query.id, ()))[:k] for query in queries]

    return Subject(documents, ask, configuration=configuration)
