"""Places and hits of all questions on one line, where those of different questions or documents never meet."""

from __future__ import annotations

import numpy as np

from chunkwise.metrics.spans.overlaps import Grouped, Numbers, Spans, on_one_line
from chunkwise.metrics.spans.tables import Chunking, Found, Gold


def by_question(gold: Gold, found: Found) -> tuple[Spans, Spans]:
    """The places of the references, and those of the hits, by question and document."""
    low = min(_lowest(gold.document), 0)
    documents = 1 - low + max(_highest(gold.document), _highest(found.document))
    asked = gold.question[gold.reference]
    places, hits = on_one_line(
        Grouped(asked * documents + (gold.document - low), gold.start, gold.end),
        Grouped(found.question * documents + (found.document - low), found.start, found.end),
    )
    return places, hits


def by_document(gold: Gold, chunking: Chunking) -> tuple[Spans, Spans]:
    """The places of the references, and of the chunks, by document alone: a chunk may meet those of any question."""
    held = chunking.places
    places, chunks = on_one_line(
        Grouped(gold.document, gold.start, gold.end),
        Grouped(held.document, held.start, held.end),
    )
    return places, chunks


def per_question(gold: Gold, question: Numbers, values: Numbers) -> Numbers:
    """Sums by question."""
    sums = np.zeros(gold.questions, dtype=np.int64)
    np.add.at(sums, question, values)
    return sums


def _lowest(numbers: Numbers) -> int:
    """Below 0: documents that are not there."""
    return int(numbers.min()) if len(numbers) else 0


def _highest(numbers: Numbers) -> int:
    return int(numbers.max()) if len(numbers) else 0
