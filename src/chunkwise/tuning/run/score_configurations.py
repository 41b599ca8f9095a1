"""All configurations of one chunking, one after the other on one index, each scored query by query."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, error_words
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.core import Chunk, Query
from chunkwise.evaluation.evaluate_system import Scoring
from chunkwise.evaluation.scoring import Measures
from chunkwise.evaluation.system_under_test import (
    EvaluatedSystem,
    Hits,
    SearchRun,
    index_system,
    with_budget,
)
from chunkwise.metrics.metric import Scores
from chunkwise.metrics.registry import MetricAt
from chunkwise.metrics.scorer import SpanRules, score_spans
from chunkwise.metrics.span_tables import Chunking, HitTable
from chunkwise.metrics.spans.span_metric import SpanMetric
from chunkwise.metrics.token_budget import first_hits
from chunkwise.options import SearchOptions
from chunkwise.retrieval.filters import EVERYTHING
from chunkwise.retrieval.indexes import Index
from chunkwise.retrieval.retrievers import ChunkRetriever, follows_names, get_retriever
from chunkwise.retrieval.search.rerank import resolve_reranker
from chunkwise.retrieval.searchable import QueryBatch
from chunkwise.text.tokens.measure import TokenMeasure
from chunkwise.tuning.run.race import Race
from chunkwise.tuning.run.shared_corpus import SharedCorpus, SharedIndex
from chunkwise.tuning.sweep import Configuration, VectorKind
from chunkwise.tuning.sweep_result import TIME_UP, Outcome

_DEEPER = 4
_Numbers = NDArray[np.int64]


class RankedPlaces:
    """What is handed out for the chunks of an index: the chunks, or the larger spans they belong to, each once."""

    def __init__(self, index: SharedIndex, measures: Sequence[TokenMeasure]) -> None:
        """`measures` count the tokens of each document's spans."""
        self.chunking = Chunking(*index.chunk_table())
        document, start, end, tokens = index.chunk_table()[:4]
        parents = index.arrays["chunk.parent"]
        self._number: _Numbers | None = None
        further = (np.diff(document) > 0) | (np.diff(start) > 0)  # so that no two are the same
        if further.all() and (parents[:, 0] == start).all() and (parents[:, 1] == end).all():
            self.document, self.start, self.end, self.tokens = document, start, end, tokens
            return
        place = np.column_stack((document, parents))
        spans, first, number = np.unique(place, axis=0, return_index=True, return_inverse=True)
        self._number = number.reshape(-1).astype(np.int64)
        self.document, self.start, self.end = np.ascontiguousarray(spans.T)
        whole = (start[first] == self.start) & (end[first] == self.end)
        counted = [
            known if same else measures[row[0]].count(row[1], row[2])
            for row, known, same in zip(
                spans.tolist(), tokens[first].tolist(), whole.tolist(), strict=True
            )
        ]
        self.tokens = np.array(counted, np.int64)

    def of(self, chunks: _Numbers, question: _Numbers) -> tuple[_Numbers, _Numbers]:
        """The places of ranked chunks, each where a question's best chunk of it ranks, and the question of each."""
        if self._number is None:
            return chunks, question
        numbers = self._number[chunks]
        once = np.unique(question * len(self.start) + numbers, return_index=True)[1]
        once.sort()
        return numbers[once], question[once]

    def hit_table(self, hits: Sequence[_Numbers]) -> HitTable:
        """The table of these hits, a question each."""
        flat = np.concatenate([np.empty(0, np.int64), *hits])
        first = np.concatenate(([0], np.cumsum([len(own) for own in hits], dtype=np.int64)))
        columns = (self.document, self.start, self.end, self.tokens)
        return HitTable(first, *(column[flat] for column in columns))


def ranked(
    index: SharedIndex,
    places: RankedPlaces,
    retriever: ChunkRetriever,
    questions: QueryBatch,
    count: int,
    tokens: int,
) -> list[_Numbers]:
    """Of each question the best places: so many at least, and so many tokens, where there are so many."""
    hits: list[_Numbers] = [np.empty(0, np.int64)] * len(questions)
    # A question without a character to see has no hits.
    waiting = [at for at, text in enumerate(questions.texts) if text.strip()]
    usual = float(np.median(places.tokens)) if len(places.tokens) else 1.0
    depth = max(count, int(1.5 * tokens / max(usual, 1.0)) + 1)
    while waiting:
        batch = questions if len(waiting) == len(questions) else questions.some(waiting)
        rankings = retriever.rank(index, batch, depth, EVERYTHING)
        deep = np.array([len(own.numbers) for _, own in zip(waiting, rankings, strict=True)])
        question = np.repeat(np.arange(len(deep)), deep)
        own, question = places.of(np.concatenate([each.numbers for each in rankings]), question)
        sizes = np.bincount(question, minlength=len(deep))
        first = np.cumsum(sizes) - sizes
        spent = np.append(0, np.cumsum(places.tokens[own]))
        kept = np.arange(len(own)) - first[question] < count
        kept |= spent[:-1] - spent[first][question] < tokens
        shown = own[kept]
        ends = np.cumsum(np.bincount(question[kept], minlength=len(deep))).tolist()
        for at, low, high in zip(waiting, [0, *ends], ends, strict=False):
            hits[at] = shown[low:high]
        few = (sizes < count) | (spent[first + sizes] - spent[first] < tokens)
        waiting = [waiting[at] for at in np.flatnonzero(few & (deep >= depth)).tolist()]
        depth *= _DEEPER
    return hits


