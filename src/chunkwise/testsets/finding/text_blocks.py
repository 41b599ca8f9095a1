"""Many documents as few arrays: small ones share a block, a large one is cut into several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.testsets.finding.folding import Folded, Folding

BETWEEN = 0x110000
"""Stands around every document; no character has this number."""
_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Points of several documents, with the way back."""

    points: NDArray[np.uint32]
    begin: NDArray[np.int64]
    """Of each point the offset of its character in its document; -1 between documents."""
    end: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Where each document begins in the block."""
    numbers: NDArray[np.int64]
    """Which document that is."""
    fresh: NDArray[np.int64]
    """Where each document's new points end: those behind are the first of the next block, too."""

    def document_of(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which entry of `numbers` each position lies in."""
        return self.starts.searchsorted(positions, "right") - 1


def blocks_of(documents: Sequence[Document], folding: Folding, longest: int) -> Iterator[TextBlock]:
    """All documents; anything up to `longest` points long lies whole in some block."""
    parts: list[tuple[int, Folded, int, int, int]] = []
    size = 0
    for number, document in enumerate(documents):
        folded = folding.fold(document.text)
        for low in range(0, max(1, len(folded.points)), _SIZE):
            fresh = min(low + _SIZE, len(folded.points))
            high = min(fresh + longest, len(folded.points))
            parts.append((number, folded, low, fresh, high))
            size += high - low
            if size >= _SIZE:
                yield _block(parts)
                parts, size = [], 0
    if parts:
        yield _block(parts)


def _block(parts: list[tuple[int, Folded, int, int, int]]) -> TextBlock:
    between = np.array([BETWEEN], dtype=np.uint32)
    nowhere = np.array([-1])
    points, begin, end = [between], [nowhere], [nowhere]
    for _, folded, low, _, high in parts:
        points += [folded.points[low:high], between]
        counted = np.arange(low, high) if folded.begin is None else folded.begin[low:high]
        begin += [counted, nowhere]
        end += [counted + 1 if folded.end is None else folded.end[low:high], nowhere]
    sizes = np.array([high - low + 1 for _, _, low, _, high in parts])
    starts = np.cumsum(sizes) - sizes + 1
    return TextBlock(
        np.concatenate(points),
        np.concatenate(begin),
        np.concatenate(end),
        starts,
        np.array([number for number, *_ in parts]),
        starts + [fresh - low for _, _, low, fresh, _ in parts],
    )
