"""What is evaluated: an index that can be asked, or another system's hits; every question asked once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from chunkwise.base import spec
from chunkwise.base.wording import counted, thousands
from chunkwise.chunkers.chunk_offsets import Position
from chunkwise.core import Document, Hit, OnProgress, Passage, Query
from chunkwise.evaluation.results import Json
from chunkwise.metrics.evidence import is_nowhere
from chunkwise.metrics.registry import MetricAt
from chunkwise.metrics.span_tables import Chunking, HitTable
from chunkwise.metrics.token_budget import TokenCut
from chunkwise.options import STEPS, FilterOptions, SearchOptions
from chunkwise.retrieval.indexes import Index
from chunkwise.retrieval.metadata_conditions import conditions_of
from chunkwise.retrieval.retrievers import Retriever, default_retriever, get_retriever
from chunkwise.retrieval.search.rerank import resolve_reranker
from chunkwise.retrieval.search.search import DEFAULT_BUDGET, chunk_step
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer


class Ask(Protocol):
    """Answers questions; at most `k` hits, at most `budget` tokens."""

    def __call__(
        self,
        queries: Sequence[Query],
        *,
        k: int | None,
        budget: int | None,
        advance: OnProgress | None = None,
    ) -> list[list[Hit]]: ...


@dataclass(frozen=True, slots=True)
class EvaluatedSystem:
    """Documents in a fixed order, their chunks where they are known, and who answers."""

    documents: Sequence[Document]
    ask: Ask
    chunking: Chunking | None = None
    """None: answers without an index behind them."""
    deeper: bool = True
    """Whether more hits can be had than were asked for first; the first ones stay the same then."""
    configuration: Mapping[str, Json] = field(default_factory=dict)
    index: Index | None = None
    """What is asked, where it is an index."""
    position: Position | None = None
    """Accuracy of the offsets of chunks from a file."""
    chunk_ids: Sequence[tuple[str, Passage]] = ()
    """What the file calls its chunks, where they come from one."""
    tokenizer: TokenizerLike = DEFAULT_TOKENIZER
    """What budgets and hits are counted by."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """By the id of a question, why nobody knows what would be retrieved: it has no scores."""
    latency: Mapping[str, float] = field(default_factory=dict)
    """How long a question takes, where that was measured."""

    @property
    def numbers(self) -> dict[str, int]:
        """A document's position by its id."""
        return {document.id: number for number, document in enumerate(self.documents)}

    @property
    def texts(self) -> dict[str, str]:
        """A document's text by its id."""
        return {document.id: document.text for document in self.documents}


_AT_ONCE = 256


def index_system(
    index: Index, options: SearchOptions, position: Position | None = None
) -> EvaluatedSystem:
    """Everything the index holds, asked in one way; `position` is of given chunks that it was made of."""
    name, retriever = _retriever(index, options)
    tokenizer = index.settings.tokenizer if options.tokenizer is None else options.tokenizer
    reranker = resolve_reranker(options.reranker)
    options = replace(options, retriever=retriever, reranker=reranker, tokenizer=tokenizer)
    conditions = conditions_of(options.where)

    def ask(
        queries: Sequence[Query],
        *,
        k: int | None,
        budget: int | None,
        advance: OnProgress | None = None,
    ) -> list[list[Hit]]:
        result: list[list[Hit]] = []
        for low in range(0, len(queries), _AT_ONCE):
            block = queries[low : low + _AT_ONCE]
            result += index.search(block, options=replace(options, k=k, budget=budget))
            if advance:
                advance(
                    len(block), f"{thousands(len(result))} of {counted(len(queries), 'question')}"
                )
        return result

    settings = index.settings
    configuration: dict[str, Json] = {
        "strategy": settings.strategy,
        "embedder": settings.embedder,
        "vectors": settings.vectors,
        "context": settings.context,
        "language": settings.language,
        "tokenizer": get_tokenizer(tokenizer).name,
        "retriever": name,
        **{name: getattr(options, name) for name in STEPS},
        "reranker": reranker.identity if reranker else None,
        **options.part(FilterOptions).changed(),
    }
    if conditions:
        configuration["where"] = [str(condition) for condition in conditions]
    if settings.llm_identity:
        configuration["context_llm"] = settings.llm_identity
    if settings.maxsim:
        configuration["maxsim"] = settings.maxsim
    if settings.graph:
        configuration["graph"] = settings.graph
    if settings.names:
        configuration["names"] = settings.names
    documents = [index.source.document(number) for number in index.source.document_numbers()]
    # Steps behind the ranking look at the hits together: more hits would change the first ones.
    deeper = not chunk_step(options) and reranker is None
    return EvaluatedSystem(
        documents, ask, chunking_of(index), deeper, configuration, index, position, tokenizer=tokenizer
    )  # fmt: skip


def chunking_of(index: Index) -> Chunking:
    """All chunks of an index; documents in the order of their numbers."""
    return Chunking(*index.source.chunk_table())


def is_for_budgets(retriever: Retriever) -> bool:
    """Whether it hands out spans that fill a budget instead of chunks."""
    return not hasattr(retriever, "rank")


def with_budget(options: SearchOptions) -> SearchOptions:
    """Fill in the default budget if the retriever needs one."""
    if options.budget is None and options.retriever is not None:
        chosen = get_retriever(options.retriever)
        return replace(options, budget=DEFAULT_BUDGET if is_for_budgets(chosen) else None)
    return options


def _retriever(index: Index, options: SearchOptions) -> tuple[str, Retriever]:
    given = options.retriever or default_retriever(
        index.source, budget=options.budget, needs_chunks=bool(chunk_step(options))
    )
    made = get_retriever(given)
    name = spec.parse(given)[0] if isinstance(given, str) else type(given).__name__
    return spec.describe(name, made), made


