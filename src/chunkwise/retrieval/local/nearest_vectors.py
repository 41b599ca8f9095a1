"""The chunk vectors nearest to a question: all are compared, or those that a look at eight bits a number leaves.

The result is the same to the bit. Many vectors are read from the disk with every question where they are larger than
the memory; their codes are a quarter.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.blas_threads import one_blas_thread
from chunkwise.base.cores import cores
from chunkwise.retrieval.local.columns import CODES, Array, Arrays
from chunkwise.retrieval.ranking import NOTHING, Ranking, floors, leading

_ROWS = 1 << 16
_SCORES = 1 << 23
"""Scores held at a time: 32 MB."""
_MARGIN = 4e-6
"""More than a product's rounding can be off: it differs with the shape of the matrices."""

LARGE = 1 << 30
"""Bytes of vectors from which on they have codes: fewer stay in any memory, and are compared sooner as they are."""
_MOST = 127
_CODED_ROWS = 1 << 13
"""Rows of codes at a time: 12 MB as numbers of 32 bits."""


class VectorCodes(NamedTuple):
    """Vectors in eight bits a number: `numbers[i] * scale[i]` is no further from vector `i` than `error[i]`."""

    numbers: NDArray[np.int8]
    scale: NDArray[np.float32]
    error: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: NDArray[np.float32]) -> VectorCodes:
        scale = (np.abs(vectors).max(axis=1, initial=0) / _MOST).astype(np.float32)
        steps = np.rint(vectors / np.where(scale > 0, scale, 1)[:, None]).clip(-_MOST, _MOST)
        apart = vectors - steps * scale[:, None]
        # And what 32 bits lose: of a product of the codes, of one of the vector, and of this difference.
        lost = 3 * (vectors.shape[1] + 8) * 2.0**-24 * _lengths(vectors)
        error = (_lengths(apart) + lost).astype(np.float32)
        return cls(steps.astype(np.int8), scale, np.nextafter(error, np.float32(np.inf)))


def _lengths(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))


def code_columns(arrays: Arrays) -> Iterator[dict[str, Array]]:
    """The codes of an index with many vectors, some rows at a time."""
    if not _has_many(arrays):
        return
    vectors = arrays["chunk.vector"]
    for low in range(0, len(vectors), _CODED_ROWS):
        yield dict(zip(CODES, VectorCodes.of(vectors[low : low + _CODED_ROWS]), strict=True))
        _let_go(vectors, low, min(low + _CODED_ROWS, len(vectors)))


def _has_many(arrays: Arrays) -> bool:
    return "chunk.vector" in arrays and arrays["chunk.vector"].nbytes >= LARGE


def lacks_codes(arrays: Arrays) -> bool:
    """Whether it was made before there were codes, and would have them now."""
    return _has_many(arrays) and CODES[0] not in arrays


