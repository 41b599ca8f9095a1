"""BM25, as Lucene computes it, and the table of terms it runs over: many queries against all rows at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.errors import DamagedIndex
from chunkwise.retrieval.ranking import Ranking, best_positive
from chunkwise.text.terms import TermCounts, ranges

K1 = 1.5
"""How soon more of the same word adds nothing: `k1` unless a retriever says another."""
B = 0.75
"""How much a row pays for its length: `b` unless a retriever says another."""

_MOST_BITS = 22
"""Of a hash that choose its slot: more would take more than 50 MB."""
_BLOCK = 1 << 20
"""Terms that are numbered together: what is made on the way stays small."""
_ENTRIES = 1 << 21
"""Of a part of a table, about: what is made on the way takes some fifty bytes each."""
_PARTS = 64
"""At most: all terms are looked through for each."""
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFF_FFFF)
"""The lower half of 64 bits."""


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
        if length is None:
            length = _lengths(counts)
        return cls._of_entries(counts.term, lambda: _repeated(counts.first), counts.times, length)

    @classmethod
    def in_parts(cls, counts: TermCounts) -> Iterator[TermTable]:
        """The same table, some terms after the other, so that a large one is never made at once."""
        length = _lengths(counts)
        parts = min(-(-len(counts.term) // _ENTRIES), _PARTS)
        if parts < 2:
            yield cls.of(counts, length)
            return
        for number in range(parts):
            entries = _within(counts.term, number, parts)
            # Not by `_repeated`: rows are many more than the terms of a part.
            row = (counts.first.searchsorted(entries, "right") - 1).astype(np.int32)
            term, times = counts.term[entries], counts.times[entries]
            del entries
            yield cls._of_entries(term, partial(np.asarray, row), times, length)

    @classmethod
    def _of_entries(
        cls,
        terms: NDArray[np.uint64],
        rows: Callable[[], NDArray[np.int32]],
        times: NDArray[np.int32],
        length: NDArray[np.int32],
    ) -> TermTable:
        hashes, code = _numbered(terms)
        first, order = _positions(code, len(hashes))
        del code
        return cls(hashes, first, rows()[order], times[order], length)

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
            raise DamagedIndex("a table of terms", "a term has rows that are not there")
        entries = ranges(lo, hi)
        row = self.row[entries]
        if len(row) and not 0 <= row.min() <= row.max() < self.rows:
            # What multiplies matrices follows any number, and the process would end without a word.
            raise DamagedIndex("a table of terms", "a term is in a row that is not there")
        first = np.append(0, np.cumsum(hi - lo))
        return TermTable(hashes, first, row, self.times[entries], self.length)

    def between(self, hashes: NDArray[np.uint64], low: int, high: int) -> TermTable:
        """Only these terms (distinct, in this order) in the rows from `low` to `high - 1`, counted from there."""
        number, parts = self.find(hashes), []
        for at in number.tolist():
            begin, end = self.first[at : at + 2].tolist() if at >= 0 else (0, 0)
            edges = self.row[begin:end].searchsorted([low, high]) + begin
            parts.append(np.arange(edges[0], edges[1]))
        entries = np.concatenate([np.empty(0, np.int64), *parts])
        first = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        row = self.row[entries] - np.int32(low)
        return TermTable(hashes, first, row, self.times[entries], self.length[low:high])

    def counts(self) -> TermCounts:
        """What the table was made of, row by row."""
        first, order = _positions(self.row, self.rows)
        return TermCounts(first, self.hashes[_repeated(self.first)[order]], self.times[order])


def _positions(
    numbers: NDArray[np.int32], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each number below `size` stands: number `i` at `order[first[i]:first[i + 1]]`, increasing."""
    # With the position behind it, one sort of integers does it all, in place.
    keys = np.empty(len(numbers), np.uint64)
    for low in range(0, len(numbers), _BLOCK):
        block = numbers[low : low + _BLOCK].astype(np.uint64) << _HALF
        keys[low : low + _BLOCK] = block | np.arange(low, low + len(block), dtype=np.uint64)
    keys.sort()
    first = keys.searchsorted(np.arange(size + 1, dtype=np.uint64) << _HALF)
    keys &= _LOW
    return first, keys.view(np.int64)


def _repeated(first: NDArray[np.int64]) -> NDArray[np.int32]:
    """Each number as often as its range is long."""
    return np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))


def _lengths(counts: TermCounts) -> NDArray[np.int32]:
    length = np.zeros(len(counts.first) - 1, np.int32)
    for low in range(0, len(length), _BLOCK):
        first = counts.first[low : low + _BLOCK + 1]
        filled = np.diff(first) > 0
        times = counts.times[first[0] : first[-1]]
        begins = first[:-1][filled] - first[0]
        length[low : low + _BLOCK][filled] = np.add.reduceat(times, begins) if len(times) else 0
    return length


