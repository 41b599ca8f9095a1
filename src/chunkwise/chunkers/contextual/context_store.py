"""Contexts that were paid for, by what they say something about: a chunk keeps its own when its neighbours change."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from chunkwise.chunkers.contextual.requests import section_path
from chunkwise.core import Chunk
from chunkwise.models.kept.vector_cache import VectorCache, key_of
from chunkwise.text.analysis import Analyzed

_KIND = "context"


class ContextStore:
    """Of one model, one wording and one way; lives in the cache that keeps all answers of models."""

    def __init__(
        self, identity: str, version: str, way: str, cache: VectorCache | None = None
    ) -> None:
        self._identity = identity
        self._how = (version, way)
        self._cache = cache or VectorCache()

    def key(self, analyzed: Analyzed, chunk: Chunk) -> bytes:
        """The same words in another document, or under another heading, mean something else."""
        document = analyzed.document
        # Two corpora may both have a README.md: an id tells documents of one corpus apart, the file all of them.
        file = os.path.abspath(document.source) if document.source else ""
        told = [*self._how, file, document.id, document.title, section_path(analyzed, chunk)]
        return key_of(self._identity, _KIND, chunk.text, json.dumps(told).encode())

    def get(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Those that are known."""
        found = self._cache.get(keys)
        return {key: value.decode("utf-8", "replace") for key, value in found.items()}

    def put(self, key: bytes, context: str) -> None:
        self._cache.put(self._identity, {key: context.encode("utf-8", "replace")})
