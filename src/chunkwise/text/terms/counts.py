"""How often each term occurs in each of many rows, as three arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class TermCounts(NamedTuple):
    """How often each term occurs in each row: row `i` has the entries `first[i]` to `first[i + 1]`."""

    first: NDArray[np.int64]
    term: NDArray[np.uint64]
    """Terms by their hash (`text.terms`), increasing within a row, none twice."""
    times: NDArray[np.int32]


def ranges(start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of all half-open ranges, one range after the other."""
    size = end - start
    before = np.cumsum(size) - size
    return np.arange(size.sum(), dtype=np.int64) + np.repeat(start - before, size)


def count_terms(
    row: NDArray[np.int64], code: NDArray[np.int64], vocabulary: NDArray[np.uint64], rows: int
) -> TermCounts:
    """Occurrences, each in a row and of a term of the sorted vocabulary, counted."""
    terms = max(len(vocabulary), 1)
    # Half as wide sorts twice as fast, and most documents have few enough rows and terms for it.
    narrow = np.uint32 if rows * terms < 1 << 32 else np.int64
    key = np.sort((row * terms + code).astype(narrow)).astype(np.int64)
    last = np.ones(len(key), dtype=np.bool_)
    last[:-1] = key[1:] != key[:-1]
    ends = np.flatnonzero(last)
    found = key[ends]
    first = found.searchsorted(np.arange(rows + 1, dtype=np.int64) * terms)
    times = np.diff(ends, prepend=-1).astype(np.int32)
    return TermCounts(first, vocabulary[found % terms], times)


def join_counts(parts: Sequence[TermCounts]) -> TermCounts:
    """The rows of several, one after the other."""
    if not parts:
        return TermCounts(np.zeros(1, np.int64), np.empty(0, np.uint64), np.empty(0, np.int32))
    entries = np.cumsum([0, *(len(part.term) for part in parts)])
    first = [part.first[:-1] + before for part, before in zip(parts, entries[:-1], strict=True)]
    return TermCounts(
        np.concatenate([*first, entries[-1:]]),
        np.concatenate([part.term for part in parts]),
        np.concatenate([part.times for part in parts]),
    )


def add_counts(one: TermCounts, other: TermCounts) -> TermCounts:
    """Row by row the counts of both: a chunk's own terms and those of its context."""
    rows = len(one.first) - 1
    vocabulary = np.unique(np.concatenate((one.term, other.term)))
    row = np.concatenate([np.repeat(np.arange(rows), np.diff(part.first)) for part in (one, other)])
    code = vocabulary.searchsorted(np.concatenate((one.term, other.term)))
    times = np.concatenate((one.times, other.times))
    return count_terms(np.repeat(row, times), np.repeat(code, times), vocabulary, rows)
