"""BM25, as Lucene computes it, and the table of terms it runs over: many queries against all rows at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import MissingExtra
from chunkwise.retrieval.errors import DamagedIndex
from chunkwise.retrieval.ranking import Ranking, best_of_each
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
        del code
        if length is None:
            length = _lengths(counts)
        first = by_term.indptr.astype(np.int64)
        return cls(
            hashes, first, by_term.indices.astype(np.int32, copy=False), by_term.data, length
        )

    @classmethod
    def in_parts(cls, counts: TermCounts) -> Iterator[TermTable]:
        """The same table, some terms after the other, so that a large one is never made at once."""
        length = _lengths(counts)
        parts = min(-(-len(counts.term) // _ENTRIES), _PARTS)
        if parts < 2:
            yield cls.of(counts, length)
            return
        for number in range(parts):
            yield cls.of(_within(counts, number, parts), length)

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

    def counts(self) -> TermCounts:
        """What the table was made of, row by row."""
        shape = (self.rows, len(self.hashes))
        by_row = sparse().csc_matrix((self.times, self.row, self.first), shape=shape).tocsr()
        return TermCounts(by_row.indptr.astype(np.int64), self.hashes[by_row.indices], by_row.data)


def _lengths(counts: TermCounts) -> NDArray[np.int32]:
    length = np.zeros(len(counts.first) - 1, np.int32)
    filled = np.diff(counts.first) > 0
    length[filled] = np.add.reduceat(counts.times, counts.first[:-1][filled])
    return length


def _within(counts: TermCounts, number: int, parts: int) -> TermCounts:
    """The terms in one of so many equal ranges of hashes."""
    low, high = ((each << 64) // parts for each in (number, number + 1))
    held = []
    for begin in range(0, len(counts.term), _BLOCK):
        term = counts.term[begin : begin + _BLOCK]
        inside = term >= np.uint64(low)
        if number + 1 < parts:
            inside &= term < np.uint64(high)
        held.append(np.flatnonzero(inside) + begin)
    entries = np.concatenate(held)
    first = entries.searchsorted(counts.first)
    return TermCounts(first, counts.term[entries], counts.times[entries])


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
    found = held[taken]  # in order, as their slots are
    others = np.unique(np.concatenate([found[:0], *(terms[each] for each in odd)]))
    hashes = np.insert(found, found.searchsorted(others), others)
    number = np.zeros(1 << bits, np.int32)
    number[taken] = hashes.searchsorted(found)
    code = np.empty(len(terms), np.int32)
    for block, each in zip(blocks, odd, strict=True):
        code[block] = number[slots(block)]
        code[each] = hashes.searchsorted(terms[each])
    return hashes, code


def sparse() -> Any:
    try:
        import scipy.sparse
    except ImportError:
        raise MissingExtra("word search", "search") from None
    return scipy.sparse


_CELLS = 4_000_000
"""Scores of a block at most, about 100 MB: an index of many rows is asked fewer questions at a time."""
_FEW = 16
"""Questions that are scored without SciPy: importing it takes longer than all of them."""
_EXACT = 2
"""Times a float32 weight without rounding. SciPy rounds other products or fuses them, as it was compiled."""


def inverse_document_frequency(frequency: NDArray[np.integer], rows: int) -> NDArray[np.float64]:
    """Of terms that occur in so many of the rows: ln(1 + (N - df + ½) / (df + ½))."""
    return np.log1p((rows - frequency + 0.5) / (frequency + 0.5))


def half_worth(length: NDArray[np.float64], k1: float = K1, b: float = B) -> NDArray[np.float64]:
    """The count at which a term is worth half of the most it can be, for each row: the longer, the more."""
    mean = float(length.mean()) if len(length) else 0.0
    return k1 * (1 - b + b * length / (mean or 1.0))


class _Asked(NamedTuple):
    """The terms of some questions, by question and by number, each once."""

    questions: int
    question: NDArray[np.int64]
    term: NDArray[np.int64]
    times: NDArray[np.int64]


class _Scores(NamedTuple):
    """Scores above 0: question `i` of a block has `values[first[i]:first[i + 1]]`, of as many `rows`."""

    first: NDArray[np.integer]
    rows: NDArray[np.integer]
    values: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Bm25:
    """A score is summed in the order of the terms' hashes: the same in every run, whatever else is asked."""

    table: TermTable
    k1: float = K1
    b: float = B

    def scores(self, queries: Sequence[NDArray[np.uint64]]) -> NDArray[np.float32]:
        """Questions × rows; a question is its terms, those that stand there twice count twice."""
        scores = np.zeros((len(queries), self.table.rows), np.float32)
        low = 0
        for first, rows, values in self._blocks(queries):
            high = low + len(first) - 1
            scores[np.repeat(np.arange(low, high), np.diff(first)), rows] = values
            low = high
        return scores

    def top(
        self,
        queries: Sequence[NDArray[np.uint64]],
        depth: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[Ranking]:
        """The best rows of each question among those allowed; rows that share no term with it are left out."""
        rankings: list[Ranking] = []
        for first, rows, values in self._blocks(queries, allowed):
            rankings += best_of_each(first, rows, values, depth)
        return rankings

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

    def _blocks(
        self, queries: Sequence[NDArray[np.uint64]], allowed: NDArray[np.bool_] | None = None
    ) -> Iterator[_Scores]:
        """Scores of some questions at a time."""
        size = max(1, _CELLS // max(self.table.rows, 1))
        for start in range(0, len(queries), size):
            block = queries[start : start + size]
            hashes, code = np.unique(np.concatenate(block), return_inverse=True)
            terms = self.table.columns(hashes)
            weights = self._weights(terms)
            if allowed is not None:
                weights *= allowed[terms.row]
            question = np.repeat(np.arange(len(block)), [len(each) for each in block])
            pairs, times = np.unique(question * len(hashes) + code, return_counts=True)
            asked = _Asked(len(block), *np.divmod(pairs, max(len(hashes), 1)), times)
            few = len(queries) <= _FEW and times.max(initial=0) <= _EXACT
            yield (_added if few else _multiplied)(asked, terms, weights)


def _added(asked: _Asked, terms: TermTable, weights: NDArray[np.float32]) -> _Scores:
    """Term by term; to the bit what SciPy computes."""
    low, high = terms.first[asked.term], terms.first[asked.term + 1]
    entries, sizes = ranges(low, high), high - low
    cells = np.repeat(asked.question * terms.rows, sizes) + terms.row[entries]
    scores = np.zeros(asked.questions * terms.rows, np.float32)
    np.add.at(scores, cells, weights[entries] * np.repeat(asked.times.astype(np.float32), sizes))
    found = np.flatnonzero(scores)
    first = found.searchsorted(np.arange(asked.questions + 1) * terms.rows)
    return _Scores(first, found % max(terms.rows, 1), scores[found])


def _multiplied(asked: _Asked, terms: TermTable, weights: NDArray[np.float32]) -> _Scores:
    """As a product of two sparse matrices, which is faster for many questions."""
    first = asked.question.searchsorted(np.arange(asked.questions + 1))
    times = (asked.times.astype(np.float32), asked.term, first)
    questions = sparse().csr_matrix(times, shape=(asked.questions, len(terms.hashes)))
    shape = (len(terms.hashes), terms.rows)
    by_term = sparse().csr_matrix((weights, terms.row, terms.first), shape=shape)
    by_term.eliminate_zeros()  # rows that are not allowed
    scores = questions @ by_term
    return _Scores(scores.indptr, scores.indices, scores.data)
