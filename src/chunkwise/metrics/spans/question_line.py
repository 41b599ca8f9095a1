"""Places and hits of all questions on one line, where those of different questions or documents never meet."""

from __future__ import annotations

import numpy as np

from chunkwise.metrics.spans.overlaps import Grouped, Numbers, Spans, on_one_line
from chunkwise.metrics.spans.tables import Chunking, Found, Gold


def by_question(gold: Gold, found: Found) -> tuple[Spans, Spans]:
    """The places, and the hits, by question and document."""
    documents = 2 + max(_highest(gold.document), _highest(found.document))
    asked = gold.question[gold.reference]
    places, hits = on_one_line(
        Grouped(_pair(asked, gold.document, documents), gold.start, gold.end),
        Grouped(_pair(found.question, found.document, documents), found.start, found.end),
    )
    return places, hits


def by_document(gold: Gold, chunking: Chunking) -> tuple[Spans, Spans]:
    """The places, and the chunks, by document alone: a chunk may meet places of any question."""
    places, chunks = on_one_line(
        Grouped(gold.document, gold.start, gold.end),
        Grouped(chunking.document, chunking.start, chunking.end),
    )
    return places, chunks


def per_question(gold: Gold, question: Numbers, values: Numbers) -> Numbers:
    """Sums by question."""
    sums = np.zeros(gold.questions, dtype=np.int64)
    np.add.at(sums, question, values)
    return sums


def _pair(question: Numbers, document: Numbers, documents: int) -> Numbers:
    return question * documents + document + 1  # a document that is not there has the number -1


def _highest(numbers: Numbers) -> int:
    return int(numbers.max()) if len(numbers) else 0
