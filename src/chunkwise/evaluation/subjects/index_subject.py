"""An index as the thing that is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunkwise.base import spec
from chunkwise.core import Hit, OnProgress, Query
from chunkwise.evaluation.results import Json
from chunkwise.evaluation.subjects.subject import Subject
from chunkwise.metrics.citations.position import Position
from chunkwise.metrics.spans.tables import Chunking
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.retrieval.indexes import Index
from chunkwise.retrieval.retrievers import Retriever, get_retriever
from chunkwise.retrieval.search.request import DEFAULT_BUDGET, SearchRequest
from chunkwise.retrieval.search.search import default_retriever

_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Searching:
    """How an index is asked, as `Index.search` takes it."""

    retriever: str | Retriever | None = None
    neighbours: int = 0
    mmr: float | None = None
    rerank: Reranker | None = None


def index_subject(
    index: Index, searching: Searching, budget: int | None, position: Position | None = None
) -> Subject:
    """Everything the index holds, asked in one way; `position` is of given chunks that it was made of."""
    name, retriever = _retriever(index, searching, budget)
    steps = SearchRequest(None, None, searching.neighbours, searching.mmr, searching.rerank)

    def ask(
        queries: Sequence[Query],
        *,
        k: int | None,
        budget: int | None,
        advance: OnProgress | None = None,
    ) -> list[list[Hit]]:
        found: list[list[Hit]] = []
        for low in range(0, len(queries), _AT_ONCE):
            block = queries[low : low + _AT_ONCE]
            found += index.search(
                block, k=k, budget=budget, retriever=retriever,
                neighbours=searching.neighbours, mmr=searching.mmr, rerank=searching.rerank,
            )  # fmt: skip
            if advance:
                advance(len(block), f"{len(found):,} of {len(queries):,} questions")
        return found

    settings = index.settings
    configuration: dict[str, Json] = {
        "strategy": settings.strategy,
        "model": settings.model,
        "vectors": settings.vectors,
        "context": settings.context,
        "language": settings.language,
        "tokenizer": settings.tokenizer,
        "retriever": name,
        "neighbours": searching.neighbours,
        "mmr": searching.mmr,
        "rerank": searching.rerank.identity if searching.rerank else None,
    }
    documents = [index.source.document(number) for number in index.source.document_numbers()]
    # Steps behind the ranking look at the hits together: more hits would change the first ones.
    deeper = not steps.needs_chunks
    return Subject(documents, ask, chunking_of(index), deeper, configuration, index, position)


def chunking_of(index: Index) -> Chunking:
    """All chunks of an index; documents in the order of their numbers."""
    return Chunking(*index.source.chunk_table())


def is_for_budgets(retriever: Retriever) -> bool:
    """Whether it hands out spans that fill a budget instead of chunks."""
    return not hasattr(retriever, "rank")


def usual_budget(searching: Searching, budget: int | None) -> int | None:
    """The budget of a search: the one given, or the usual one of a retriever that needs one."""
    if budget is None and searching.retriever is not None:
        chosen = get_retriever(searching.retriever)
        return DEFAULT_BUDGET if is_for_budgets(chosen) else None
    return budget


def _retriever(index: Index, searching: Searching, budget: int | None) -> tuple[str, Retriever]:
    wanted = SearchRequest(None, budget, searching.neighbours, searching.mmr, searching.rerank)
    given = searching.retriever or default_retriever(index.source, wanted)
    made = get_retriever(given)
    name = spec.parse(given)[0] if isinstance(given, str) else type(given).__name__
    return spec.describe(name, made), made
