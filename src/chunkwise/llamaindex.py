"""LlamaIndex: our strategies as a node parser, an index as a retriever, our models as embedding and postprocessor."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import Any

from chunkwise.base.errors import InvalidParameter, MissingExtra
from chunkwise.options import SearchOptions

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.node_parser.interface import NodeParser
    from llama_index.core.node_parser.node_utils import default_id_func
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import (
        BaseNode,
        MetadataMode,
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )
    from llama_index.core.vector_stores.types import MetadataFilters
except ImportError as error:
    raise MissingExtra("chunkwise.llamaindex", "llamaindex") from error

from chunkwise.chunkers import Strategy
from chunkwise.chunkers.chunk import DEFAULT_STRATEGY, StrategyLike, chunk_text
from chunkwise.core import Chunk, Hit, Span
from chunkwise.integrations import (
    IndexLike,
    IndexSearch,
    best_texts,
    chunk_metadata,
    conditions_in,
    hit_id,
    hit_metadata,
    joined,
    strategy_of,
)
from chunkwise.models import DEFAULT, get_embedder, get_reranker
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.embed.embedder import Kind as TextKind
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.retrieval.metadata_conditions import Clause, Where

__all__ = ["ChunkwiseEmbedding", "ChunkwiseNodeParser", "ChunkwiseReranker", "ChunkwiseRetriever"]

_NODE_IDS = uuid.UUID("7f0a1d0e-8c56-5a53-9a6b-2f9d1f0b6c11")
_FOR_THE_MODEL = ("section", "context")
_FOR_THE_VECTOR = ("context",)
"""What chunkwise tells of a chunk that is read with its text; the rest is for programs."""


class ChunkwiseNodeParser(NodeParser):
    """Any strategy as a LlamaIndex node parser: exact offsets, and relations that hold.

    Nodes of one document follow each other by `previous` and `next`. A strategy with parents (`parent_child`) gives
    these as nodes of their own, before their children, with `child` and `parent` between them. Ids are the same
    whenever the same document is cut in the same way, unless `id_func` makes others.
    """

    strategy: str = Field(default=DEFAULT_STRATEGY, description="name(parameter=value, …)")
    format: str = Field(default="auto", description="text, markdown or auto")

    _made: Strategy = PrivateAttr()

    def __init__(
        self,
        strategy: StrategyLike = DEFAULT_STRATEGY,
        *,
        chunk_size: int | None = None,
        chunk_overlap: int | None = None,
        **fields: Any,
    ) -> None:
        made = strategy_of(strategy, {"chunk_size": chunk_size, "chunk_overlap": chunk_overlap})
        if isinstance(fields.get("id_func"), dict):
            del fields["id_func"]  # `to_dict` has its name alone
        super().__init__(strategy=made.label, **fields)
        self._made = made

    @classmethod
    def class_name(cls) -> str:
        return "ChunkwiseNodeParser"

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        return [made for node in nodes for made in self._nodes_of(node)]

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Any]
    ) -> list[BaseNode]:
        # Places and relations are known already; looking for texts once more would only misplace repeated ones.
        return nodes

    def _nodes_of(self, source: BaseNode) -> list[BaseNode]:
        text = source.get_content(metadata_mode=MetadataMode.NONE)
        chunks = chunk_text(text, self._made, format=self.format, id=source.node_id)
        build = _NodeBuilder(source, self)
        leaves = [build.node(chunk.span, number, chunk) for number, chunk in enumerate(chunks)]
        parents: list[TextNode] = []
        held = [(chunk, leaf) for chunk, leaf in zip(chunks, leaves, strict=True) if chunk.parent]
        for span, group in groupby(held, lambda item: item[0].parent):
            assert span is not None
            parent = build.node(span, len(leaves) + len(parents), None)
            parents.append(parent)
            children = [leaf for _, leaf in group]
            parent.relationships[NodeRelationship.CHILD] = [_related(child) for child in children]
            for child in children:
                child.relationships[NodeRelationship.PARENT] = _related(parent)
        if self.include_prev_next_rel:
            _chain(parents)
            _chain(leaf for chunk, leaf in zip(chunks, leaves, strict=True) if not chunk.level)
        return [*parents, *leaves]


class _NodeBuilder:
    """Nodes of one document."""

    def __init__(self, source: BaseNode, parser: ChunkwiseNodeParser) -> None:
        self._source = source
        self._parser = parser
        self._text = source.get_content(metadata_mode=MetadataMode.NONE)
        # What was cut before is cut further: places are those in the document that both come from.
        whole = source.source_node
        self._source_info = whole or source.as_related_node_info()
        start = getattr(source, "start_char_idx", None)
        self._offset: int | None = start if whole is not None else 0

    def node(self, span: Span, number: int, chunk: Chunk | None) -> TextNode:
        source, parser = self._source, self._parser
        own = chunk_metadata(chunk) if chunk is not None else {}
        given = source.metadata if parser.include_metadata else {}
        metadata = {**own, **given}
        hidden = [name for name in own if name not in given]
        is_place = self._offset is not None and not (chunk is not None and chunk.level)
        offset = self._offset or 0
        return TextNode(
            id_=self._id(span, number, chunk),
            text=chunk.text if chunk is not None else self._text[span.start : span.end],
            metadata=metadata,
            start_char_idx=offset + span.start if is_place else None,
            end_char_idx=offset + span.end if is_place else None,
            excluded_embed_metadata_keys=[
                *source.excluded_embed_metadata_keys,
                *(name for name in hidden if name not in _FOR_THE_VECTOR),
            ],
            excluded_llm_metadata_keys=[
                *source.excluded_llm_metadata_keys,
                *(name for name in hidden if name not in _FOR_THE_MODEL),
            ],
            relationships={NodeRelationship.SOURCE: self._source_info},
            **_templates(source),
        )

    def _id(self, span: Span, number: int, chunk: Chunk | None) -> str:
        own = self._parser.id_func
        if own is not None and own is not default_id_func:
            made: str = own(number, self._source)
            return made
        kind = "parent" if chunk is None else f"level {chunk.level} {chunk.index}"
        # A form that every store takes: some want nothing but UUIDs.
        name = f"{self._source.node_id}\n{self._parser.strategy}\n{kind}\n{span.start}-{span.end}"
        return str(uuid.uuid5(_NODE_IDS, name.encode("utf-8", "backslashreplace").decode()))


_TEMPLATES = ("metadata_separator", "metadata_template", "text_template")


def _templates(source: BaseNode) -> dict[str, str]:
    """How metadata and text of the document are put together."""
    return {name: getattr(source, name) for name in _TEMPLATES if hasattr(source, name)}


def _chain(nodes: Iterable[TextNode]) -> None:
    for before, behind in pairwise(nodes):
        before.relationships[NodeRelationship.NEXT] = _related(behind)
        behind.relationships[NodeRelationship.PREVIOUS] = _related(before)


def _related(node: TextNode) -> RelatedNodeInfo:
    """Without metadata, which every node would carry three times over."""
    return RelatedNodeInfo(node_id=node.node_id, node_type=node.get_type(), hash=node.hash)


class ChunkwiseRetriever(BaseRetriever):
    """An index as a LlamaIndex retriever: its hits as nodes with exact offsets and scores."""

    def __init__(
        self,
        index: IndexLike,
        *,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | Where | None = None,
        callback_manager: CallbackManager | None = None,
        **options: Any,
    ) -> None:
        """`options` are those of `chunkwise.options.SearchOptions`."""
        asked = SearchOptions.read(options).override(k=similarity_top_k, where=_where(filters))
        self._search = IndexSearch(index, asked)
        self._search.opened  # noqa: B018 - a wrong place is an error now, not with the first question
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_found(hit) for hit in self._search.hits(query_bundle.query_str)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _found(hit: Hit) -> NodeWithScore:
    metadata = hit_metadata(hit)
    hidden = [
        name for name in metadata if name not in (*hit.metadata, "source", "title", "section")
    ]
    node = TextNode(
        id_=hit_id(hit),
        text=hit.text,
        metadata=metadata,
        start_char_idx=None if hit.level else hit.start,
        end_char_idx=None if hit.level else hit.end,
        excluded_embed_metadata_keys=hidden,
        excluded_llm_metadata_keys=hidden,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=hit.doc_id)},
    )
    return NodeWithScore(node=node, score=float(hit.score))


_COMPARISONS = {"==": "=", "nin": "not in", "contains": "=", "any": "in"}
"""LlamaIndex's signs, where they differ from ours; a list in the metadata is what it contains."""


