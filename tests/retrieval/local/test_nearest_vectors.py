"""The nearest vectors are those that a comparison of all, sorted as a whole, finds."""

from __future__ import annotations

import numpy as np

from chunkwise.retrieval.local.nearest_vectors import nearest
from tables import cases


@cases("depth", [1, 7, 400, 90_000])
@cases("share", [1.0, 0.3])
def test_several_blocks_and_vectors_that_are_nearly_equal(depth: int, share: float) -> None:
    rng = np.random.default_rng(depth)
    centers = rng.standard_normal((20, 32))
    vectors = centers[rng.integers(0, 20, 70_000)] + 0.003 * rng.standard_normal((70_000, 32))
    vectors[20_000:21_000] = vectors[:1_000]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = np.vstack((vectors[[5, 700, 69_000]], -vectors[9:10])).astype(np.float32)
    vectors = vectors.astype(np.float32)
    allowed = None if share == 1 else rng.random(len(vectors)) < share
    rows = np.arange(len(vectors)) if allowed is None else np.flatnonzero(allowed)
    for query, ranking in zip(queries, nearest(vectors, queries, depth, allowed), strict=True):
        scores = np.einsum("ij,j->i", vectors[rows], query)
        order = np.lexsort((rows, -scores))[:depth]
        assert ranking.numbers.tolist() == rows[order].tolist()
        assert ranking.scores.tolist() == scores[order].tolist()


def test_a_question_of_no_direction_finds_nothing() -> None:
    (ranking,) = nearest(np.eye(3, dtype=np.float32), np.zeros((1, 3), np.float32), 2)
    assert not len(ranking.numbers)
