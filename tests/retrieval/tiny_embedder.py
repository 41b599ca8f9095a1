"""A model small enough for tests of what does not depend on language: a word's vector is its hash."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.embed.embedder import Kind, TokenVectors

_WORD = re.compile(r"\w+")


@lru_cache(maxsize=10_000)
def _vector(word: str, dimensions: int) -> NDArray[np.float32]:
    seed = int.from_bytes(blake2b(word.lower().encode(), digest_size=8).digest(), "little")
    return np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)


class WholeTexts:
    """An embedder that cannot look inside a text, as those behind an endpoint."""

    def __init__(self, dimensions: int = 16, name: str = "tiny") -> None:
        self.dimensions = dimensions
        self.identity = f"{name}-{dimensions}"
        self.calls = 0
        """Texts read by the model."""

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        self.calls += len(texts)
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(text):
                row += _vector(word, self.dimensions)
            row /= np.linalg.norm(row) or 1
        return rows


class Tiny(WholeTexts):
    """One that can."""

    window = 64

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return np.array([match.start() for match in _WORD.finditer(text)], np.int64)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.calls += len(texts)
        return [self._tokens(text) for text in texts]

    def _tokens(self, text: str) -> TokenVectors:
        words = list(_WORD.finditer(text))
        start = np.array([word.start() for word in words], np.int64)
        end = np.array([word.end() for word in words], np.int64)
        rows = [_vector(word[0], self.dimensions) for word in words]
        vectors = np.array(rows, np.float32).reshape(-1, self.dimensions)
        return TokenVectors(start, end, vectors)


class TinyTokens(Tiny):
    """A token encoder: the vectors of single words, of length 1."""

    def query_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return [each.vectors for each in self.token_vectors(texts)]

    def _tokens(self, text: str) -> TokenVectors:
        found = super()._tokens(text)
        length = np.linalg.norm(found.vectors, axis=1, keepdims=True)
        return found._replace(vectors=found.vectors / np.where(length > 0, length, 1))
