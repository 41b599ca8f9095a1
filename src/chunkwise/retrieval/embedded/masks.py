"""Which documents, sections and chunks of an index as arrays a filter takes."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.embedded.layout import Arrays
from chunkwise.retrieval.embedded.strings import Strings
from chunkwise.retrieval.filters import Filter


def document_mask(ids: Strings, only: Filter) -> NDArray[np.bool_]:
    """The documents a filter names."""
    if not only.documents:
        return np.ones(len(ids), np.bool_)
    return np.fromiter(map(only.takes_document, ids.all()), np.bool_, len(ids))


def section_mask(titles: Strings, only: Filter) -> NDArray[np.bool_]:
    """The section paths a filter names."""
    paths = (json.loads(path) for path in titles.all())
    return np.fromiter(map(only.takes_section, paths), np.bool_, len(titles))


def touching(arrays: Arrays, atoms: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The chunks in which one at least of these atoms lies, in part at least."""
    before = np.concatenate(([0], np.cumsum(atoms)))
    first, last = _atoms_of_chunks(arrays)
    found: NDArray[np.bool_] = before[last] > before[first]
    return found


def _atoms_of_chunks(arrays: Arrays) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each chunk's first atom, and the one behind its last."""
    rows = arrays["atom.first"]
    # All texts in a row, so that one search serves all documents.
    ends = np.concatenate(([0], arrays["atom.end"]))
    length = np.where(np.diff(rows) > 0, ends[rows[1:]], 0)
    base = np.cumsum(length) - length
    starts = arrays["atom.start"] + np.repeat(base, np.diff(rows))
    shift = np.repeat(base, np.diff(arrays["chunk.first"]))
    first = starts.searchsorted(arrays["chunk.start"] + shift, "right") - 1
    last = starts.searchsorted(arrays["chunk.end"] + shift)
    return first, last
