"""Which hits are relevant, which references are covered, which chunks of an index could have been found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.spans.alternatives import best_shares, shares
from chunkwise.metrics.spans.overlaps import Numbers, Pairs, Spans, Union, overlapping, shared
from chunkwise.metrics.spans.question_line import by_document, by_question
from chunkwise.metrics.spans.tables import Chunking, Found, Gold

RELEVANCE_THRESHOLD = 0.5
"""Share of a place that makes a chunk relevant."""
COVERED = 0.95
"""Share of a reference that makes it covered."""

Flags = NDArray[np.bool_]


def relevant_hits(gold: Gold, found: Found, threshold: float = RELEVANCE_THRESHOLD) -> Flags:
    """Of each hit, whether it covers enough of some place of its question, or lies wholly inside one."""
    places, hits = by_question(gold, found)
    flags = np.zeros(int(found.first[-1]), dtype=np.bool_)
    flags[_relevant(hits, found.hits_of, places, threshold).first] = True
    return flags


def covered_references(gold: Gold, found: Found) -> Flags:
    """Of each reference, whether the hits together cover one of its places."""
    places, hits = by_question(gold, found)
    return best_shares(gold, shares(places, Union(hits))) >= COVERED


def relevant_chunks(
    gold: Gold, chunking: Chunking, threshold: float = RELEVANCE_THRESHOLD
) -> Pairs:
    """Questions beside the chunks of the whole index that are relevant to them, each pair once."""
    places, chunks = by_document(gold, chunking)
    pairs = _relevant(chunks, chunking.chunks_of, places, threshold)
    asked = gold.question[gold.reference[pairs.second]]
    count = max(len(chunking.start), 1)
    once = np.unique(asked * count + pairs.first)
    return Pairs(once // count, once % count)


def _relevant(held: Spans, owner: Numbers | None, places: Spans, threshold: float) -> Pairs:
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
    return Pairs(first[enough], second[enough])
