"""Vectors of chunks by their own texts, those of several documents asked for together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Chunk
from chunkwise.models.embedder import Embedder
from chunkwise.retrieval.making.ground import OnDone

_TEXTS = 64
"""Texts embedded before the work done is told; more where the model says how many keep it busy."""


def texts_at_once(embedder: Embedder) -> int:
    """An endpoint answers several requests of many texts in the time of one that has a single text."""
    return max(_TEXTS, getattr(embedder, "slice_size", 1))


def own_vectors(
    documents: Sequence[Sequence[Chunk]], embedder: Embedder, on_done: OnDone | None = None
) -> Iterator[NDArray[np.float32]]:
    """One row a chunk, document by document; `on_done` gets characters read."""
    size = texts_at_once(embedder)
    for group in _groups(documents, size):
        texts = [chunk.index_text for chunks in group for chunk in chunks]
        new = [more for chunks in group for more in _new_characters(chunks)]
        vectors = np.zeros((len(texts), embedder.dimensions), np.float32)
        for first in range(0, len(texts), size):
            some = slice(first, first + size)
            vectors[some] = embedder.embed(texts[some])
            if on_done:
                on_done(sum(new[some]))
        yield from np.split(vectors, np.cumsum([len(chunks) for chunks in group])[:-1])


def _groups(documents: Sequence[Sequence[Chunk]], size: int) -> Iterator[list[Sequence[Chunk]]]:
    """Documents in their order, so many at a time that their chunks are at least `size`."""
    group: list[Sequence[Chunk]] = []
    texts = 0
    for chunks in documents:
        group.append(chunks)
        texts += len(chunks)
        if texts >= size:
            yield group
            group, texts = [], 0
    if group:
        yield group


def _new_characters(chunks: Sequence[Chunk]) -> Iterator[int]:
    """How far each goes beyond those before it: chunks may overlap."""
    told = 0
    for chunk in chunks:
        yield max(0, chunk.end - told)
        told = max(told, chunk.end)
