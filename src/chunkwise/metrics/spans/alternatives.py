"""Which place of a reference counts: the one the hits cover best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.spans.overlaps import Numbers, Spans, Union
from chunkwise.metrics.spans.tables import Gold


def shares(places: Spans, retrieved: Union) -> NDArray[np.float64]:
    """How much of each place is covered, from 0 to 1; an empty place is never covered."""
    return retrieved.shared(places) / np.maximum(places.length, 1)


def references(gold: Gold) -> Numbers:
    """Of each reference, the index of its own place: the first listed."""
    _, first = np.unique(gold.reference, return_index=True)
    return first


def best_shares(gold: Gold, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each reference, the share of its best covered place."""
    best = np.zeros(len(gold.question))
    np.maximum.at(best, gold.reference, share)
    return best


def best_places(gold: Gold, share: NDArray[np.float64]) -> Numbers:
    """Of each reference, the index of its best covered place; of equally good ones the first listed."""
    candidates = np.flatnonzero(share == best_shares(gold, share)[gold.reference])
    _, first = np.unique(gold.reference[candidates], return_index=True)
    return candidates[first]
