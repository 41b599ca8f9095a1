"""BM25 of the windows of one size: a window's counts are the sums of its atoms', its idf that of the windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.multiscale.windows import Windows
from chunkwise.retrieval.term_table import TermTable
from chunkwise.text.term_counts import ranges

K1 = 1.5
B = 0.75


class Postings(NamedTuple):
    """What term `i` of a batch is worth to windows: the entries `first[i]` to `first[i + 1]`."""

    first: NDArray[np.int64]
    window: NDArray[np.int64]
    worth: NDArray[np.float64]

    def scores(self, terms: NDArray[np.int64], windows: int) -> NDArray[np.float32]:
        """Of one question, -inf for windows that hold none of its terms."""
        at = ranges(self.first[terms], self.first[terms + 1])
        if not len(at):
            return np.full(windows, -np.inf, np.float32)
        # Summed in the order of the terms: the same to the bit, whatever else is in the batch.
        found = np.bincount(self.window[at], self.worth[at], windows).astype(np.float32)
        found[found == 0] = -np.inf
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """What BM25 needs to know of the windows besides the terms."""

    windows: Windows
    damp: NDArray[np.float64]
    """The count at which a term is worth half of the most it can be: more in longer windows."""

    @classmethod
    def of(cls, windows: Windows, length: NDArray[np.integer]) -> Words:
        """`length`: terms of each atom, every occurrence counted."""
        before = np.append(0, np.cumsum(length, dtype=np.int64))
        own = (before[windows.behind] - before[windows.first]).astype(np.float64)
        mean = own.mean() if len(own) else 1.0
        return cls(windows, K1 * (1 - B + B * own / (mean or 1.0)))

    def postings(self, terms: TermTable) -> Postings:
        """Of a table that holds the terms of a batch alone, in its order."""
        count, size = len(terms.hashes), max(len(self.windows), 1)
        low, high = self.windows.covering(terms.row)
        covered = high - low
        term = np.repeat(np.arange(count), np.diff(terms.first))
        key = np.repeat(term, covered) * size + ranges(low, high)
        order = np.argsort(key, kind="stable")
        key = key[order]
        start = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
        times = np.repeat(terms.times, covered)[order].astype(np.float64)
        times = np.add.reduceat(times, start) if len(start) else times
        key = key[start]
        window = key % size
        first = key.searchsorted(np.arange(count + 1) * size)
        holding = np.diff(first)
        rarity = np.log1p((len(self.windows) - holding + 0.5) / (holding + 0.5))
        worth = np.repeat(rarity, holding) * times / (times + self.damp[window])
        return Postings(first, window, worth)
