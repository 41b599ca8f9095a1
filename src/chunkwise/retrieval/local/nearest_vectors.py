"""The chunk vectors nearest to a question: all are compared, and the result is exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.ranking import NOTHING, Ranking, floors, leading

_ROWS = 1 << 16
_SCORES = 1 << 23
"""Scores held at a time: 32 MB."""
_MARGIN = 4e-6
"""More than a product's rounding can be off: it differs with the shape of the matrices."""


def nearest(
    vectors: NDArray[np.float32],
    queries: NDArray[np.float32],
    depth: int,
    allowed: NDArray[np.bool_] | None = None,
) -> list[Ranking]:
    """Rows by their product with each question, the same to the bit whatever else is asked with it."""
    rows = None if allowed is None else np.flatnonzero(allowed)
    size = len(vectors) if rows is None else len(rows)
    if not size or depth < 1:
        return [NOTHING] * len(queries)
    queries = np.ascontiguousarray(queries, np.float32)
    together = max(1, _SCORES // min(size, _ROWS))
    rankings: list[Ranking] = []
    for begin in range(0, len(queries), together):
        some = queries[begin : begin + together]
        near = _near(vectors, some, depth, rows, size)
        rankings += [
            _ranked(vectors, query, numbers, depth) if query.any() else NOTHING
            for query, numbers in zip(some, near, strict=True)
        ]
    return rankings


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
    return [np.concatenate(group) if group else np.empty(0, np.intp) for group in near]


def _ranked(
    vectors: NDArray[np.float32], query: NDArray[np.float32], numbers: NDArray[np.intp], depth: int
) -> Ranking:
    # One row after the other, so that equal vectors score the same and the lower number comes first.
    scores = np.einsum("ij,j->i", vectors[numbers], query)
    order = np.lexsort((numbers, -scores))[:depth]
    return Ranking(numbers[order].astype(np.int64), scores[order])
