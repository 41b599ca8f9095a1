"""Whether chunks hold together and neighbours differ: cosines of vectors that are given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]
Cosines = NDArray[np.float64]

_AT_ONCE = 8192
"""Rows multiplied at once: the vectors of a large index are not copied whole."""


class Coherence(NamedTuple):
    """None: there is nothing to take a mean of."""

    coherence: float | None
    """Mean cosine of neighbouring chunks, every pair of neighbours once."""
    cohesion: float | None
    """Mean over chunks of the mean cosine of a chunk's sentences to the chunk."""

    @property
    def contrast(self) -> float | None:
        """Cohesion less coherence: a good cut has much of it."""
        if self.cohesion is None or self.coherence is None:
            return None
        return self.cohesion - self.coherence


def neighbour_cosines(chunks: Vectors, document: Numbers) -> Cosines:
    """Of each two chunks that follow each other in one document: a document of one chunk has none.

    `document` is that of each chunk; chunks stand in order.
    """
    first = np.flatnonzero(document[1:] == document[:-1])
    return _cosines(chunks, first, chunks, first + 1)


def chunk_cohesions(
    chunks: Vectors, sentences: Vectors, sentence: Numbers, chunk: Numbers
) -> Cosines:
    """One a chunk; NaN with fewer than two sentences, since a chunk of one is that sentence and always has 1.

    Sentence `sentence[i]` lies in chunk `chunk[i]`: with overlap it lies in several.
    """
    cosine = _cosines(sentences, sentence, chunks, chunk)
    known = ~np.isnan(cosine)
    count = np.bincount(chunk[known], minlength=len(chunks))
    total = np.bincount(chunk[known], cosine[known], minlength=len(chunks))
    return np.where(count > 1, total / np.maximum(count, 1), np.nan)


def mean_of(cosines: Cosines) -> float | None:
    """Of those there are."""
    known = cosines[~np.isnan(cosines)]
    return float(known.mean()) if len(known) else None


def _cosines(first: Vectors, left: Numbers, second: Vectors, right: Numbers) -> Cosines:
    """Of rows `left` of the first to rows `right` of the second; NaN where one has no length."""
    found = np.empty(len(left))
    for low in range(0, len(left), _AT_ONCE):
        a = first[left[low : low + _AT_ONCE]].astype(np.float64)
        b = second[right[low : low + _AT_ONCE]].astype(np.float64)
        size = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        dot = np.einsum("ij,ij->i", a, b)
        found[low : low + _AT_ONCE] = np.where(size > 0, dot / np.where(size > 0, size, 1), np.nan)
    return np.clip(found, -1, 1)
