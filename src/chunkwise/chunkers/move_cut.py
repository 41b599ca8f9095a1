"""The cut between two chunks moved to another place, so that neither is too small."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Piece
from chunkwise.text.analysis import Analyzed
from chunkwise.text.measure import Measure

_TRIES = 8
"""A chunk's own tokens may be a few more than its share of the document's: not every guess holds."""


def moved_cut(
    document: Analyzed,
    measure: Measure,
    left: Piece,
    right: Piece,
    places: NDArray[np.int64],
    worth: NDArray[np.float64],
    sizes: tuple[int, int],
) -> list[Piece]:
    """Both cut at the place worth most of those where their sizes lie between the two given; else nothing."""
    least, most = sizes
    low, high = places.searchsorted([left.start + 1, right.end])
    inside, worth = places[low:high], worth[low:high]
    start, end = measure.starts.searchsorted([left.start, right.end])
    at = measure.starts.searchsorted(inside)
    smaller = np.minimum(at - start, end - at)
    larger = np.maximum(at - start, end - at)
    fits = (smaller >= least) & (larger <= most)
    best = np.flatnonzero(fits)[np.argsort(-worth[fits], kind="stable")]
    for cut in inside[best[:_TRIES]].tolist():
        stop = left.start + len(document.text[left.start : cut].rstrip())
        stop = document.graphemes.ceil(stop)
        first = Piece(left.start, stop, "", measure.count(left.start, stop))
        second = Piece(cut, right.end, "", measure.count(cut, right.end))
        counts = (first.token_count, second.token_count)
        if min(counts) >= least and max(counts) <= most:
            return [first, second]
    return []
