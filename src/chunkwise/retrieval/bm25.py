"""BM25, as Lucene computes it: many questions against all rows of a term table at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.ranking import Ranking, best_of_each
from chunkwise.retrieval.term_table import TermTable, sparse

_CELLS = 4_000_000
"""Scores of a block at most, about 100 MB: an index of many rows is asked fewer questions at a time."""


@dataclass(frozen=True, eq=False)
class Bm25:
    """A score is summed in the order of the terms' hashes: the same in every run, whatever else is asked."""

    table: TermTable
    k1: float = 1.5
    """How soon more of the same word adds nothing."""
    b: float = 0.75
    """How much a row pays for its length."""

    def scores(self, queries: Sequence[NDArray[np.uint64]]) -> NDArray[np.float32]:
        """Questions × rows; a question is its terms, those that stand there twice count twice."""
        blocks = (scores.toarray() for scores in self._blocks(queries))
        return np.concatenate([np.empty((0, self.table.rows), dtype=np.float32), *blocks])

    def top(
        self,
        queries: Sequence[NDArray[np.uint64]],
        depth: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[Ranking]:
        """The best rows of each question among those allowed; rows that share no term with it are left out."""
        rankings: list[Ranking] = []
        for scores in self._blocks(queries, allowed):
            rankings += best_of_each(scores.indptr, scores.indices, scores.data, depth)
        return rankings

    def weights(self, hashes: NDArray[np.uint64]) -> Any:
        """What each of these terms adds to the score of each row: a `scipy.sparse.csc_matrix`, rows × terms."""
        matrix = self.table.matrix(hashes)
        frequency = np.diff(matrix.indptr)
        idf = np.log1p((self.table.rows - frequency + 0.5) / (frequency + 0.5))
        damped = self._damp[matrix.indices]
        damped += matrix.data
        value = np.repeat(idf, frequency)
        value *= matrix.data
        value /= damped
        matrix.data = value.astype(np.float32)
        return matrix

    @cached_property
    def _damp(self) -> NDArray[np.float64]:
        """The count at which a term is worth half of the most it can be, a row: the longer, the more."""
        length = self.table.length.astype(np.float64)
        mean = float(length.mean()) if len(length) else 0.0
        return self.k1 * (1 - self.b + self.b * length / (mean or 1.0))

    def _blocks(
        self, queries: Sequence[NDArray[np.uint64]], allowed: NDArray[np.bool_] | None = None
    ) -> Iterator[Any]:
        """Scores of some questions at a time: a `scipy.sparse.csr_matrix`, questions × rows, of those above 0."""
        size = max(1, _CELLS // max(self.table.rows, 1))
        for start in range(0, len(queries), size):
            block = queries[start : start + size]
            hashes, code = np.unique(np.concatenate(block), return_inverse=True)
            first = np.cumsum([0, *map(len, block)])
            values = np.ones(len(code), np.float32), code, first
            asked = sparse().csr_matrix(values, shape=(len(block), len(hashes)))
            asked.sum_duplicates()  # sorts, too
            weights = self.weights(hashes)
            if allowed is not None:
                weights.data[~allowed[weights.indices]] = 0
                weights.eliminate_zeros()
            yield asked @ weights.T
