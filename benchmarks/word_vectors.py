"""Vectors without a model, for indexes larger than any that a model could be waited for: benchmarks/scale.py."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_DIMENSIONS = 384
_ROWS = 1 << 12
"""Of chance: words of the sample corpus rarely share one."""
_OWN = 0.5
"""How long what belongs to a text alone is, beside what belongs to its words."""


class WordVectors:
    """The sum of a row of chance for each word, and some of the text's own: texts with words in common are near."""

    identity = "benchmark words 384"
    dimensions = _DIMENSIONS

    def __init__(self) -> None:
        rng = np.random.default_rng(11)
        self._rows = rng.standard_normal((_ROWS, _DIMENSIONS), np.float32)

    def embed(self, texts: Sequence[str], kind: str = "passage") -> NDArray[np.float32]:
        words = [text.lower().encode().split() for text in texts]
        sizes = np.array([len(each) for each in words])
        found = np.zeros((len(texts), _DIMENSIONS), np.float32)
        some = np.flatnonzero(sizes)
        if not len(some):
            return found
        numbers = np.array([zlib.crc32(word) % _ROWS for each in words for word in each])
        first = np.cumsum(sizes) - sizes
        own = np.array([zlib.crc32(texts[at].encode()) for at in some.tolist()])
        found[some] = np.add.reduceat(self._rows[numbers], first[some], axis=0)
        found /= np.sqrt(np.maximum(sizes, 1), dtype=np.float32)[:, None]
        # Two rows of chance each: sixteen million texts have their own.
        alone = self._rows[own % _ROWS] - self._rows[own // _ROWS % _ROWS]
        found[some] += np.float32(_OWN / np.sqrt(2)) * alone
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), np.float32(1e-9))
        return found
