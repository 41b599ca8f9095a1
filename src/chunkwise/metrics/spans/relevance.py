"""From which share of a reference on a hit is relevant, and which chunks of an index could have been found."""

from __future__ import annotations

import numpy as np

from chunkwise.metrics.span_tables import Chunking, Gold, HitTable, Numbers
from chunkwise.metrics.spans.coverage import (
    Flags,
    SpanPairs,
    Spans,
    by_document,
    by_question,
    overlapping,
    shared,
)

RELEVANCE_THRESHOLD = 0.5
"""Share of a place that makes a chunk relevant."""


def relevant_hits(gold: Gold, found: HitTable, threshold: float = RELEVANCE_THRESHOLD) -> Flags:
    """Of each hit, whether it covers enough of some place of its question, or lies wholly inside one."""
    places, hits = by_question(gold, found)
    flags = np.zeros(int(found.first[-1]), dtype=np.bool_)
    flags[_relevant(hits, found.hits_of, places, threshold).first] = True
    return flags


def relevant_chunks(
    gold: Gold, chunking: Chunking, threshold: float = RELEVANCE_THRESHOLD
) -> SpanPairs:
    """Questions beside the chunks of the whole index that are relevant to them, each pair once."""
    places, chunks = by_document(gold, chunking)
    pairs = _relevant(chunks, chunking.chunks_of, places, threshold)
    asked = gold.question[gold.reference[pairs.second]]
    count = max(len(chunking.start), 1)
    once = np.unique(asked * count + pairs.first)
    return SpanPairs(once // count, once % count)


def _relevant(held: Spans, owner: Numbers | None, places: Spans, threshold: float) -> SpanPairs:
    """Pairs of a hit or a chunk and a place that makes it relevant; `owner`: whose each held place is, None: its own.

    A summary covers what all its places cover together, and lies inside a place where they all do.
    """
    pairs = overlapping(held, places)
    first, second = pairs
    both, length = shared(held.of(first), places.of(second)), held.length
    if owner is not None:
        length = np.bincount(owner, length).astype(np.int64)
        count = max(len(places.start), 1)
        once, at = np.unique(owner[first] * count + second, return_inverse=True)
        both = np.bincount(at.reshape(-1), both, len(once)).astype(np.int64)
        first, second = once // count, once % count
    enough = (both / places.length[second] >= threshold) | (both == length[first])
    return SpanPairs(first[enough], second[enough])
