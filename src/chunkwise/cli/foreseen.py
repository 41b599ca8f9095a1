"""What language models would be asked about documents, before anything is sent."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from chunkwise.models.llm.cost import LlmEstimate

if TYPE_CHECKING:
    from chunkwise.chunkers.chunk import Chunked
    from chunkwise.chunkers.contextual.writer import ContextWriter
    from chunkwise.cli.strategy_llm import Asking


def foreseen(
    documents: Iterable[Chunked],
    asking: Asking | None,
    writer: ContextWriter | None,
    known: Collection[str] = (),
) -> LlmEstimate:
    """For summaries and contexts together; `known` are fingerprints of documents that have theirs."""
    from chunkwise.retrieval.indexing.fingerprint import document_fingerprint

    found = LlmEstimate()
    for chunked in documents:
        if known and document_fingerprint(chunked.document) in known:
            continue
        if asking is not None and chunked.chunks:
            found += asking.estimate(chunked.analyzed)
        if writer is not None:
            found += writer.estimate([chunked])
    return found
