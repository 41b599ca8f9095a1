"""Late interaction (MaxSim): windows scored by the best cosine of a token in them to each token of the question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.embed.quantized_vectors import decode_rows
from chunkwise.retrieval.ranking import best
from chunkwise.retrieval.searchable import AtomTable, TokenTable
from chunkwise.text.terms import ranges

_COMPARED = 32_000
"""Tokens a question's are compared with at most: in a larger index those that words and vectors find best."""
_LARGEST = 127
"""Number of a token of the question."""
_TOKENS_AT_ONCE = 4096
"""So many vectors, unpacked, stay in a core's own cache."""


class QueryTokens(NamedTuple):
    """The vectors of a question's tokens, a row each, in whole numbers: their products with codes are exact."""

    numbers: NDArray[np.float32]
    length: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: NDArray[np.float32]) -> QueryTokens:
        """Tokens without a direction are left out: they are as near to one token as to any other."""
        vectors = vectors[(vectors != 0).any(axis=1)]
        largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
        numbers = np.rint(vectors * (_LARGEST / np.where(largest > 0, largest, 1)))
        return cls(numbers.astype(np.float32), _lengths(numbers))

    def __len__(self) -> int:
        return len(self.length)


def _lengths(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.sqrt(np.einsum("ij,ij->i", rows, rows)).astype(np.float32)


def atom_maxima(
    tokens: TokenTable, atoms: NDArray[np.int64], query: QueryTokens
) -> NDArray[np.float32]:
    """Atoms × tokens of the question: the highest cosine to a token of the atom, -inf where it has none.

    Products of whole numbers add up exactly, in whatever order a library does it: neither threads nor what else is
    looked at can move a cosine.
    """
    low, high = tokens.first[atoms], tokens.first[atoms + 1]
    result = np.full((len(atoms), len(query)), -np.inf, np.float32)
    if not len(query):
        return result
    asked = np.ascontiguousarray(query.numbers.T)
    for some in _blocks(high - low):
        rows = decode_rows(tokens.codes[ranges(low[some], high[some])])
        cosines = rows @ asked
        cosines /= _lengths(rows)[:, None]
        size = (high - low)[some]
        begin = np.cumsum(size) - size
        result[some] = np.maximum.reduceat(cosines, begin, axis=0)
    result /= query.length
    return result


def _blocks(sizes: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """Positions of atoms that have tokens, a few thousand tokens at a time."""
    held = np.flatnonzero(sizes)
    block = (np.cumsum(sizes[held]) - 1) // _TOKENS_AT_ONCE
    yield from np.split(held, np.flatnonzero(np.diff(block)) + 1) if len(held) else ()


def window_scores(
    maxima: NDArray[np.float32], low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.float32]:
    """For windows of the rows `low[i]` to `high[i] - 1`: the sum over columns of the highest value, -inf where empty.

    Maxima over runs of 1, 2, 4 … rows are made once; a window of any length is the better of two runs.
    """
    scores = np.full(len(low), -np.inf, np.float32)
    filled = np.flatnonzero(high > low)  # in a large index few
    low, high = low[filled], high[filled]
    level = np.frexp((high - low).astype(np.float64))[1] - 1
    running, run = maxima, 1
    for power in range(int(level.max(initial=-1)) + 1):
        here = np.flatnonzero(level == power)
        if len(here):
            best = np.maximum(running[low[here]], running[high[here] - run])
            scores[filled[here]] = best.sum(axis=1, dtype=np.float64)
        running = np.maximum(running[:-run], running[run:])
        run *= 2
    return scores


def compared_atoms(
    atoms: AtomTable,
    points: NDArray[np.float64],
    allowed: NDArray[np.bool_] | None,
    most: int | None = None,
) -> NDArray[np.int64]:
    """The atoms whose tokens a question's are compared with: all, or in a large index those with most votes so far."""
    assert atoms.token_vectors is not None
    most = _COMPARED if most is None else most
    size = np.diff(atoms.token_vectors.first)
    total = int(size.sum())
    if total <= most or not points.any():
        return np.flatnonzero(size if allowed is None else allowed & (size > 0))
    fitting = -(-len(points) * most // total)
    return np.sort(best(points.astype(np.float32), fitting).numbers)
