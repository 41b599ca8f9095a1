"""What all chunkings of a sweep share, made once: analyses, terms, atoms, what the model read, the questions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers import Strategy, registry
from chunkwise.core import Advance, Chunk, Document, Query
from chunkwise.errors import InvalidParameter
from chunkwise.evaluation.results import Json
from chunkwise.experiments.configuration import Kind
from chunkwise.experiments.running.known_cut import KnownCut
from chunkwise.experiments.running.shared_index import SharedIndex
from chunkwise.metrics.cost import chunk_cost
from chunkwise.metrics.cuts.boundary_issues import KINDS, count_issues
from chunkwise.metrics.spans.tables import Gold
from chunkwise.models.embedder import Embedder, TokenEmbedder
from chunkwise.retrieval.embedded.encode import encode, encode_chunks
from chunkwise.retrieval.embedded.layout import OF_CHUNKING, Arrays, left_out
from chunkwise.retrieval.embedded.memory import MemorySink
from chunkwise.retrieval.embedded.sink import Collector
from chunkwise.retrieval.making.build import built
from chunkwise.retrieval.making.code import code_of
from chunkwise.retrieval.making.ground import Ground, read_by_model
from chunkwise.retrieval.making.lazy_embedder import LazyEmbedder
from chunkwise.retrieval.settings import Context, Settings
from chunkwise.text.analysis import Analyzed
from chunkwise.text.language import language_of
from chunkwise.text.terms import query_terms
from chunkwise.text.tokenizers import DEFAULT

Sums = Sequence[NDArray[np.float32]]


class Workshop:
    """Documents and questions, ready for any chunking; each thing is made when a configuration first wants it."""

    def __init__(
        self,
        documents: Sequence[Document],
        queries: Sequence[Query],
        model: LazyEmbedder | None,
        sums: Sums | None = None,
    ) -> None:
        """`sums` is what another workshop of these documents had the model read."""
        self.documents = tuple(documents)
        self.queries = tuple(queries)
        self.model = model
        settings = Settings("", "")
        self.grounds = [Ground(Analyzed(document), settings) for document in self.documents]
        for ground, each in zip(self.grounds, sums or (), strict=False):
            ground.sums = each
        self._base: dict[Kind, Arrays] = {}
        self._refused: Exception | None = None

    @cached_property
    def gold(self) -> Gold:
        """The references of the questions."""
        return Gold.of(self.queries, {each.id: at for at, each in enumerate(self.documents)})

    @cached_property
    def cut(self) -> KnownCut:
        """Where a number of tokens ends."""
        return KnownCut([ground.measure for ground in self.grounds])

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Those the documents are read as."""
        return tuple(sorted({ground.terms.language for ground in self.grounds}))

    @cached_property
    def _told(self) -> list[str]:
        """The language of each document."""
        return [language_of(document) for document in self.documents]

    @cached_property
    def terms(self) -> dict[str, NDArray[np.uint64]]:
        """Of each question, by its text."""
        return {query.text: query_terms(query.text, self.languages) for query in self.queries}

    def read(self, advance: Advance | None = None) -> list[NDArray[np.float32]]:
        """Has the model read every document, once; what it made of them."""
        if self._refused is not None:
            raise self._refused

        def told(characters: int) -> None:
            if advance is not None:
                advance(characters, "one pass serves every chunking")

        if any(ground.sums is None for ground in self.grounds):
            try:
                read_by_model(self.grounds, self._token_embedder, told)
            except Exception as error:  # kept: no chunking need wait for it again
                self._refused = error
                raise
        return [ground.sums for ground in self.grounds if ground.sums is not None]

    def chunks_of(self, strategy: Strategy) -> list[list[Chunk]]:
        """Of each document."""
        return [list(strategy.chunks(ground.analyzed)) for ground in self.grounds]

    def index_of(
        self,
        strategy: Strategy,
        context: Context,
        vectors: Kind,
        chunks: Sequence[Sequence[Chunk]] | None = None,
    ) -> SharedIndex:
        """An index in memory of one chunking, the same as `chunkwise.index` makes; `chunks` where they are known."""
        if chunks is None:
            chunks = self.chunks_of(strategy)
        settings = self._settings(strategy.label, context, vectors, code_of(strategy))
        base = self._arrays(vectors)
        embedder = self._embedder if vectors != "none" else None
        collector = Collector(MemorySink(), settings.dimensions, left_out(vectors))
        # Our own strategies count exactly; where they count in the index's tokens nothing is counted again.
        limit = strategy.limit
        counted = strategy.name in registry.builtin and (limit is None or limit[0] == DEFAULT)
        for made in built(chunks, self.grounds, settings, embedder, counted=counted):
            collector.add(encode_chunks(made.part, made.language))
        arrays = {
            name: each
            for name, each in collector.finish().items()
            if name.partition(".")[0] in OF_CHUNKING
        }
        return SharedIndex({**base, **arrays}, settings, self.languages, self.terms)

    def sentences(self, vectors: Kind) -> SharedIndex:
        """An index without a chunk: what is searched at several sizes."""
        settings = self._settings("", "none", vectors)
        return SharedIndex(self._arrays(vectors), settings, self.languages, self.terms)

    def cost_of(self, index: SharedIndex, vectors: Kind) -> dict[str, Json]:
        """What the chunks of an index cost, as an evaluation tells it; of several sizes, what their sentences cost."""
        atoms = index.arrays["atom.tokens"]
        tokens = index.chunk_table().tokens if index.settings.strategy else atoms
        beside = index.context_tokens
        whole = int(atoms.sum(dtype=np.int64))
        found: dict[str, Json] = {**chunk_cost(tokens, whole, beside=beside)}
        indexed = found["indexed_tokens"]
        return {**found, "tokens_embedded": {"late": whole, "own": indexed, "none": 0}[vectors]}

    def issues_of(self, chunks: Sequence[Sequence[Chunk]]) -> dict[str, int]:
        """What is wrong at the cuts, by kind, and in how many chunks."""
        counts, with_issues = dict.fromkeys(KINDS, 0), 0
        for ground, own, told in zip(self.grounds, chunks, self._told, strict=True):
            if own:
                found, chunks_with = count_issues(ground.analyzed, own, told)
                with_issues += chunks_with
                counts = {kind: count + found[kind] for kind, count in counts.items()}
        return {**counts, "chunks_with_issues": with_issues}

    def _settings(self, label: str, context: Context, vectors: Kind, code: str = "") -> Settings:
        if vectors == "none":
            return Settings(label, "", vectors=vectors, context=context, code=code)
        embedder = self._token_embedder if vectors == "late" else self._embedder
        return Settings(
            label, self._model.name, embedder.identity, embedder.dimensions, vectors, context,
            code=code,
        )  # fmt: skip

    @property
    def _model(self) -> LazyEmbedder:
        if self.model is None:
            raise InvalidParameter("the sweep names no model, and this configuration needs one")
        return self.model

    @property
    def _embedder(self) -> Embedder:
        return self._model.embedder

    @property
    def _token_embedder(self) -> TokenEmbedder:
        made = self._embedder
        if not isinstance(made, TokenEmbedder):
            raise InvalidParameter(
                f"the model {self._model.name!r} gives no vectors of single tokens, which vectors='late' needs; "
                "embed every chunk by itself (--exact), or choose another model"
            )
        return made

    def _arrays(self, vectors: Kind) -> Arrays:
        """An index of the documents with no chunk in it."""
        if vectors not in self._base:
            if vectors == "late":
                self.read()
            settings = self._settings("", "none", vectors)
            collector = Collector(MemorySink(), settings.dimensions, left_out(vectors))
            embedder = self._embedder if vectors != "none" else None
            without: list[list[Chunk]] = [[] for _ in self.grounds]
            for made in built(without, self.grounds, settings, embedder):
                collector.add(encode(made.part, made.language))
            self._base[vectors] = collector.finish()
        return self._base[vectors]
