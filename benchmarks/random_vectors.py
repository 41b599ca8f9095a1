"""An embedder for measurements in which the model is not to count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.embed.embedder import Kind, TokenVectors


class RandomVectors:
    """A random vector for each word; a text is read once, so that it takes no time afterwards."""

    identity = "random"
    dimensions = 128
    window = 256

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        sums = np.array([_read(text).vectors.sum(axis=0) for text in texts], np.float32)
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return _read(text).start

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [_read(text) for text in texts]


_VECTORS = np.random.default_rng(1).normal(size=(4096, RandomVectors.dimensions)).astype(np.float32)


@cache
def _read(text: str) -> TokenVectors:
    words = list(re.finditer(r"\S+", text))
    rows = [crc32(word[0].encode()) % len(_VECTORS) for word in words]
    spans = np.array([word.span() for word in words], np.int64).reshape(-1, 2)
    return TokenVectors(spans[:, 0], spans[:, 1], _VECTORS[rows])
