"""The retrievers there are, by the names users give them."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from chunkwise.base.registry import Registry
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.retrievers.query_batch import QueryBatch
from chunkwise.retrieval.searchable import CandidateSpan, Searchable

registry = Registry(
    "retriever",
    "chunkwise.retrievers",
    {
        "bm25": "chunkwise.retrieval.retrievers.chunk_retrievers:Bm25Retriever",
        "dense": "chunkwise.retrieval.retrievers.chunk_retrievers:DenseRetriever",
        "hybrid": "chunkwise.retrieval.retrievers.chunk_retrievers:HybridRetriever",
        "multiscale": "chunkwise.retrieval.retrievers.multiscale:MultiscaleRetriever",
    },
    needs=("rank or spans",),
    example="hybrid(dense=1, fusion='rrf')",
)


@runtime_checkable
class ChunkRetriever(Protocol):
    """Ranks the chunks of an index; what is made of them is not its business."""

    def rank(
        self, source: Searchable, questions: QueryBatch, depth: int, only: Filter
    ) -> list[Ranking]:
        """The best chunks for every question, `depth` at most; a pure function of its arguments."""


@runtime_checkable
class SpanRetriever(Protocol):
    """Hands out spans of any length that fill a budget of tokens, whatever the chunks are."""

    def spans(
        self, source: Searchable, questions: QueryBatch, budget: int, only: Filter
    ) -> list[list[CandidateSpan]]:
        """For every question spans that do not overlap, in the order they are to be shown."""


Retriever = ChunkRetriever | SpanRetriever


def get_retriever(retriever: str | Retriever) -> Retriever:
    """A retriever from "name(parameter=value)", `./file.py:Class`, or an object with `rank` or `spans`."""
    made: Retriever = (
        registry.make(retriever) if isinstance(retriever, str) else registry.checked(retriever)
    )
    return made