RetrieverScores = tuple[dict[str, Scores], list[int]]
"""Scores by label, and the tokens each question's reader reads: k hits, or the objective's budget at most."""


def retriever_scores(
    corpus: SharedCorpus,
    index: SharedIndex,
    options: SearchOptions,
    wanted: Sequence[MetricAt],
    k: int,
    *,
    queries: Sequence[Query] | None = None,
) -> RetrieverScores:
    """The figures of an evaluation of this index; the objective is the first of `wanted`.

    `queries`: some of the corpus' own; None: all of them.
    """
    queries = corpus.queries if queries is None else queries
    options = with_budget(options)
    usual = options.budget
    system = index_system(Index(index, corpus.model), options)
    if not index.settings.strategy:
        system = replace(system, chunking=None)  # no hit can be compared with chunks
    shown = SearchRun(system, queries, k, usual)
    together = [each for each in wanted if usual is None or not each.tokens]
    scores = _scored(system, shown, together, k, usual)
    objective, within = wanted[0], shown
    if usual is not None:
        # What fills a budget is found by another search for every budget.
        for each in wanted:
            if each.tokens:
                other = SearchRun(system, queries, k, each.at)
                asking = shown if each.at == usual else other
                scores |= _scored(system, asking, [each], k, each.at)
                within = asking if each == objective else within
    if not objective.tokens:
        return scores, _tokens(shown.shown)
    return scores, [min(each, objective.at) for each in _tokens(within.filling(objective.at))]


def _tokens(hits: Hits) -> list[int]:
    return [sum(hit.token_count for hit in own) for own in hits]


def _scored(
    system: EvaluatedSystem,
    asking: SearchRun,
    wanted: Sequence[MetricAt],
    k: int,
    budget: int | None,
) -> dict[str, Scores]:
    measuring = Measures(tuple(each.label for each in wanted), k, budget)
    columns = Scoring(system, asking.queries, asking, measuring).columns()
    return {name: np.asarray(column.values) for name, column in columns.items()}


Group = tuple[Configuration, ...]
"""Configurations that share their chunks."""


def groups_of(configurations: Sequence[Configuration]) -> list[Group]:
    """In their order; those of one chunking that stand apart are brought together."""
    order = {each: at for at, each in reversed(list(enumerate(map(_chunking, configurations))))}
    ordered = sorted(configurations, key=lambda each: order[_chunking(each)])
    return [tuple(own) for _, own in groupby(ordered, _chunking)]


_AT_ONCE = 4
"""Questions of a dear configuration between two looks at the clock."""


def _chunking(configuration: Configuration) -> tuple[str, str]:
    return configuration.strategy, configuration.context


def outcomes_of(
    corpus: SharedCorpus,
    group: Group,
    wanted: Sequence[MetricAt],
    k: int,
    race: Race | None = None,
) -> Iterator[Outcome]:
    """Each as soon as it is known; one that fails says why, and the others go on."""
    chunking = _Chunking(corpus, group, wanted, k, race)
    for configuration in group:
        began = time.perf_counter()
        try:
            outcome = chunking.outcome(configuration)
        except Exception as error:  # strategies, retrievers and models may be somebody else's
            outcome = Outcome(configuration, error=error_words(error))
        yield replace(outcome, seconds=round(time.perf_counter() - began, 3))


