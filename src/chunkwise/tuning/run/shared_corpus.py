"""What all chunkings of a sweep share, made once: analyses, terms, atoms, token vectors, rankings, the queries."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidOption, InvalidParameter, warn_user
from chunkwise.chunkers import Strategy, strategies
from chunkwise.chunkers.chunk import Chunked
from chunkwise.chunkers.context_writer import ContextWriter
from chunkwise.core import WRITTEN_CONTEXTS, Chunk, Document, OnProgress, Query, WrittenContext
from chunkwise.evaluation.cost import chunk_cost
from chunkwise.evaluation.results import Json
from chunkwise.metrics.cuts.boundary_issues import KINDS, count_issues
from chunkwise.metrics.span_tables import Gold, Numbers
from chunkwise.metrics.token_budget import containing
from chunkwise.models import get_token_encoder
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.llm.client import LlmClient
from chunkwise.retrieval.bm25 import K1, B
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.indexing.build import (
    DocumentFeatures,
    build_on_features,
    embed_atoms,
    encode_tokens,
)
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.retrieval.local.columns import (
    OF_CHUNKING,
    Arrays,
    Collector,
    MemorySink,
    encode,
    encode_chunks,
)
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.settings import Context, Settings
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.language import language_of
from chunkwise.text.terms import query_terms
from chunkwise.text.tokens.measure import TokenMeasure
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER
from chunkwise.tuning.sweep import VectorKind
from chunkwise.tuning.sweep_result import TIME_UP


class CachedTokenCut:
    """The ends that `TokenCut` finds, where the tokens of all documents are known already."""

    def __init__(self, measures: Sequence[TokenMeasure]) -> None:
        self._measures = measures

    def ends(self, document: Numbers, start: Numbers, end: Numbers, tokens: Numbers) -> Numbers:
        """Where each place ends after this many of its document's tokens."""
        result = end.copy()
        for number in np.unique(document).tolist():
            own = np.flatnonzero(document == number)
            starts = self._measures[number].starts
            following = containing(starts, start[own]) + tokens[own]
            inside = following < len(starts)
            own = own[inside]
            result[own] = np.minimum(end[own], starts[following[inside]])
        return result


_DEPTH = 400
"""Chunks a question that are ranked at least: what fusing words and vectors looks at."""


class SharedIndex(LocalIndex):
    """Remembers rankings: the first of a long one are the short one, whatever retriever asked for it."""

    def __init__(
        self,
        arrays: Arrays,
        settings: Settings,
        languages: Sequence[str],
        terms: Mapping[str, NDArray[np.uint64]],
    ) -> None:
        """`terms` are those of the questions, by their text."""
        super().__init__(arrays, settings, languages)
        self._terms = terms
        self._rankings: dict[Hashable, tuple[int, list[Ranking]]] = {}

    @cached_property
    def context_tokens(self) -> int:
        return self.count_context_tokens()

    def words(
        self, queries: Sequence[str], depth: int, only: Filter, *, k1: float = K1, b: float = B
    ) -> list[Ranking]:
        texts = tuple(queries)
        rank = super().words
        key = "words", texts, only, k1, b
        return self._first(key, depth, lambda deep: rank(texts, deep, only, k1=k1, b=b))

    def nearest(self, vectors: NDArray[np.float32], depth: int, only: Filter) -> list[Ranking]:
        rank = super().nearest
        key = "nearest", vectors.shape, vectors.tobytes(), only
        return self._first(key, depth, lambda deep: rank(vectors, deep, only))

    def _query_terms(self, query: str) -> NDArray[np.uint64]:
        known = self._terms.get(query)
        return super()._query_terms(query) if known is None else known

    def _first(
        self, key: Hashable, depth: int, rank: Callable[[int], list[Ranking]]
    ) -> list[Ranking]:
        deep, result = self._rankings.get(key, (0, []))
        if deep < depth:
            # Where there are vectors, words and they will be fused.
            deep = max(depth, _DEPTH) if self.settings.vectors != "none" else depth
            result = rank(deep)
            self._rankings[key] = deep, result
        return result if deep == depth else [ranking.first(depth) for ranking in result]


Sums = Sequence[NDArray[np.float32]]


