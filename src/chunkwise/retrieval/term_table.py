"""All terms of an index with the rows they occur in: plain arrays, term by term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.errors import MissingExtra
from chunkwise.retrieval.damage import Damaged
from chunkwise.text.term_counts import TermCounts, ranges

_MOST_BITS = 22
"""Of a hash that choose its slot: more would take more than 50 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class TermTable:
    """Term `i` occurs in the rows `row[first[i]:first[i + 1]]`, which increase."""

    hashes: NDArray[np.uint64]
    """Increasing."""
    first: NDArray[np.int64]
    row: NDArray[np.int32]
    times: NDArray[np.int32]
    length: NDArray[np.int32]
    """Terms of each row, every occurrence counted."""

    @classmethod
    def of(cls, counts: TermCounts, length: NDArray[np.int32] | None = None) -> TermTable:
        """The table of these rows; their lengths are the sums of their counts unless given."""
        rows = len(counts.first) - 1
        hashes, code = _numbered(counts.term)
        shape = (rows, len(hashes))
        by_term = sparse().csr_matrix((counts.times, code, counts.first), shape=shape).tocsc()
        if length is None:
            before = np.append(0, np.cumsum(counts.times, dtype=np.int64))
            length = np.diff(before[counts.first]).astype(np.int32)
        first = by_term.indptr.astype(np.int64)
        return cls(hashes, first, by_term.indices.astype(np.int32), by_term.data, length)

    @property
    def rows(self) -> int:
        return len(self.length)

    def find(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The number of each term in the table; -1 where no row has it."""
        if not len(self.hashes):
            return np.full(len(hashes), -1, dtype=np.int64)
        at = np.minimum(self.hashes.searchsorted(hashes), len(self.hashes) - 1)
        return np.where(self.hashes[at] == hashes, at, -1).astype(np.int64)

    def holds(
        self, hashes: NDArray[np.uint64], allowed: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """Whether each term occurs in some row, of those allowed."""
        some = self.columns(hashes)
        held = np.ones(len(some.row)) if allowed is None else allowed[some.row]
        before = np.append(0, np.cumsum(held))
        return before[some.first[1:]] > before[some.first[:-1]]

    def columns(self, hashes: NDArray[np.uint64]) -> TermTable:
        """Only these terms (distinct, in this order); the lengths of the rows stay what they are."""
        number = self.find(hashes)
        # A term that is not there is an empty range.
        lo = np.where(number < 0, 0, self.first[number])
        hi = np.where(number < 0, 0, self.first[np.minimum(number + 1, len(self.first) - 1)])
        if ((lo < 0) | (hi < lo) | (hi > len(self.row))).any():
            raise Damaged("a table of terms", "a term has rows that are not there")
        entries = ranges(lo, hi)
        row = self.row[entries]
        if len(row) and not 0 <= row.min() <= row.max() < self.rows:
            # What multiplies matrices follows any number, and the process would end without a word.
            raise Damaged("a table of terms", "a term is in a row that is not there")
        first = np.append(0, np.cumsum(hi - lo))
        return TermTable(hashes, first, row, self.times[entries], self.length)

    def matrix(self, hashes: NDArray[np.uint64]) -> Any:
        """Times of these terms as a `scipy.sparse.csc_matrix`, rows × terms, float32."""
        some = self.columns(hashes)
        values = (some.times.astype(np.float32), some.row, some.first)
        return sparse().csc_matrix(values, shape=(self.rows, len(hashes)))

    def counts(self) -> TermCounts:
        """What the table was made of, row by row."""
        shape = (self.rows, len(self.hashes))
        by_row = sparse().csc_matrix((self.times, self.row, self.first), shape=shape).tocsr()
        return TermCounts(by_row.indptr.astype(np.int64), self.hashes[by_row.indices], by_row.data)


def _numbered(terms: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The distinct terms in order, and where among them each one stands.

    Hashes lie evenly, so the first bits of most are theirs alone: a slot for each of these saves sorting all.
    """
    bits = min(len(terms).bit_length() + 1, _MOST_BITS)
    slot = (terms >> np.uint64(64 - bits)).astype(np.int64)
    held = np.zeros(1 << bits, np.uint64)
    held[slot] = terms
    odd = np.flatnonzero(held[slot] != terms)  # another has their slot
    taken = np.zeros(1 << bits, np.bool_)
    taken[slot] = True
    found = held[taken]
    hashes = np.sort(np.concatenate((found, terms[odd])))
    hashes = hashes[np.append(hashes[1:] != hashes[:-1], np.ones(min(len(hashes), 1), np.bool_))]
    number = np.zeros(1 << bits, np.int32)
    number[taken] = hashes.searchsorted(found)
    code = number[slot]
    code[odd] = hashes.searchsorted(terms[odd])
    return hashes, code


def sparse() -> Any:
    try:
        import scipy.sparse
    except ImportError:
        raise MissingExtra("word search", "search") from None
    return scipy.sparse
