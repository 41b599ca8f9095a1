"""Which rows of an index a filter takes, as arrays of yes and no: what every engine shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.filters import Filter

Table = Literal["chunk", "atom"]


def page_mask(
    pages: Sequence[NDArray[np.int64]],
    first: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    only: Filter,
) -> NDArray[np.bool_]:
    """The rows that touch the pages asked for; `pages` has the starts of each document's pages."""
    taken = np.zeros(len(start), np.bool_)
    if only.pages is None:
        return ~taken
    low, high = only.pages
    for number, starts in enumerate(pages):
        rows = slice(int(first[number]), int(first[number + 1]))
        if len(starts):
            begins = starts.searchsorted(start[rows], "right")
            ends = starts.searchsorted(np.maximum(start[rows], end[rows] - 1), "right")
            taken[rows] = (begins <= high) & (ends >= low)
    return taken
