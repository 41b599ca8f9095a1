"""Sorted positions of a text: several lists merged, one taken out of another."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray


def merge_sorted(*arrays: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every value of some sorted arrays once, sorted: the stable sort merges runs in linear time."""
    values = np.sort(np.concatenate(arrays), kind="stable")
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = values[1:] != values[:-1]
    return values[new]


def without(values: NDArray[np.int64], removed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of sorted positions, each there once, those that are not among the others, whatever order these are in."""
    at = values.searchsorted(removed)
    at = at[values.take(at, mode="clip") == removed] if len(values) else at[:0]
    if not len(at):
        return values
    kept = np.ones(len(values), dtype=np.bool_)
    kept[at] = False
    return values[kept]


_BITS = 16
_LOW = (1 << _BITS) - 1


class CompactPositions:
    """Many sorted positions of a long text in two bytes each: how far behind the start of their block they lie."""

    def __init__(self) -> None:
        self._low = array("H")
        self._first = array("q", [0])
        """How many positions come before each block; the last block is open."""

    def extend(self, positions: NDArray[np.int64]) -> None:
        """Add sorted positions, none before those that are there."""
        if not len(positions):
            return
        done = len(self._low)
        last = int(positions[-1]) >> _BITS
        blocks = np.arange(len(self._first), last + 1, dtype=np.int64) << _BITS
        self._first.frombytes((positions.searchsorted(blocks) + done).tobytes())
        self._low.frombytes((positions & _LOW).astype(np.uint16).tobytes())

    def __len__(self) -> int:
        return len(self._low)

    @property
    def nbytes(self) -> int:
        return memoryview(self._low).nbytes + memoryview(self._first).nbytes

    def __getitem__(self, index: int) -> int:
        return (bisect_right(self._first, index) - 1) << _BITS | self._low[index]

    def take(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions with these numbers."""
        block = np.frombuffer(self._first, np.int64).searchsorted(indices, "right") - 1
        low = np.frombuffer(self._low, np.uint16).take(indices).astype(np.int64)
        return (block << _BITS) | low

    def before(self, position: int) -> int:
        """How many of them lie before a position."""
        block = position >> _BITS
        if block >= len(self._first):
            return len(self._low)
        return bisect_left(self._low, position & _LOW, *self._bounds(block))

    def befores(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """`before` of each of many positions, in any order."""
        found = np.full(len(positions), len(self._low), dtype=np.int64)
        low = np.frombuffer(self._low, np.uint16)
        order = np.argsort(positions, kind="stable")
        edges = positions[order].searchsorted(np.arange(len(self._first) + 1) << _BITS)
        for block in np.flatnonzero(np.diff(edges)).tolist():
            asked = order[edges[block] : edges[block + 1]]
            start, end = self._bounds(block)
            # Of the same type: a search among others would copy all of them first.
            wanted = (positions[asked] & _LOW).astype(np.uint16)
            found[asked] = start + low[start:end].searchsorted(wanted)
        return found

    def _bounds(self, block: int) -> tuple[int, int]:
        end = self._first[block + 1] if block + 1 < len(self._first) else len(self._low)
        return self._first[block], end
