"""The same text at one size: overlapping runs of whole atoms, by arithmetic on their token counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.terms.counts import ranges


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Window `i` holds the atoms `first[i]` to `stop[i] - 1`; both increase, and every atom is in a window."""

    first: NDArray[np.int64]
    stop: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    def covering(self, atoms: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number of the first window that holds each atom, and the number behind its last."""
        return self.stop.searchsorted(atoms, "right"), self.first.searchsorted(atoms, "right")

    def touching(self, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which windows hold at least one of the atoms allowed."""
        before = np.append(0, np.cumsum(allowed))
        return np.asarray(before[self.stop] > before[self.first])


def windows_of(document: NDArray[np.integer], tokens: NDArray[np.integer], size: int) -> Windows:
    """Windows of up to `size` tokens, or of one longer atom, each starting half a window behind the last.

    None crosses documents, and none lies within another: one that reaches its document's end is the last.
    """
    count = len(document)
    number = np.arange(count, dtype=np.int64)
    before = np.append(0, np.cumsum(tokens, dtype=np.int64))
    start = before[:-1]
    end_of_document = document.searchsorted(document, "right")
    stop = np.maximum(before.searchsorted(start + size, "right") - 1, number + 1)
    stop = np.minimum(stop, end_of_document)
    # Half a window on, but never past an atom that this window does not hold.
    following = np.maximum(start.searchsorted(start + (size + 1) // 2), number + 1)
    following = np.where(stop == end_of_document, stop, np.minimum(following, stop))
    first = np.array(_chain(following.tolist()), dtype=np.int64)
    return Windows(first, stop[first])


def _chain(following: list[int]) -> list[int]:
    """From the first on, each that follows the one before it."""
    index, found = 0, []
    while index < len(following):
        found.append(index)
        index = following[index]
    return found


def whole_documents(document: NDArray[np.integer]) -> Windows:
    """Every document that has atoms as one window."""
    edges = np.flatnonzero(np.diff(document)) + 1
    bounds = np.concatenate(([0], edges, [len(document)])).astype(np.int64)
    if not len(document):
        bounds = bounds[:1]
    return Windows(bounds[:-1], bounds[1:])


def spread(
    first: NDArray[np.int64],
    stop: NDArray[np.int64],
    points: NDArray[np.float64],
    atoms: int,
) -> NDArray[np.float64]:
    """The points of the best window over each atom; 0 where there is none."""
    found = np.zeros(atoms)
    np.maximum.at(found, ranges(first, stop), np.repeat(points, stop - first))
    return found
