"""Exact search by vectors against the bare matrix product it cannot do without."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.embedded.nearest import nearest

_ROUNDS = 3


class Dense(NamedTuple):
    """Seconds for all questions: the best of some rounds, taken in turns."""

    vectors: int
    questions: int
    depth: int
    bare: float
    ours: float

    @property
    def ratio(self) -> float:
        return self.ours / self.bare


def measure(
    vectors: int = 100_000, questions: int = 1000, dimensions: int = 384, depth: int = 10
) -> Dense:
    """Random vectors of length 1, the same in every run."""
    rng = np.random.default_rng(20240229)
    stored = _units(rng.standard_normal((vectors, dimensions), np.float32))
    asked = _units(rng.standard_normal((questions, dimensions), np.float32))
    bare, ours = [], []
    for _ in range(_ROUNDS):
        bare.append(_seconds(lambda: _bare(stored, asked, depth)))
        ours.append(_seconds(lambda: nearest(stored, asked, depth)))
    return Dense(vectors, questions, depth, min(bare), min(ours))


def _units(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _bare(
    stored: NDArray[np.float32], asked: NDArray[np.float32], depth: int, together: int = 64
) -> None:
    """The product, and for each question the numbers of its highest scores in order."""
    for first in range(0, len(asked), together):
        scores = asked[first : first + together] @ stored.T
        for row in scores:
            top = np.argpartition(row, len(row) - depth)[len(row) - depth :]
            top[np.argsort(-row[top])]


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    for depth in (10, 100, 400):
        found = measure(depth=depth)
        print(
            f"{found.questions:,} questions over {found.vectors:,} vectors, depth {depth}: "
            f"bare {found.bare:.2f} s, chunkwise {found.ours:.2f} s, {found.ratio:.2f}×"
        )
