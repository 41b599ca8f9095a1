"""An embedder that needs no weights: texts are near when they share words."""

import re
from collections.abc import Sequence
from functools import cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.embed.embedder import Kind, TokenVectors

_TOKEN = re.compile(r"\w+|[^\w\s]")


@cache
def _vector(token: str) -> NDArray[np.float64]:
    seed = crc32(token.lower().encode("utf-8", "surrogatepass"))
    return np.random.default_rng(seed).normal(size=16)


class PlainHashEmbedder:
    """Vectors of whole texts only, as an endpoint gives them; notes what it was asked."""

    dimensions = 16
    identity = "hash"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        self.asked.extend(texts)
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            rows = [_vector(token) for token in _TOKEN.findall(text)]
            total = np.add.reduce(rows) if rows else np.zeros(16)
            vectors[row] = total / (np.linalg.norm(total) or 1)
        return vectors


class HashEmbedder(PlainHashEmbedder):
    """The same with vectors of every token."""

    window = 60

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return np.array([match.start() for match in _TOKEN.finditer(text)], dtype=np.int64)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        found = []
        for text in texts:
            matches = list(_TOKEN.finditer(text))
            places = np.array([match.span() for match in matches], dtype=np.int64).reshape(-1, 2)
            vectors = np.array([_vector(match[0]) for match in matches], dtype=np.float32)
            found.append(TokenVectors(places[:, 0], places[:, 1], vectors.reshape(-1, 16)))
        return found