def _let_go(rows: Array, low: int, high: int) -> None:
    """What was looked at in a mapped file is not needed soon: it is no memory of this process.

    The system keeps as much of the file as it has room for.
    """
    mapped: Any = rows
    while isinstance(mapped, np.ndarray):
        mapped = mapped.base
    # Not every system can be told.
    if (
        isinstance(mapped, mmap.mmap)
        and hasattr(mmap, "MADV_DONTNEED")
        and len(mapped) == rows.nbytes
    ):
        width = rows.nbytes // len(rows)
        first = -(-low * width // mmap.PAGESIZE) * mmap.PAGESIZE
        if first < high * width:
            mapped.madvise(mmap.MADV_DONTNEED, first, high * width - first)


def nearest(
    vectors: NDArray[np.float32],
    queries: NDArray[np.float32],
    depth: int,
    allowed: NDArray[np.bool_] | None = None,
    codes: VectorCodes | None = None,
) -> list[Ranking]:
    """Rows by their product with each question, the same to the bit whatever else is asked with it."""
    rows = None if allowed is None else np.flatnonzero(allowed)
    size = len(vectors) if rows is None else len(rows)
    if not size or depth < 1:
        return [NOTHING] * len(queries)
    queries = np.ascontiguousarray(queries, np.float32)
    together = max(1, _SCORES // min(size, _ROWS))
    found: list[Ranking] = []
    for begin in range(0, len(queries), together):
        some = queries[begin : begin + together]
        if codes is None:
            near = _near(vectors, some, depth, rows, size)
        else:
            near = _near_by_codes(codes, some, depth, rows, size)
            # Codes that leave fewer than there are say nothing: somebody else may have made them.
            for number in (at for at, each in enumerate(near) if len(each) < min(depth, size)):
                near[number] = _near(vectors, some[number : number + 1], depth, rows, size)[0]
        found += [
            _ranked(vectors, query, numbers, depth) if query.any() else NOTHING
            for query, numbers in zip(some, near, strict=True)
        ]
    return found


def _near(
    vectors: NDArray[np.float32],
    queries: NDArray[np.float32],
    depth: int,
    rows: NDArray[np.intp] | None,
    size: int,
) -> list[NDArray[np.intp]]:
    """For each question the numbers of the leading rows of every block."""
    near: list[list[NDArray[np.intp]]] = [[] for _ in queries]
    asked = [number for number, query in enumerate(queries) if query.any()]
    for low in range(0, size, _ROWS):
        high = min(low + _ROWS, size)
        block = vectors[low:high] if rows is None else vectors[rows[low:high]]
        scores = queries @ block.T
        floor = floors(scores, depth)
        for number in asked:
            numbers = leading(scores[number], depth, float(floor[number]), _MARGIN)
            near[number].append(numbers + low if rows is None else rows[numbers + low])
    return [np.concatenate(each) if each else np.empty(0, np.intp) for each in near]


class _Candidates:
    """Rows that may be among the nearest to one question, as far as is known by now."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self.floor = -np.inf
        """What the last of the nearest has at least."""
        self._numbers = np.empty(0, np.intp)
        self._least = self._most = np.empty(0, np.float32)

    def leading(self, scores: NDArray[np.float32], error: NDArray[np.float32]) -> NDArray[np.intp]:
        """Of some rows those that may be: any thread may ask, with what is known by then."""
        numbers = np.flatnonzero(scores + error >= self.floor)
        if len(numbers) <= self._depth:
            return numbers
        floor = _least_of(scores[numbers] - error[numbers], self._depth)
        return numbers[scores[numbers] + error[numbers] >= floor]

    def add(
        self, numbers: NDArray[np.intp], scores: NDArray[np.float32], error: NDArray[np.float32]
    ) -> None:
        numbers = np.concatenate((self._numbers, numbers))
        least = np.concatenate((self._least, scores - error))
        most = np.concatenate((self._most, scores + error))
        if len(numbers) > self._depth:
            self.floor = max(self.floor, _least_of(least, self._depth))
        kept = most >= self.floor
        self._numbers, self._least, self._most = numbers[kept], least[kept], most[kept]

    def numbers(self) -> NDArray[np.intp]:
        return np.sort(self._numbers)


def _least_of(values: NDArray[np.float32], depth: int) -> float:
    """What the best `depth` of them reach."""
    return float(np.partition(values, len(values) - depth)[len(values) - depth])


def _near_by_codes(
    codes: VectorCodes,
    queries: NDArray[np.float32],
    depth: int,
    rows: NDArray[np.intp] | None,
    size: int,
) -> list[NDArray[np.intp]]:
    """For each question the numbers of all rows that may be among the nearest; none that is can be missing."""
    candidates = [_Candidates(depth) for _ in queries]
    lengths = np.nextafter(_lengths(queries).astype(np.float32), np.float32(np.inf))
    asked = np.flatnonzero(queries.any(axis=1)).tolist()

    def look(
        low: int,
    ) -> Sequence[tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.float32]]]:
        some = slice(low, min(low + _CODED_ROWS, size))
        taken = some if rows is None else rows[some]
        found = []
        with np.errstate(invalid="ignore", over="ignore"):  # numbers that are none find nothing
            scores = queries @ codes.numbers[taken].astype(np.float32).T
            scores *= codes.scale[taken]
            error = codes.error[taken]
            for number in asked:
                own = error * lengths[number]
                numbers = candidates[number].leading(scores[number], own)
                found.append((numbers, scores[number][numbers], own[numbers]))
        first, last = (low, some.stop - 1) if rows is None else rows[[low, some.stop - 1]].tolist()
        _let_go(codes.numbers, first, last + 1)
        return found

    # Threads compare different rows; which of them is first changes who is looked at, not who stays.
    with (
        one_blas_thread(),
        ThreadPoolExecutor(cores()) as pool,
        np.errstate(invalid="ignore", over="ignore"),
    ):
        for low, found in zip(
            range(0, size, _CODED_ROWS), pool.map(look, range(0, size, _CODED_ROWS)), strict=True
        ):
            for number, (numbers, scores, error) in zip(asked, found, strict=True):
                own = numbers + low if rows is None else rows[numbers + low]
                candidates[number].add(own, scores, error)
    return [each.numbers() for each in candidates]


def _ranked(
    vectors: NDArray[np.float32], query: NDArray[np.float32], numbers: NDArray[np.intp], depth: int
) -> Ranking:
    # One row after the other, so that equal vectors score the same and the lower number comes first.
    scores = np.einsum("ij,j->i", vectors[numbers], query)
    order = np.lexsort((numbers, -scores))[:depth]
    return Ranking(numbers[order].astype(np.int64), scores[order])
