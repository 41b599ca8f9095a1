"""Questions of a query log, each with the passage that word search finds first however the documents are cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunkwise.core import Document, Query, Span
from chunkwise.testsets.generate.candidate import reference_at
from chunkwise.testsets.generate.filters import WordSearch
from chunkwise.testsets.generate.plan import EXTRACTED
from chunkwise.testsets.query_log import LiveQuery

LOGGED = "live"
"""The tag of a question that users asked."""


def logged_questions(
    queries: Sequence[LiveQuery], documents: Sequence[Document], words: WordSearch
) -> Iterator[Query]:
    """Those whose passage is the same in all cuts; whether it answers them is for a person to say.

    Args:
        queries: From a log.
        documents: What is searched.
        words: The same documents, cut in several ways.

    Yields:
        A question whose reference is what the first hits of all cuts have in common.
    """
    by_id = {document.id: document for document in documents}
    for query in queries:
        place = words.first_place(query.text)
        if place is not None:
            span = Span(place.start, place.end)
            reference = reference_at(by_id[place.doc_id], span, documents)
            yield Query(query.id, query.text, (reference,), types=(EXTRACTED, LOGGED))
