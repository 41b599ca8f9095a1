"""Which rows of an index a filter takes, as arrays of yes and no."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.embedded.strings import Strings
from chunkwise.retrieval.filters import Filter

Table = Literal["chunk", "atom"]


def document_mask(ids: Strings, only: Filter) -> NDArray[np.bool_]:
    """The documents a filter names."""
    if not only.documents:
        return np.ones(len(ids), np.bool_)
    return np.fromiter(map(only.takes_document, ids.all()), np.bool_, len(ids))


def section_mask(titles: Strings, only: Filter) -> NDArray[np.bool_]:
    """The section paths a filter names."""
    paths = (json.loads(path) for path in titles.all())
    return np.fromiter(map(only.takes_section, paths), np.bool_, len(titles))


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
