"""What language models would be asked about documents, before anything is sent."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from chunkwise.models.llm.estimate import Estimate

if TYPE_CHECKING:
    from chunkwise.chunkers.contextual.contextual import ContextWriter
    from chunkwise.cli.strategy_llm import Asking
    from chunkwise.pipeline import Chunked


def foreseen(
    documents: Iterable[Chunked],
    asking: Asking | None,
    writer: ContextWriter | None,
    known: Collection[str] = (),
) -> Estimate:
    """For summaries and contexts together; `known` are fingerprints of documents that have theirs."""
    from chunkwise.retrieval.making.fingerprint import fingerprint

    found = Estimate()
    for chunked in documents:
        if known and fingerprint(chunked.document) in known:
            continue
        if asking is not None and chunked.chunks:
            found += asking.estimate(chunked.analyzed)
        if writer is not None:
            found += writer.estimate([chunked])
    return found
