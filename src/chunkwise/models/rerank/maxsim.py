"""Late interaction: each token of the question looks for its nearest in the passage, by the default model's vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.cores import cores
from chunkwise.base.errors import InvalidParameter
from chunkwise.models.cache import ModelCache, kept_or_made, key_of
from chunkwise.models.embed.embedder import TokenEmbedder
from chunkwise.models.embed.pretrained import minilm

_LEAST_AT_ONCE = 16
"""Passages read before they are kept: what a killed run loses at most; more where there are many cores."""
_ROWS = 4096
"""Tokens of a passage compared at once: one may be as long as a book."""
_FARTHEST = -1.0
_STRESS = 3
"""Power of a vector's length: a model that averages its tokens gives long vectors to those that matter."""

Real = np.floating[Any]
Whole = NDArray[np.int8]
"""A row a token, in whole numbers from -127 to 127: only the direction of a row means anything."""


class MaxSimReranker:
    """Passages are read without the question, once ever; a score depends on its pair alone, to the bit."""

    def __init__(
        self,
        first: float = 1.0,
        *,
        embedder: TokenEmbedder | None = None,
        cache: ModelCache | None = None,
    ) -> None:
        if isinstance(first, bool) or not isinstance(first, int | float) or not 0 <= first <= 100:
            raise InvalidParameter(
                f"first is {first!r}; expected 0 (ignore the original order) to 100"
            )
        self.weight_of_first = float(first)
        """How much the scores of the first ranking count beside these, which count 1."""
        self._embedder = embedder or minilm()
        self._cache = cache or ModelCache()

    def __repr__(self) -> str:
        return f"MaxSimReranker(first={self.weight_of_first:g})"

    @property
    def identity(self) -> str:
        return f"maxsim:{self._embedder.identity} first={self.weight_of_first:g}"

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The mean, over the question's tokens, of the highest cosine to one of the text; -1 where there is none."""
        vectors = self._embedder.token_vectors([query])[0].vectors
        asked = _whole(vectors)
        weights = np.linalg.norm(vectors, axis=1).astype(np.float64) ** _STRESS
        total = float(weights.sum())
        known: dict[str, float] = {}
        for text, read in self._read(dict.fromkeys(texts)):
            summed = float((_nearest(asked, read) * weights).sum())
            known[text] = summed / total if total else _FARTHEST
        return np.array([known[text] for text in texts], np.float32)

    def _read(self, texts: dict[str, None]) -> Iterator[tuple[str, Whole]]:
        """The tokens of each text; only a few texts' are held at once."""
        identity, size, every = self._embedder.identity, self._embedder.dimensions, list(texts)
        at_once = max(_LEAST_AT_ONCE, 4 * cores())
        for low in range(0, len(every), at_once):
            some = every[low : low + at_once]
            keys = [key_of(identity, "tokens", text) for text in some]
            kept = kept_or_made(
                self._cache, identity, dict(zip(keys, some, strict=True)), self._made
            )
            for key, text in zip(keys, some, strict=True):
                rows = np.frombuffer(kept[key], np.int8)
                yield text, rows.reshape(-1, size)

    def _made(self, texts: Sequence[str]) -> list[bytes]:
        result = self._embedder.token_vectors(texts)
        return [_whole(row.vectors).tobytes() for row in result]


def _whole(vectors: NDArray[np.float32]) -> Whole:
    """Each row stretched until its largest number is 127."""
    vectors = np.nan_to_num(vectors, posinf=0, neginf=0)
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    return np.rint(vectors * (127 / np.where(largest > 0, largest, 1))).astype(np.int8)


def _nearest(asked: Whole, read: Whole) -> NDArray[np.float64]:
    """Of each token asked, its highest cosine to a token read.

    Products of whole numbers add up exactly, in whatever order a library does it: neither threads nor the length of a
    passage can move a score.
    """
    exact: type[Real] = np.float32 if 127**2 * asked.shape[1] < 2**24 else np.float64
    question = asked.astype(exact)
    best = np.full(len(asked), -np.inf)
    for low in range(0, len(read), _ROWS):
        rows = read[low : low + _ROWS].astype(exact)
        best = np.maximum(best, ((question @ rows.T) / _lengths(rows)).max(axis=1))
    return best / _lengths(question) if len(read) else np.full(len(asked), _FARTHEST)


def _lengths(rows: NDArray[Real]) -> NDArray[np.float64]:
    squares = np.einsum("ij,ij->i", rows, rows).astype(np.float64)
    return np.sqrt(np.where(squares > 0, squares, 1))
