"""Can one point at the source? By position: document[start:end] is the chunk, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chunkwise.chunkers.locate_chunks import KINDS, NO_TEXT
from chunkwise.core import Score
from chunkwise.metrics.metric import NO_CHUNKS, KeyQuestion, Metric, Remedy, Targets, WholeScore

if TYPE_CHECKING:
    from chunkwise.metrics.evidence import Evidence


def _share_exact(evidence: Evidence) -> WholeScore:
    """Of chunks from a file, how many stand where they say; those of an index are places, inside the text or not."""
    if evidence.position is not None:
        score, counts = evidence.position.score, dict(evidence.position.counts)
        untold = counts.pop(NO_TEXT, 0)
        return WholeScore(score, sum(counts.values()), {KINDS[NO_TEXT]: untold} if untold else {})
    chunks = evidence.chunking and evidence.chunking.without_summaries
    if chunks is None or not len(chunks.start):
        return WholeScore(Score(None, NO_CHUNKS))
    sizes = np.array([len(document.text) for document in evidence.documents], np.int64)
    inside = (
        (chunks.start >= 0) & (chunks.start < chunks.end) & (chunks.end <= sizes[chunks.document])
    )
    return WholeScore(Score(float(inside.mean())), len(inside))


QUESTION = KeyQuestion(
    "citation_accuracy",
    "Can one point at the source?",
    Targets(0.90, 0.95),
    Remedy(
        "offsets that are wrong or lost",
        "cut again with exact spans, and never find text again by searching for it",
    ),
)
METRICS = (
    Metric(
        "citation_accuracy.position", "Share of the chunks that are exactly the text at their offsets.",
        score=_share_exact, group="citation_accuracy", question=QUESTION, needs=("chunks",), per="chunking",
    ),
)  # fmt: skip
