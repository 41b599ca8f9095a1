"""Which documents a question names, in words a reader understands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chunkwise.base.wording import percent
from chunkwise.models.embed.embedder import Embedder
from chunkwise.options import SearchOptions
from chunkwise.retrieval.errors import reporting_damage
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.retrievers import MultiscaleRetriever, default_retriever, get_retriever
from chunkwise.retrieval.search.search import chunk_step
from chunkwise.retrieval.searchable import QueryBatch, Searchable


@dataclass(frozen=True, slots=True)
class NamedTitle:
    """A document that a question names."""

    doc_id: str
    title: str
    probability: float
    phrase: str
    """The words of the question that name it: they score no passages of it."""


def naming_retriever(source: Searchable, options: SearchOptions) -> MultiscaleRetriever | None:
    """What finds passages of named documents in this search; None: nothing does."""
    name = options.retriever or default_retriever(
        source,
        budget=options.budget,
        needs_chunks=bool(chunk_step(options)),
        only=Filter.of(options),
    )
    retriever = get_retriever(name)
    if not isinstance(retriever, MultiscaleRetriever) or retriever.graph or options.naming == "off":
        return None
    return retriever


def named_documents(
    source: Searchable,
    question: str,
    options: SearchOptions,
    embedder: Callable[[], Embedder] | None = None,
) -> list[NamedTitle]:
    """The documents that have a share of the budget, by phrase, the likeliest first."""
    retriever = naming_retriever(source, options)
    if retriever is None:
        return []
    batch = QueryBatch([question], source.settings, embedder)
    with source.snapshot(), reporting_damage(source):
        (naming,) = retriever.namings(source, batch, Filter.of(options))
        if naming is None:
            return []
        shown = [(row, source.document(row.document)) for row in naming.documents]
    return [
        NamedTitle(
            document.id, document.title or document.id, row.probability, batch.texts[0][row.start : row.end]
        )
        for row, document in shown
    ]  # fmt: skip


def naming_told(documents: Sequence[NamedTitle]) -> str:
    """One line; empty if nothing is named."""
    if not documents:
        return ""
    titles = ", ".join(
        f"{document.title} ({percent(document.probability)})" for document in documents
    )
    phrases = dict.fromkeys(repr(document.phrase) for document in documents)
    return f"this question names {titles}; {', '.join(phrases)} not used to find passages"