def _where(given: MetadataFilters | Where | None) -> Where | None:
    return _conditions(given) if isinstance(given, MetadataFilters) else given


def _conditions(filters: MetadataFilters) -> tuple[Clause, ...]:
    condition = getattr(filters.condition, "value", filters.condition) or "and"
    parts: list[tuple[Clause, ...]] = []
    for each in filters.filters:
        if isinstance(each, MetadataFilters):
            parts.append(_conditions(each))
        else:
            sign = each.operator.value
            parts.append(conditions_in([(each.key, _COMPARISONS.get(sign, sign), each.value)]))
    return joined(parts, condition)


class ChunkwiseEmbedding(BaseEmbedding):
    """An embedder as LlamaIndex's embedding, by its name ("minilm", "openai:NAME", an address) or an object."""

    _embedder: str | Embedder = PrivateAttr()
    _made: Embedder | None = PrivateAttr(default=None)

    def __init__(self, embedder: str | Embedder = DEFAULT, **fields: Any) -> None:
        name = embedder if isinstance(embedder, str) else embedder.identity
        super().__init__(model_name=fields.pop("model_name", name), **fields)
        self._embedder = embedder

    @classmethod
    def class_name(cls) -> str:
        return "ChunkwiseEmbedding"

    def _embed(self, texts: list[str], kind: TextKind) -> list[list[float]]:
        if self._made is None:
            self._made = get_embedder(self._embedder)
        result: list[list[float]] = self._made.embed(texts, kind).tolist() if texts else []
        return result

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embed([query], "query")[0]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embed([text], "passage")[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embed(texts, "passage")

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


class ChunkwiseReranker(BaseNodePostprocessor):
    """A reranker as LlamaIndex's node postprocessor: the `top_n` best nodes with its scores."""

    top_n: int | None = Field(default=None, description="maximum number of nodes; None: all")

    _reranker: str | Reranker = PrivateAttr()
    _made: Reranker | None = PrivateAttr(default=None)

    def __init__(self, reranker: str | Reranker = "local", **fields: Any) -> None:
        super().__init__(**fields)
        self._reranker = reranker

    @classmethod
    def class_name(cls) -> str:
        return "ChunkwiseReranker"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise InvalidParameter("a reranker needs the question; pass query_str")
        if self._made is None:
            self._made = get_reranker(self._reranker)
        texts = [node.node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        scores = [node.score for node in nodes]
        result = best_texts(self._made, query_bundle.query_str, texts, scores)[: self.top_n]
        return [NodeWithScore(node=nodes[number].node, score=score) for number, score in result]
