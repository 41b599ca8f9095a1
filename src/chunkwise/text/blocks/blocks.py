"""The layout of a document as arrays: one block a heading, paragraph, list item, table row or piece of code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.core import BLOCK_KINDS, Block, BlockKind

CODE_OF: dict[str, int] = {kind: number for number, kind in enumerate(BLOCK_KINDS)}


class Blocks:
    """Ordered, disjoint blocks, a column each for kind, start, end, level and group."""

    def __init__(
        self,
        kind: ArrayLike = (),
        start: ArrayLike = (),
        end: ArrayLike = (),
        level: ArrayLike = (),
        group: ArrayLike = (),
    ) -> None:
        self.kind: NDArray[np.int8] = np.asarray(kind, dtype=np.int8)
        self.start: NDArray[np.int64] = np.asarray(start, dtype=np.int64)
        self.end: NDArray[np.int64] = np.asarray(end, dtype=np.int64)
        self.level: NDArray[np.int64] = np.asarray(level, dtype=np.int64)
        self.group: NDArray[np.int64] = np.asarray(group, dtype=np.int64)

    @classmethod
    def declared(cls, blocks: Iterable[Block]) -> Blocks:
        """Blocks as a document's format declares them."""
        columns = list(zip(*blocks, strict=True))
        return cls([CODE_OF[kind] for kind in columns[0]], *columns[1:]) if columns else cls()

    def __iter__(self) -> Iterator[Block]:
        return map(self.__getitem__, range(len(self)))

    def __len__(self) -> int:
        return len(self.kind)

    def of(self, *kinds: BlockKind) -> NDArray[np.int64]:
        """Indices of the blocks of these kinds."""
        found = self.kind == CODE_OF[kinds[0]]
        for kind in kinds[1:]:
            found |= self.kind == CODE_OF[kind]
        return found.nonzero()[0]

    def spans(self, *kinds: BlockKind) -> NDArray[np.int64]:
        """Starts and ends, two columns, of the blocks of these kinds."""
        index = self.of(*kinds)
        return np.stack([self.start[index], self.end[index]], axis=1)

    def grouped(self, *kinds: BlockKind) -> NDArray[np.int64]:
        """Starts and ends of whole lists or tables: neighbouring blocks of these kinds and one group."""
        index = self.of(*kinds)
        if not len(index):
            return np.zeros((0, 2), dtype=np.int64)
        new = (np.diff(index) > 1) | (np.diff(self.group[index]) != 0)
        first = index[np.concatenate(([True], new))]
        last = index[np.concatenate((new, [True]))]
        return np.stack([self.start[first], self.end[last]], axis=1)

    @cached_property
    def lists(self) -> NDArray[np.int64]:
        return self.grouped("item")

    @cached_property
    def tables(self) -> NDArray[np.int64]:
        return self.grouped("header", "row")

    @cached_property
    def code(self) -> NDArray[np.int64]:
        return self.spans("code")

    def headers_above(self, positions: NDArray[np.int64]) -> dict[int, Block]:
        """The header of the table in whose rows a position lies, by the number of the position; others have none."""
        header = self.of("header")
        if not len(header) or not len(positions):
            return {}
        # The block a position lies in, and the last header before it.
        block = self.start.searchsorted(positions, "right") - 1
        above = header.searchsorted(block, "right") - 1
        found = (block >= 0) & (above >= 0) & (positions < self.end[block])
        found &= self.kind[block] == CODE_OF["row"]
        found &= self.group[block] == self.group[header[above]]
        return {at: self[int(header[above[at]])] for at in np.flatnonzero(found).tolist()}

    def __getitem__(self, index: int) -> Block:
        return Block(
            BLOCK_KINDS[int(self.kind[index])],
            int(self.start[index]),
            int(self.end[index]),
            int(self.level[index]),
            int(self.group[index]),
        )