class _Chunking:
    """Chunks, their indexes and what is told about them: made once, when first wanted."""

    def __init__(
        self,
        corpus: SharedCorpus,
        group: Group,
        wanted: Sequence[MetricAt],
        k: int,
        race: Race | None = None,
    ) -> None:
        self._corpus, self._group, self._race = corpus, group, race
        self._wanted, self._k = wanted, k
        self._known: dict[tuple[VectorKind, str], SharedIndex | Exception] = {}
        self._ready: dict[str, tuple[RankedPlaces, QueryBatch]] = {}

    def outcome(self, configuration: Configuration) -> Outcome:
        """Raises whatever keeps the configuration from being run."""
        corpus = self._corpus
        retriever = get_retriever(configuration.retriever)
        index = self._index(configuration.vectors, configuration.maxsim)
        scores, tokens, dropped = dict[str, Scores](), list[int](), ""
        if not corpus.queries:
            pass  # what needs no question is told all the same
        elif (
            isinstance(retriever, ChunkRetriever)
            and not index.has_summaries
            and configuration.search == SearchOptions(retriever=configuration.retriever)
            and all(isinstance(each.metric, SpanMetric) for each in self._wanted)
        ):
            scores, tokens = self._ranked(index, retriever)
        else:
            scores, tokens, dropped = self._raced(index, configuration)
        cost = corpus.cost_of(index, configuration.vectors)
        return Outcome(
            configuration,
            {each.label: _values(scores[each.label]) for each in self._wanted if scores},
            {**cost, "context_tokens": sum(tokens) / len(tokens) if tokens else None},
            self._issues if configuration.strategy else {},
            dropped=dropped,
        )

    def _raced(
        self, index: SharedIndex, configuration: Configuration
    ) -> tuple[dict[str, Scores], list[int], str]:
        """Some questions at a time, until all are asked or it cannot win any more."""
        options = configuration.search
        race = (self._race if options.reranker else None) or Race()
        options = replace(options, reranker=resolve_reranker(options.reranker))
        objective, queries = self._wanted[0].label, self._corpus.queries
        scores = {each.label: np.full(len(queries), np.nan) for each in self._wanted}
        tokens: list[int] = []
        for block in race.blocks(len(queries)):
            most = _AT_ONCE if race.ahead else len(block)
            for some in (block[at : at + most] for at in range(0, len(block), most)):
                if time.time() > race.ends:
                    raise ChunkwiseError(TIME_UP)
                found, read = retriever_scores(
                    self._corpus, index, options, self._wanted, self._k, queries=[queries[at] for at in some],
                )  # fmt: skip
                for name, own in found.items():
                    scores[name][some] = own
                tokens += read
            if why := race.lost(scores[objective]):
                return scores, tokens, why
        return scores, tokens, ""

    def _ranked(self, index: SharedIndex, retriever: ChunkRetriever) -> RetrieverScores:
        count = max([self._k, *(each.at for each in self._wanted if not each.tokens)])
        tokens = max((each.at for each in self._wanted if each.tokens), default=0)
        places, questions = self._asking(index)
        found = places.hit_table(ranked(index, places, retriever, questions, count, tokens))
        # Most hits are there for the budgets alone.
        hits = _RankedHits(first_hits(found, count), found)
        scores = score_spans(self._wanted, hits, self._rules(places))
        within = self._wanted[0].tokens
        return scores, self._read(found if within else first_hits(found, self._k))

    def _rules(self, places: RankedPlaces) -> SpanRules:
        return SpanRules(self._corpus.gold, places.chunking, self._corpus.cut)

    def _read(self, found: HitTable) -> list[int]:
        """Tokens of what each question's reader reads: all of it, or what the objective's budget allows."""
        objective = self._wanted[0]
        paid = np.bincount(found.question, found.tokens, len(self._corpus.queries))
        most = objective.at if objective.tokens else np.inf
        return np.minimum(paid, most).astype(np.int64).tolist()

    def _asking(self, index: SharedIndex) -> tuple[RankedPlaces, QueryBatch]:
        """What is handed out for its chunks, and the questions with vectors that fit its own."""
        key = index.settings.vectors
        if key not in self._ready:
            measures = [features.measure for features in self._corpus.all_features]
            texts = [query.text for query in self._corpus.queries]
            questions = QueryBatch(texts, index.settings, self._corpus.model)
            self._ready[key] = RankedPlaces(index, measures), questions
        return self._ready[key]

    @cached_property
    def _strategy(self) -> Strategy:
        return get_strategy(self._group[0].strategy)

    @cached_property
    def _chunks(self) -> list[list[Chunk]]:
        return self._corpus.chunks_of(self._strategy)

    @cached_property
    def _issues(self) -> dict[str, int]:
        return self._corpus.issues_of(self._chunks)

    def _index(self, vectors: VectorKind, maxsim: str = "") -> SharedIndex:
        """Words are searched in whatever index is there; only where the model fails, in one without vectors."""
        others: list[VectorKind] = (
            ["late", "own"] if vectors == "none" and not maxsim and self._corpus.queries else []
        )
        for kind in others:
            if any(each.vectors == kind for each in self._group):
                made = self._index_or_error(kind)
                if isinstance(made, SharedIndex):
                    return made
        made = self._index_or_error(vectors if self._corpus.queries else "none", maxsim)
        if isinstance(made, Exception):
            raise made
        return made

    def _index_or_error(self, vectors: VectorKind, maxsim: str = "") -> SharedIndex | Exception:
        key = vectors, maxsim
        if key not in self._known:
            try:
                self._known[key] = self._new(vectors, maxsim)
            except Exception as error:  # kept: the next configuration need not wait for it again
                self._known[key] = error
        return self._known[key]

    def _new(self, vectors: VectorKind, maxsim: str) -> SharedIndex:
        first = self._group[0]
        if not first.strategy:
            names = any(follows_names(each.retriever) for each in self._group)
            return self._corpus.sentences(vectors, names=names, maxsim=maxsim)
        return self._corpus.index_of(self._strategy, first.context, vectors, self._chunks)


class _RankedHits(NamedTuple):
    """Ranked chunks as arrays: as many as are counted, and as many as fill the budgets."""

    counted: HitTable
    filling: HitTable

    def table(self, wanted: MetricAt) -> HitTable:
        return self.filling if wanted.tokens else self.counted


def _values(scores: Scores) -> tuple[float | None, ...]:
    return tuple(None if value != value else value for value in scores.tolist())
