"""References that a chunking cuts: no single chunk holds them whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.spans.overlaps import by_document
from chunkwise.metrics.spans.tables import Chunking, Gold


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