def hits_system(
    documents: Sequence[Document],
    queries: Sequence[Query],
    hits: Sequence[Sequence[Hit]],
    configuration: Mapping[str, Json],
    tokenizer: TokenizerLike = DEFAULT_TOKENIZER,
) -> EvaluatedSystem:
    """Hits of each question; those found nowhere stand in documents of their own."""
    by_id = {query.id: own for query, own in zip(queries, hits, strict=True)}
    lost = {hit.doc_id: hit.document for group in hits for hit in group if is_nowhere(hit)}

    def ask(
        queries: Sequence[Query],
        *,
        k: int | None,
        budget: int | None,
        advance: OnProgress | None = None,
    ) -> list[list[Hit]]:
        own = [list(by_id.get(query.id, ()))[:k] for query in queries]
        return own if budget is None else [list(_fitting(hits, budget, tokenizer)) for hits in own]

    configuration = {**configuration, "tokenizer": get_tokenizer(tokenizer).name}
    return EvaluatedSystem(
        [*documents, *lost.values()], ask, configuration=configuration, tokenizer=tokenizer
    )


def _fitting(hits: Sequence[Hit], budget: int, tokenizer: TokenizerLike) -> Iterator[Hit]:
    """Hits in their order while they fit; the one that crosses the budget is cut there."""
    left = budget
    for hit in hits:
        if left <= 0:
            return
        if hit.token_count <= left:
            yield hit
        elif not hit.level:  # half a summary would say something else
            place = [np.array([value]) for value in (0, hit.start, hit.end, left)]
            end = int(TokenCut([hit.document], tokenizer).ends(*place)[0])
            if end > hit.start:
                yield replace(hit, end=end, token_count=left)
        left -= hit.token_count


Hits = list[list[Hit]]

_DEEPEST = 100_000
"""Hits a question at most, however small the chunks: no budget of tokens needs more."""


@dataclass(slots=True)
class SearchRun:
    """Remembers what was answered, so that several metrics share one search."""

    system: EvaluatedSystem
    queries: Sequence[Query]
    k: int | None
    budget: int | None
    """Of the run itself: what a user of this retriever would ask for."""
    advance: OnProgress | None = None
    _known: dict[int, Hits] = field(default_factory=dict)
    _shown: Hits | None = None
    _tables: dict[int, tuple[Hits, HitTable]] = field(default_factory=dict)
    """With the hits themselves, so that no other list gets their id."""

    @property
    def shown(self) -> Hits:
        """What the user gets: `k` hits, or those that fill the budget."""
        if self._shown is None:
            if self.budget is not None:
                self._shown = self._ask(None, self.budget)
            else:
                assert self.k is not None
                self._shown = self.top(self.k)
        return self._shown

    def prepare(self, depths: Iterable[int]) -> None:
        """Asks once for the deepest of these, where the first hits do not depend on how many are wanted."""
        deepest = max(depths, default=0)
        if self.budget is None and self.system.deeper and deepest:
            self._known[deepest] = self._ask(deepest, None)

    def top(self, k: int) -> Hits:
        """The best `k`; those of a search within a budget are taken from what it gave."""
        if self.budget is not None:
            return _first(self.shown, k)
        if k not in self._known:
            deeper = [depth for depth in self._known if depth >= k and self.system.deeper]
            self._known[k] = _first(self._known[min(deeper)], k) if deeper else self._ask(k, None)
        return self._known[k]

    def filling(self, tokens: int) -> Hits:
        """Enough hits to fill so many tokens, or all there are."""
        if self.budget is not None:
            # What fills another budget is another search: it may hand out other places, not only more or fewer.
            return self.shown if tokens == self.budget else self._ask(None, tokens)
        deeper = self.system.deeper
        # Where the first hits depend on how many are wanted, it is not for other metrics to say how many.
        depth = max([*self._known, self.k or 1]) if deeper else self.k or 1
        before = [0] * len(self.queries)
        while True:
            result = self.top(depth)
            sizes = [sum(hit.token_count for hit in hits) for hits in result]
            # A question with fewer hits than asked for has no more, unless neighbors were made one: then it has
            # no more when asking for more brings no more text.
            has_more = [
                len(hits) >= depth or (not deeper and size > last)
                for hits, size, last in zip(result, sizes, before, strict=True)
            ]
            short = any(more and size < tokens for more, size in zip(has_more, sizes, strict=True))
            if not short or depth >= _DEEPEST:
                return result
            before, depth = sizes, depth * 4

    def hits(self, wanted: MetricAt) -> Hits:
        """What a metric looks at."""
        if wanted.tokens:
            return self.filling(wanted.at)
        return self.top(wanted.at) if wanted.at else self.shown

    def table(self, wanted: MetricAt) -> HitTable:
        """The same as arrays."""
        hits = self.hits(wanted)
        if id(hits) not in self._tables:
            self._tables[id(hits)] = hits, HitTable.of(hits, self.system.numbers)
        return self._tables[id(hits)][1]

    @property
    def deepest(self) -> Hits:
        """As many hits as were looked at for any metric; of another search no rank would be one of this."""
        if self.budget is not None or not self._known or not self.system.deeper:
            return self.shown
        return self._known[max(self._known)]

    def _ask(self, k: int | None, budget: int | None) -> Hits:
        result = self.system.ask(self.queries, k=k, budget=budget, advance=self.advance)
        return [sorted(hits, key=lambda hit: hit.rank) for hits in result]


def _first(hits: Hits, k: int) -> Hits:
    return [hit[:k] for hit in hits]
