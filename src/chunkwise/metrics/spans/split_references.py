"""References that a chunking cuts: no single chunk holds them whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Score
from chunkwise.metrics.metric import NO_CHUNKS, Metric, WholeScore
from chunkwise.metrics.span_tables import Chunking, Gold
from chunkwise.metrics.spans.coverage import by_document

if TYPE_CHECKING:
    from chunkwise.metrics.evidence import Evidence


def split(gold: Gold, chunking: Chunking) -> NDArray[np.bool_]:
    """Of each reference, whether none of its places lies whole in one chunk; summaries hold nothing."""
    places, chunks = by_document(gold, chunking.without_summaries)
    order = np.argsort(chunks.start, kind="stable")
    # Of the chunks that start at or before a place, the one that reaches furthest holds it or none does.
    reach = np.concatenate(([-1], np.maximum.accumulate(chunks.end[order])))
    before = chunks.start[order].searchsorted(places.start, "right")
    whole = np.zeros(len(gold.question), dtype=np.bool_)
    whole[gold.reference[reach[before] >= places.end]] = True
    return ~whole


def _share(evidence: Evidence) -> WholeScore:
    if evidence.chunking is None:
        return WholeScore(Score(None, NO_CHUNKS))
    cut = split(evidence.gold, evidence.chunking)
    if not len(cut):
        return WholeScore(Score(None, "no question has references"))
    return WholeScore(Score(float(cut.mean())), len(cut))


METRICS = (
    Metric(
        "split_references", "Share of the references that no single chunk holds whole.",
        score=_share, group="boundary_issues", better="lower", needs=("references", "chunks"), per="chunking",
    ),
)  # fmt: skip
