"""An embedder that never reads the same text twice, in this run or a later one."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.models.embed.embedder import Embedder, Kind, TokenEmbedder, TokenVectors
from chunkwise.models.kept.vector_cache import VectorCache, key_of

_FIRST = 16
_MOST = 1024
_SECONDS = 1.0
"""About how long texts are read before their vectors are put on disk: what a killed run loses at most."""


class CachedEmbedder:
    """Looks into the cache first; what is new is kept as it comes."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self.embedder = embedder
        self.cache = cache

    @property
    def identity(self) -> str:
        return self.embedder.identity

    @property
    def slice_size(self) -> int:
        """How many texts keep the embedder busy: one that sends requests says so."""
        size: int = getattr(self.embedder, "slice_size", 1)
        return size

    @cached_property
    def dimensions(self) -> int:
        """Kept as well: an endpoint has to be asked for it."""
        key = key_of(self.identity, "dimensions", "")
        kept = self.cache.get([key]).get(key)
        if kept is not None:
            return int.from_bytes(kept, "little")
        dimensions = self.embedder.dimensions
        self.cache.put(self.identity, {key: dimensions.to_bytes(8, "little")})
        return dimensions

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        identity = self.identity
        keys = [key_of(identity, kind, text) for text in texts]
        known = {
            key: np.frombuffer(value, dtype="<f4")
            for key, value in self.cache.get(list(dict.fromkeys(keys))).items()
        }
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for some, fresh in self._fresh(missing, kind):
            rows = dict(zip(some, fresh.astype("<f4"), strict=True))
            self._check_length(fresh.shape[1])
            # What is no vector is for the caller to judge, and not for ever.
            sound = {key: row.tobytes() for key, row in rows.items() if np.isfinite(row).all()}
            self.cache.put(identity, sound)
            known.update(rows)
        if left := sum(key not in known for key in missing):
            raise ChunkwiseError(f"{identity} gave no vector for {left} of {len(missing)} texts")
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, key in enumerate(keys):
            self._check_length(len(known[key]))
            vectors[row] = known[key]
        return vectors

    def _fresh(
        self, missing: Mapping[bytes, str], kind: Kind
    ) -> Iterator[tuple[Sequence[bytes], NDArray[np.float32]]]:
        """Keys and their vectors as they come; an embedder that hands out batches itself loses none to a refusal."""
        keys, texts = list(missing), list(missing.values())
        embed_each = getattr(self.embedder, "embed_each", None)
        if embed_each is None:
            for some in self._slices(keys):
                yield some, self.embedder.embed([missing[key] for key in some], kind)
        elif texts:
            for at, rows in embed_each(texts, kind):
                yield keys[at : at + len(rows)], rows

    def _check_length(self, length: int) -> None:
        if length != self.dimensions:
            raise ChunkwiseError(
                f"{self.identity} gives vectors of {length} dimensions, {self.dimensions} are known of it: "
                "the model of this name has changed; forget the old vectors with "
                f"chunkwise cache clear --model {shlex.quote(self.identity)}"
            )

    def _slices(self, keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
        """As many at once as take about a second, or keep the embedder busy."""
        least = self.slice_size
        first, size = 0, max(least, _FIRST)
        while first < len(keys):
            began = time.monotonic()
            yield keys[first : first + size]
            first += size
            took = time.monotonic() - began
            size = max(least, min(_MOST, size * 2) if took < _SECONDS else size // 2)


class CachedTokenEmbedder(CachedEmbedder):
    """The same for an embedder that can look inside a text; late sums are kept in the cache, too."""

    embedder: TokenEmbedder

    def __init__(self, embedder: TokenEmbedder, cache: VectorCache) -> None:
        super().__init__(embedder, cache)

    @property
    def window(self) -> int:
        return self.embedder.window

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return self.embedder.token_starts(text)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        return self.embedder.token_vectors(texts)


def cached(embedder: Embedder, cache: VectorCache) -> CachedEmbedder:
    """Wrapped so that it still is, or is not, a `TokenEmbedder`."""
    # Not isinstance: that would ask for `dimensions`, and an endpoint would send a request.
    if hasattr(type(embedder), "token_vectors"):
        return CachedTokenEmbedder(cast(TokenEmbedder, embedder), cache)
    return CachedEmbedder(embedder, cache)