def _within(terms: NDArray[np.uint64], number: int, parts: int) -> NDArray[np.intp]:
    """Where those stand that lie in one of so many equal ranges of hashes."""
    low, high = ((each << 64) // parts for each in (number, number + 1))
    held = []
    for begin in range(0, len(terms), _BLOCK):
        term = terms[begin : begin + _BLOCK]
        inside = term >= np.uint64(low)
        if number + 1 < parts:
            inside &= term < np.uint64(high)
        held.append(np.flatnonzero(inside) + begin)
    return np.concatenate(held)


def _numbered(terms: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The distinct terms in order, and where among them each one stands.

    Hashes lie evenly, so the first bits of most are theirs alone: a slot for each of these saves sorting all.
    """
    bits = min(len(terms).bit_length() + 1, _MOST_BITS)
    blocks = [slice(low, low + _BLOCK) for low in range(0, len(terms), _BLOCK)]

    def slots(block: slice) -> NDArray[np.int64]:
        return (terms[block] >> np.uint64(64 - bits)).astype(np.int64)

    held = np.zeros(1 << bits, np.uint64)
    taken = np.zeros(1 << bits, np.bool_)
    for block in blocks:
        slot = slots(block)
        held[slot] = terms[block]
        taken[slot] = True
    # Of each block those whose slot another has.
    odd = [np.flatnonzero(held[slots(block)] != terms[block]) + block.start for block in blocks]
    values = held[taken]  # in order, as their slots are
    others = np.unique(np.concatenate([values[:0], *(terms[array] for array in odd)]))
    hashes = np.insert(values, values.searchsorted(others), others)
    number = np.zeros(1 << bits, np.int32)
    number[taken] = hashes.searchsorted(values)
    code = np.empty(len(terms), np.int32)
    for block, array in zip(blocks, odd, strict=True):
        code[block] = number[slots(block)]
        code[array] = hashes.searchsorted(terms[array])
    return hashes, code


_CELLS = 4_000_000
"""Scores of a block at most, about 100 MB: an index of many rows is asked fewer questions at a time."""
_DENSE = 8
"""A term that more than one in so many rows have is added as a dense row."""


def inverse_document_frequency(frequency: NDArray[np.integer], rows: int) -> NDArray[np.float64]:
    """Of terms that occur in so many of the rows: ln(1 + (N - df + ½) / (df + ½))."""
    return np.log1p((rows - frequency + 0.5) / (frequency + 0.5))


def half_worth(length: NDArray[np.float64], k1: float = K1, b: float = B) -> NDArray[np.float64]:
    """The count at which a term is worth half of the most it can be, for each row: the longer, the more."""
    mean = float(length.mean()) if len(length) else 0.0
    return k1 * (1 - b + b * length / (mean or 1.0))


@dataclass(frozen=True, eq=False)
class Bm25:
    """A score is summed in the order of the terms' hashes: the same in every run, whatever else is asked."""

    table: TermTable
    k1: float = K1
    b: float = B

    def scores(self, queries: Sequence[NDArray[np.uint64]]) -> NDArray[np.float32]:
        """Score every row for every query; a term that a query repeats counts as often."""
        blocks = [np.empty((0, self.table.rows), np.float32), *self._scored(queries)]
        return np.concatenate(blocks)

    def top(
        self,
        queries: Sequence[NDArray[np.uint64]],
        depth: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[Ranking]:
        """Rank the best allowed rows of each query; rows that share no term with it are left out."""
        blocks = self._scored(queries, allowed)
        return [ranking for scores in blocks for ranking in best_positive(scores, depth)]

    def _weights(self, terms: TermTable) -> NDArray[np.float32]:
        """The score of each entry of these terms: what the term adds to its row."""
        frequency = np.diff(terms.first)
        idf = inverse_document_frequency(frequency, self.table.rows)
        times = terms.times.astype(np.float32)
        damped = self._half_worth[terms.row]
        damped += times
        value = np.repeat(idf, frequency)
        value *= times
        value /= damped
        return value.astype(np.float32)

    @cached_property
    def _half_worth(self) -> NDArray[np.float64]:
        return half_worth(self.table.length.astype(np.float64), self.k1, self.b)

    def _scored(
        self, queries: Sequence[NDArray[np.uint64]], allowed: NDArray[np.bool_] | None = None
    ) -> Iterator[NDArray[np.float32]]:
        """Score all rows for some queries at a time."""
        size = max(1, _CELLS // max(self.table.rows, 1))
        for start in range(0, len(queries), size):
            block = queries[start : start + size]
            hashes, code = np.unique(np.concatenate(block), return_inverse=True)
            terms = self.table.columns(hashes)
            weights = self._weights(terms)
            if allowed is not None:
                weights *= allowed[terms.row]
            postings = _Postings(terms, weights)
            query = np.repeat(np.arange(len(block)), [len(array) for array in block])
            pairs, times = np.unique(query * len(hashes) + code, return_counts=True)
            first = pairs.searchsorted(np.arange(len(block) + 1) * len(hashes)).tolist()
            numbers, counts = (pairs % max(len(hashes), 1)).tolist(), times.tolist()
            scores = np.zeros((len(block), self.table.rows), np.float32)
            for row, (low, high) in zip(scores, pairwise(first), strict=True):
                postings.add(row, numbers[low:high], counts[low:high])
            yield scores


class _Postings:
    """The weights of some terms in the rows that have them."""

    def __init__(self, terms: TermTable, weights: NDArray[np.float32]) -> None:
        self._rows, self._size = terms.row.astype(np.intp), terms.rows
        self._weights = weights
        self._first = terms.first.tolist()
        self._dense: dict[int, NDArray[np.float32]] = {}

    def add(self, scores: NDArray[np.float32], terms: Sequence[int], times: Sequence[int]) -> None:
        """Add the weights of these terms, in this order, to the scores of all rows."""
        for term, count in zip(terms, times, strict=True):
            entries = slice(self._first[term], self._first[term + 1])
            if entries.stop - entries.start > self._size // _DENSE:
                weights = self._spread(term, entries)
                scores += weights if count == 1 else weights * np.float32(count)
            else:
                weights = self._weights[entries]
                np.add.at(
                    scores,
                    self._rows[entries],
                    weights if count == 1 else weights * np.float32(count),
                )

    def _spread(self, term: int, entries: slice) -> NDArray[np.float32]:
        """The weights of a frequent term as a row of all rows, which is the fastest to add."""
        weights = self._dense.get(term)
        if weights is None:
            weights = self._dense[term] = np.zeros(self._size, np.float32)
            weights[self._rows[entries]] = self._weights[entries]
        return weights