class SharedCorpus:
    """Documents and questions, ready for any chunking; each thing is made when a configuration first wants it."""

    def __init__(
        self,
        documents: Sequence[Document],
        queries: Sequence[Query],
        model: LazyEmbedder | None,
        sums: Sums | None = None,
        tokenizer: str = DEFAULT_TOKENIZER,
        client: LlmClient | None = None,
    ) -> None:
        """`sums` is what another process had the model read of these documents; `tokenizer` counts budgets; `client`
        writes contexts."""
        self.documents = tuple(documents)
        self.queries = tuple(queries)
        self.model = model
        self.client = client
        self._tokenizer = tokenizer
        settings = Settings("", "", tokenizer=tokenizer)
        self.all_features = [
            DocumentFeatures(Analyzed(document), settings) for document in self.documents
        ]
        for features, array in zip(self.all_features, sums or (), strict=False):
            features.sums = array
        self._base: dict[tuple[VectorKind, bool, str], Arrays] = {}
        self._refused: Exception | None = None

    @cached_property
    def gold(self) -> Gold:
        """The references of the questions."""
        numbers = {document.id: at for at, document in enumerate(self.documents)}
        return Gold.of(
            self.queries, numbers, {document.id: document.text for document in self.documents}
        )

    @cached_property
    def cut(self) -> CachedTokenCut:
        """Where a number of tokens ends."""
        return CachedTokenCut([features.measure for features in self.all_features])

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Those the documents are read as."""
        return tuple(sorted({features.terms.language for features in self.all_features}))

    @cached_property
    def _document_languages(self) -> list[str]:
        """Of each document, as `language_of` tells it."""
        return [language_of(document) for document in self.documents]

    @cached_property
    def terms(self) -> dict[str, NDArray[np.uint64]]:
        """Of each question, by its text."""
        return {query.text: query_terms(query.text, self.languages) for query in self.queries}

    def read(self, advance: OnProgress | None = None) -> list[NDArray[np.float32]]:
        """Has the model read every document, once; what it made of them."""
        if self._refused is not None:
            raise self._refused

        def advance_by(characters: int) -> None:
            if advance is not None:
                advance(characters, "one pass serves every chunking")

        if any(features.sums is None for features in self.all_features):
            try:
                embed_atoms(self.all_features, self._embedder, advance_by)
            except Exception as error:  # kept: no chunking need wait for it again
                self._refused = error
                raise
        return [features.sums for features in self.all_features if features.sums is not None]

    def chunks_of(self, strategy: Strategy) -> list[list[Chunk]]:
        """Of each document."""
        return [list(strategy.chunks(features.analyzed)) for features in self.all_features]

    def index_of(
        self,
        strategy: Strategy,
        context: Context | WrittenContext,
        vectors: VectorKind,
        chunks: Sequence[Sequence[Chunk]] | None = None,
    ) -> SharedIndex:
        """An index in memory of one chunking, the same as `chunkwise.index` makes; `chunks` where they are known."""
        if chunks is None:
            chunks = self.chunks_of(strategy)
        if context in WRITTEN_CONTEXTS:
            chunks = self._in_context(chunks, context)
        settings = self._settings(strategy.label, context, vectors, strategy.code)
        base = self._arrays(vectors)
        embedder = self._embedder if vectors != "none" else None
        collector = Collector(MemorySink(), settings)
        # Our own strategies count exactly; where they count in the index's tokens nothing is counted again.
        limit = strategy.limit
        counted = strategy.name in strategies.builtin and (
            limit is None or limit[0] == self._tokenizer
        )
        for made in build_on_features(
            chunks, self.all_features, settings, embedder, counted=counted
        ):
            collector.add(encode_chunks(made.part, made.language))
        arrays = {
            name: array
            for name, array in collector.finish().items()
            if name.partition(".")[0] in OF_CHUNKING
        }
        return SharedIndex({**base, **arrays}, settings, self.languages, self.terms)

    def _in_context(
        self, chunks: Sequence[Sequence[Chunk]], way: WrittenContext
    ) -> list[list[Chunk]]:
        """What was written before is kept, and not asked again."""
        if self.client is None:
            raise InvalidOption("context", way, "needs a language model (llm)")
        writer = ContextWriter(self.client, way)
        cut = [
            Chunked(document, list(own), features.analyzed)
            for document, own, features in zip(
                self.documents, chunks, self.all_features, strict=True
            )
        ]
        result = writer.write(cut)
        if writer.tally.without and self.client.time_is_up:
            raise ChunkwiseError(TIME_UP)  # some chunks have a context and some have none
        if remark := writer.tally.in_words():
            warn_user(remark)
        return result

    def sentences(
        self, vectors: VectorKind, *, names: bool = False, maxsim: str = ""
    ) -> SharedIndex:
        """An index without a chunk: what is searched at several sizes, along names where they are wanted, and by the
        token vectors of a model where one is named."""
        settings = self._of_sentences(vectors, names, maxsim)
        arrays = self._arrays(vectors, names=names, maxsim=maxsim)
        return SharedIndex(arrays, settings, self.languages, self.terms)

    def cost_of(self, index: SharedIndex, vectors: VectorKind) -> dict[str, Json]:
        """What the chunks of an index cost, as an evaluation tells it; of several sizes, what their sentences cost."""
        atoms = index.arrays["atom.tokens"]
        tokens = index.chunk_table().tokens if index.settings.strategy else atoms
        beside = index.context_tokens
        whole = int(atoms.sum(dtype=np.int64))
        result: dict[str, Json] = {**chunk_cost(tokens, whole, beside=beside)}
        indexed = result["indexed_tokens"]
        return {**result, "tokens_embedded": {"late": whole, "own": indexed, "none": 0}[vectors]}

    def issues_of(self, chunks: Sequence[Sequence[Chunk]]) -> dict[str, int]:
        """What is wrong at the cuts, by kind, in how many chunks, and at how many cuts."""
        counts, with_issues, cuts = dict.fromkeys(KINDS, 0), 0, 0
        rows = zip(self.all_features, chunks, self._document_languages, strict=True)
        for features, own, language in rows:
            if own:
                issue_counts = count_issues(features.analyzed, own, language)
                with_issues += issue_counts.chunks
                cuts += issue_counts.cuts
                counts = {
                    kind: count + issue_counts.by_kind[kind] for kind, count in counts.items()
                }
        return {**counts, "chunks_with_issues": with_issues, "cuts_with_issues": cuts}

    def _settings(
        self, label: str, context: Context | WrittenContext, vectors: VectorKind, code: str = ""
    ) -> Settings:
        if vectors == "none":
            return Settings(
                label, "", vectors=vectors, context=context, code=code, tokenizer=self._tokenizer
            )
        embedder = self._embedder
        return Settings(
            label, self._model.name, embedder.identity, embedder.dimensions, vectors, context,
            code=code, tokenizer=self._tokenizer,
        )  # fmt: skip

    @property
    def _model(self) -> LazyEmbedder:
        if self.model is None:
            raise InvalidParameter("needs an embedding model")
        return self.model

    @property
    def _embedder(self) -> Embedder:
        return self._model.embedder

    def _of_sentences(self, vectors: VectorKind, names: bool, maxsim: str) -> Settings:
        settings = self._settings("", "none", vectors)
        if names:
            settings = replace(settings, graph="names")
        if not maxsim:
            return settings
        encoder = get_token_encoder(maxsim)
        return replace(
            settings, maxsim=maxsim, maxsim_identity=encoder.identity, maxsim_dimensions=encoder.dimensions
        )  # fmt: skip

    def _arrays(self, vectors: VectorKind, *, names: bool = False, maxsim: str = "") -> Arrays:
        """An index of the documents with no chunk in it."""
        key = vectors, names, maxsim
        if key not in self._base:
            if vectors == "late":
                self.read()
            if maxsim:
                encode_tokens(self.all_features, get_token_encoder(maxsim))
            settings = self._of_sentences(vectors, names, maxsim)
            collector = Collector(MemorySink(), settings)
            embedder = self._embedder if vectors != "none" else None
            without: list[list[Chunk]] = [[] for _ in self.all_features]
            for made in build_on_features(without, self.all_features, settings, embedder):
                collector.add(encode(made.part, made.language))
            self._base[key] = collector.finish()
        return self._base[key]
