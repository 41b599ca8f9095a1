"""Hits recognised as chunks of an index, and as hits that were there before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.spans.overlaps import Grouped, Numbers, on_one_line
from chunkwise.metrics.spans.tables import Chunking, Found


def chunk_numbers(found: Found, chunking: Chunking) -> Numbers:
    """Of each hit, the index of the chunk it is exactly; -1: it is none."""
    chunks, hits = on_one_line(
        Grouped(chunking.document, chunking.start, chunking.end),
        Grouped(found.document, found.start, found.end),
    )
    if not len(chunks.start):
        return np.full(len(hits.start), -1)
    starts, number = np.unique(chunks.start, return_inverse=True)
    width = 1 + max(int(chunks.length.max()), int(hits.length.max(initial=0)))
    keys = number.reshape(-1) * width + chunks.length
    order = np.argsort(keys, kind="stable")
    nearest = np.minimum(starts.searchsorted(hits.start), len(starts) - 1)
    wanted = nearest * width + hits.length
    at = order[np.minimum(keys[order].searchsorted(wanted), len(keys) - 1)]
    same = (keys[at] == wanted) & (starts[nearest] == hits.start)
    return np.where(same, at, -1)


def repeated(found: Found) -> NDArray[np.bool_]:
    """Of each hit, whether its question has the very same one at a better rank."""
    return _seen_before(found.question, found.document, found.start, found.end)


def listed_again(chunking: Chunking) -> NDArray[np.bool_]:
    """Of each chunk, whether the very same place stands among the chunks before it."""
    return _seen_before(chunking.document, chunking.start, chunking.end)


def _seen_before(*columns: Numbers) -> NDArray[np.bool_]:
    order = np.lexsort(columns[::-1])
    again = np.zeros(len(order), dtype=np.bool_)
    again[order[1:]] = np.logical_and.reduce(
        [column[order][1:] == column[order][:-1] for column in columns]
    )
    return again
