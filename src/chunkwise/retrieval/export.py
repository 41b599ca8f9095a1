"""What an index holds, handed out again: its chunks, their vectors, and a file of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted
from chunkwise.chunkers.chunk import Chunked
from chunkwise.chunkers.write_chunks import chunk_file
from chunkwise.core import Chunk, Document, KnownSection, Span
from chunkwise.retrieval.errors import no_vectors_error, reporting_damage
from chunkwise.retrieval.searchable import FoundChunk, Searchable
from chunkwise.text.tokens.tokenizers import get_tokenizer


class ChunkVectors(NamedTuple):
    """Vectors with their chunk ids, in the same order."""

    ids: list[str]
    vectors: NDArray[np.float32]
    """One unit-length row per chunk."""

    def __repr__(self) -> str:
        return (
            f"<ChunkVectors {counted(len(self.ids), 'chunk')}, {self.vectors.shape[1]} dimensions>"
        )


def chunked_documents(source: Searchable) -> Iterator[Chunked]:
    """Every document with its chunks, summaries behind the others."""
    with _reading(source):
        for number in source.document_numbers():
            yield _chunked(source, number)


def all_vectors(source: Searchable) -> ChunkVectors:
    """Of every chunk of the index, document by document."""
    _check_vectors(source)
    ids: list[str] = []
    blocks = [np.zeros((0, source.settings.dimensions), np.float32)]
    with _reading(source):
        for number in source.document_numbers():
            low, high = source.chunk_range(number)
            id = source.document(number).id
            ids += [f"{id}::{position}" for position in range(high - low)]
            blocks.append(source.chunk_vectors(range(low, high)))
    return ChunkVectors(ids, np.concatenate(blocks))


def export_chunks(source: Searchable, output: Path, *, with_vectors: bool | None) -> int:
    """A file of all chunks; the number of them. Read document by document, whatever the size of the index.

    `with_vectors`: None: where the index has them.
    """
    if with_vectors is None:
        with_vectors = source.settings.vectors != "none"
    if with_vectors:
        _check_vectors(source)
    written = 0
    with chunk_file(output, with_vectors=with_vectors) as write:
        for chunks, vectors in chunks_with_vectors(source, with_vectors=with_vectors):
            write(chunks, vectors)
            written += len(chunks)
    return written


def chunks_with_vectors(
    source: Searchable, *, with_vectors: bool
) -> Iterator[tuple[Sequence[Chunk], NDArray[np.float32] | None]]:
    """The chunks of a document and a row for each, document by document."""
    with _reading(source):
        for number in source.document_numbers():
            numbers = range(*source.chunk_range(number))
            vectors = source.chunk_vectors(numbers) if with_vectors else None
            yield _chunked(source, number).chunks, vectors


@contextmanager
def _reading(source: Searchable) -> Iterator[None]:
    """Everything within it is of one state, and damage is told as such."""
    with source.snapshot(), reporting_damage(source):
        yield


def _chunked(source: Searchable, number: int) -> Chunked:
    """Sizes are in tokens of the index, as its budgets are."""
    document, label = source.document(number), source.settings.strategy
    count = cache(get_tokenizer(source.settings.tokenizer).count)
    result = source.chunks(range(*source.chunk_range(number)))
    return Chunked(document, [_chunk(row, document, label, count(row.context)) for row in result])


def _chunk(chunk: FoundChunk, document: Document, label: str, context_tokens: int) -> Chunk:
    parent = Span(*chunk.parent)
    return Chunk(
        document, chunk.position, chunk.start, chunk.end, chunk.tokens, chunk.context, label,
        KnownSection(chunk.section), None if parent == (chunk.start, chunk.end) else parent,
        chunk.summary, chunk.spans, chunk.level, context_tokens,
    )  # fmt: skip


def _check_vectors(source: Searchable) -> None:
    if source.settings.vectors == "none":
        raise no_vectors_error()
