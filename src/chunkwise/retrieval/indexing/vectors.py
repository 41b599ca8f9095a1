"""Vectors of chunks: late ones from one pass over their document, or own ones from each chunk's text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Chunk, Document
from chunkwise.models.embed.embedder import Embedder, TokenEmbedder
from chunkwise.models.embed.late import atom_sums_of_many, span_vectors
from chunkwise.retrieval.indexing.features import OnDone
from chunkwise.text.analyzed import Analyzed


def late_vectors(
    embedder: TokenEmbedder,
    text: str,
    starts: NDArray[np.int64],
    sums: NDArray[np.float32],
    spans: NDArray[np.int64],
    contexts: Sequence[str],
) -> NDArray[np.float32]:
    """The mean direction of each chunk's tokens, those of its context among them."""
    length = len(text)
    spans = _with_space(text, starts, spans)
    if not any(contexts):
        return span_vectors(starts, length, sums, spans)
    different = [context for context in dict.fromkeys(contexts) if context]
    beside = dict(zip(different, _sums(embedder, different), strict=True))
    total = _span_sums(starts, length, sums, spans)
    for row, context in enumerate(contexts):
        if context:
            total[row] += beside[context]
    size = np.linalg.norm(total, axis=1, keepdims=True)
    return (total / np.where(size > 0, size, 1)).astype(np.float32)


def _with_space(
    text: str, starts: NDArray[np.int64], spans: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Spans up to the edges of their atoms where only space lies between: all of the atom's tokens are inside."""
    if not len(spans):
        return spans
    first = starts[starts.searchsorted(spans[:, 0], "right") - 1]
    last = np.append(starts, len(text))[starts.searchsorted(spans[:, 1])]
    wide = zip(first.tolist(), *spans.T.tolist(), last.tolist(), strict=True)
    return np.array(
        [
            (
                low if text[low:start].isspace() else start,
                high if text[end:high].isspace() else end,
            )
            for low, start, end, high in wide
        ],
        np.int64,
    )


def _sums(embedder: TokenEmbedder, contexts: Sequence[str]) -> list[NDArray[np.float64]]:
    analyzed = [Analyzed(Document("context", context)) for context in contexts]
    sums = atom_sums_of_many(embedder, [(each, each.atoms()) for each in analyzed])
    return [each.sum(axis=0, dtype=np.float64) for each in sums]


def _span_sums(
    starts: NDArray[np.int64], length: int, sums: NDArray[np.float32], spans: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The sum of each span's tokens; an atom that a span cuts counts by the share of its characters."""
    bounds = np.append(starts, length)
    before = np.zeros((len(bounds), sums.shape[1]))
    np.cumsum(sums, axis=0, dtype=np.float64, out=before[1:])
    atom = np.minimum(starts.searchsorted(spans, "right") - 1, len(starts) - 1)
    share = (spans - bounds[atom]) / np.diff(bounds)[atom]
    low, high = (
        before[atom[:, side]] + sums[atom[:, side]] * share[:, side, None] for side in (0, 1)
    )
    return high - low


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
