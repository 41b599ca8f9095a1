"""Haystack: our strategies and an index as components of a pipeline, which is written to YAML and read back."""

import asyncio
from collections.abc import Mapping
from typing import Any

from chunkwise.base.errors import InvalidParameter, MissingExtra

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise MissingExtra("chunkwise.haystack", "haystack") from error

from chunkwise.base.allow_hosts_and_code_from_files import check_allowed
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk import DEFAULT_STRATEGY, chunk_text
from chunkwise.core import Chunk, Hit
from chunkwise.integrations import (
    IndexLike,
    IndexSearch,
    chunk_metadata,
    conditions_in,
    hit_id,
    hit_metadata,
    index_place,
    joined,
)
from chunkwise.options import SearchOptions
from chunkwise.retrieval.metadata_conditions import Clause

__all__ = ["ChunkwiseRetriever", "ChunkwiseSplitter"]

_IN_A_FILE = "the pipeline"


@component
class ChunkwiseSplitter:
    """Any strategy as a Haystack component: each document out is an exact span of one that came in.

    Their `meta` is that of the document, with `source_id`, `split_id`, `split_idx_start` and `page_number` as
    Haystack's own splitter has them, and `split_idx_end`.
    """

    def __init__(self, strategy: str = DEFAULT_STRATEGY, format: str = "auto") -> None:
        self._made = get_strategy(strategy)
        self.strategy = strategy
        self.format = format

    def to_dict(self) -> dict[str, Any]:
        """For the file of a pipeline."""
        # A plain text: the mark of one that was read from a file stays here.
        written: dict[str, Any] = default_to_dict(
            self, strategy=str(self.strategy), format=self.format
        )
        return written

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "ChunkwiseSplitter":
        """From the file of a pipeline, which names what is installed and no code of its own."""
        made: ChunkwiseSplitter = default_from_dict(cls, _from_file(data, "strategy"))
        return made

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """The chunks of documents, in order; one without text has none."""
        return {"documents": [made for document in documents for made in self._split(document)]}

    def _split(self, document: Document) -> list[Document]:
        text = document.content or ""
        chunks = chunk_text(text, self._made, format=self.format, id=document.id)
        return [
            Document(content=chunk.text, meta={**document.meta, **_meta(document, chunk, text)})
            for chunk in chunks
        ]


def _meta(document: Document, chunk: Chunk, text: str) -> dict[str, Any]:
    own = {
        name: value for name, value in chunk_metadata(chunk).items() if name not in document.meta
    }
    return {
        **own,
        "source_id": document.id,
        "split_id": chunk.index,
        "split_idx_start": chunk.start,
        "split_idx_end": chunk.end,
        "page_number": text.count("\f", 0, chunk.start) + 1,
    }


@component
class ChunkwiseRetriever:
    """An index as a Haystack component: a question in, the best places out, within `top_k` hits and `budget` tokens."""

    def __init__(
        self,
        index: IndexLike,
        top_k: int | None = None,
        filters: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """`options` are those of `chunkwise.options.SearchOptions`."""
        self.index = index
        self.filters = filters
        asked = SearchOptions.read(options).override(k=top_k, where=_conditions(filters))
        self._search = IndexSearch(index, asked)

    def warm_up(self) -> None:
        """Opens the index, so that a wrong place is an error before the first question."""
        self._search.opened  # noqa: B018

    def to_dict(self) -> dict[str, Any]:
        """For the file of a pipeline; an index is named by its place."""
        place = index_place(self.index)
        if place is None:
            raise InvalidParameter(
                "cannot serialize a retriever of an in-memory index; build the index with "
                "chunkwise.index(…, into='kb') and pass 'kb'"
            )
        options = self._search.options.changed()
        options.pop("where", None)
        written: dict[str, Any] = default_to_dict(
            self, index=place, top_k=options.pop("k", None), filters=self.filters, **options
        )
        return written

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "ChunkwiseRetriever":
        """From the file of a pipeline, which names what is installed and no code of its own."""
        made: ChunkwiseRetriever = default_from_dict(
            cls, _from_file(data, "retriever", "reranker", "tokenizer")
        )
        return made

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        top_k: int | None = None,
        filters: dict[str, Any] | None = None,
        budget: int | None = None,
    ) -> dict[str, list[Document]]:
        """The hits of one question; what is given here holds for it alone."""
        changes = {"k": top_k, "budget": budget, "where": _conditions(filters) or None}
        return {"documents": [_found(hit) for hit in self._search.hits(query, **changes)]}

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query: str,
        top_k: int | None = None,
        filters: dict[str, Any] | None = None,
        budget: int | None = None,
    ) -> dict[str, list[Document]]:
        """The same while other work goes on."""
        result: dict[str, list[Document]] = await asyncio.to_thread(
            self.run, query, top_k, filters, budget
        )
        return result


def _found(hit: Hit) -> Document:
    meta = hit_metadata(hit)
    meta |= {"source_id": hit.doc_id, "split_idx_start": hit.start, "split_idx_end": hit.end}
    return Document(id=hit_id(hit), content=hit.text, meta=meta, score=float(hit.score))


def _from_file(data: dict[str, Any], *names: str) -> dict[str, Any]:
    """The same; names of parts in it are what a file says."""
    given = data.get("init_parameters", {})
    check_allowed([given.get(name) for name in names], _IN_A_FILE)
    return data


def _conditions(filters: Mapping[str, Any] | None) -> tuple[Clause, ...]:
    """Of Haystack's filters: `{"field": "meta.year", "operator": ">=", "value": 2020}`."""
    if not filters:
        return ()
    if "conditions" in filters:
        parts = [_conditions(part) for part in filters["conditions"]]
        by = str(filters.get("operator", "")).lower()
        # Haystack's NOT says that not all of them hold; ours that none does.
        if by == "not":
            return joined([joined(parts, "and")], "not")
        return joined(parts, by)
    missing = [name for name in ("field", "operator", "value") if name not in filters]
    if missing:
        raise InvalidParameter(
            f"a filter has no {missing[0]!r}; expected "
            '{"field": "meta.year", "operator": ">=", "value": 2020}'
        )
    key = str(filters["field"]).removeprefix("meta.")
    return conditions_in([(key, str(filters["operator"]), filters["value"])])
