"""Exact search by vectors against the bare matrix product it cannot do without."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import table
from chunkwise.retrieval.local.index import nearest

BAR = 2.0
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


def run() -> str:
    """Our time against the bare product at several depths, as Markdown."""
    found = [measure(depth=depth) for depth in (10, 100, 400)]
    rows = [
        [f"{each.depth}", f"{each.bare:.2f}", f"{each.ours:.2f}", f"{each.ratio:.2f}×"]
        for each in found
    ]
    verdict = "met" if all(each.ratio <= BAR for each in found) else "**missed**"
    return "\n".join([
        f"{found[0].questions:,} questions over {found[0].vectors:,} × 384 random vectors.\n",
        table(["depth", "product and top-k, s", "chunkwise, s", "ratio"], rows),
        "",
        f"- at most {BAR:.0f}× the bare product and top-k: {verdict}",
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(run())
