"""The chunks an index holds, document by document, as the strategy made them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

from chunkwise.chunkers.chunk import Chunked
from chunkwise.core import Chunk, KnownSection, Span
from chunkwise.retrieval.indexes import Index
from chunkwise.retrieval.searchable import Snapshots


def index_chunks(index: Index) -> Iterator[Chunked]:
    """Every document with its chunks."""
    source, label = index.source, index.settings.strategy
    with source.snapshot() if isinstance(source, Snapshots) else nullcontext():
        for number in source.document_numbers():
            document = source.document(number)
            found = source.chunks(range(*source.chunk_range(number)))
            yield Chunked(
                document,
                [
                    Chunk(
                        document, each.position, each.start, each.end, each.tokens, each.context,
                        label, KnownSection(each.section), Span(*each.parent),
                    )
                    for each in found
                ],
            )  # fmt: skip
