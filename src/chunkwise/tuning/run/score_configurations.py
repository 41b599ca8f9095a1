"""All configurations of one chunking, one after the other on one index, each scored query by query."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
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
from chunkwise.models import get_reranker
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.options import SearchOptions
from chunkwise.retrieval.filters import EVERYTHING
from chunkwise.retrieval.indexes import Index
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.retrievers import ChunkRetriever, follows_names, get_retriever
from chunkwise.retrieval.searchable import QueryBatch
from chunkwise.text.tokens.measure import TokenMeasure
from chunkwise.tuning.run.race_and_finalists import Race
from chunkwise.tuning.run.shared_corpus import SharedCorpus, SharedIndex
from chunkwise.tuning.sweep import Configuration, VectorKind
from chunkwise.tuning.sweep_result import Outcome

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

    @property
    def are_chunks(self) -> bool:
        """Whether a hit is always a chunk."""
        return self._number is None

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


def ranking_of(
    index: SharedIndex, retriever: ChunkRetriever, questions: QueryBatch, depth: int
) -> list[Ranking]:
    """Of every question, also of those without a character to see, which find nothing."""
    seen = [at for at, text in enumerate(questions.texts) if text.strip()]
    batch = questions if len(seen) == len(questions) else questions.some(seen)
    found = [NOTHING] * len(questions)
    for at, ranking in zip(seen, retriever.rank(index, batch, depth, EVERYTHING), strict=True):
        found[at] = ranking
    return found


_DEEPEST = 100_000
"""As deep as an evaluation looks."""

Rank = Callable[[int], Sequence[Ranking]]
"""The best so many chunks of every question."""


class WithNeighbors:
    """The chunks of an index, each with so many on either side; no document's run into another's."""

    def __init__(
        self, places: RankedPlaces, measures: Sequence[TokenMeasure], neighbors: int
    ) -> None:
        """`places` are chunks."""
        self._measures = measures
        chunks = places.chunking
        number = np.arange(len(chunks.start))
        low = chunks.document.searchsorted(chunks.document)
        high = chunks.document.searchsorted(chunks.document, "right") - 1
        self._document = chunks.document
        start, end = chunks.start.copy(), chunks.end.copy()
        for step in range(1, neighbors + 1):
            before, behind = np.maximum(number - step, low), np.minimum(number + step, high)
            for other in (before, behind):
                start = np.minimum(start, chunks.start[other])
                end = np.maximum(end, chunks.end[other])
        self._start, self._end = start, end
        self._sizes: dict[tuple[int, int, int], int] = {}
        self._written = [_written(measure.text) for measure in measures]

    def hit_table(self, rankings: Sequence[Ranking]) -> HitTable:
        """All of these, merged; each where its best chunk ranks."""
        counts = np.array([len(each.numbers) for each in rankings], np.int64)
        flat = np.concatenate([np.empty(0, np.int64), *(each.numbers for each in rankings)])
        question = np.repeat(np.arange(len(rankings)), counts)
        rank = np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts)
        document, start, end = self._document[flat], self._start[flat], self._end[flat]
        order = np.lexsort((start, document, question))
        question, rank, document, start, end = (
            column[order] for column in (question, rank, document, start, end)
        )
        opens = self._opens(question, document, start, end)
        first = np.flatnonzero(opens)
        if not len(first):
            return HitTable(np.zeros(len(rankings) + 1, np.int64), *(np.empty(0, np.int64),) * 4)
        last = np.maximum.reduceat(end, first)
        best = np.minimum.reduceat(rank, first)
        by_rank = first[order := np.lexsort((best, question[first]))]
        columns = document[by_rank], start[by_rank], last[order]
        sizes = np.bincount(question[first], minlength=len(rankings))
        bounds = np.concatenate(([0], np.cumsum(sizes)))
        return HitTable(bounds, *columns, self._tokens(*columns))

    def _opens(
        self, question: _Numbers, document: _Numbers, start: _Numbers, end: _Numbers
    ) -> NDArray[np.bool_]:
        """Which begin a hit of their own: those that neither overlap with what is before them nor follow upon space."""
        if not len(start):
            return np.zeros(0, np.bool_)
        other = np.ones(len(start), np.bool_)
        other[1:] = (question[1:] != question[:-1]) | (document[1:] != document[:-1])
        base = np.cumsum(other) * (1 + int(end.max()))
        reach = np.maximum.accumulate(end + base) - base
        opens = other.copy()
        apart = np.flatnonzero(~other[1:] & (start[1:] > reach[:-1])) + 1
        for number in np.unique(document[apart]).tolist():
            own = apart[document[apart] == number]
            written = self._written[number]
            opens[own] = written.searchsorted(reach[own - 1]) < written.searchsorted(start[own])
        return opens

    def _tokens(self, document: _Numbers, start: _Numbers, end: _Numbers) -> _Numbers:
        found = np.empty(len(start), np.int64)
        rows = zip(document.tolist(), start.tolist(), end.tolist(), strict=True)
        for at, row in enumerate(rows):
            if row not in self._sizes:
                self._sizes[row] = self._measures[row[0]].count(row[1], row[2])
            found[at] = self._sizes[row]
        return found

    def filling(self, rank: Rank, k: int, tokens: int) -> HitTable:
        """Merged as deep as an evaluation goes for so many tokens: four times as deep while some have too few."""
        depth, before = k, np.zeros(0, np.int64)
        while True:
            found = self.hit_table(rank(depth))
            questions = len(found.first) - 1
            size = np.bincount(found.question, found.tokens, questions).astype(np.int64)
            more = np.diff(found.first) >= depth
            more |= size > (before if len(before) else np.zeros(questions, np.int64))
            if not (more & (size < tokens)).any() or depth >= _DEEPEST:
                return found
            before, depth = size, depth * 4


class WidenedHits:
    """What every metric looks at, made once for each depth and each budget."""

    def __init__(self, widened: WithNeighbors, rank: Rank, k: int) -> None:
        self._widened, self._rank, self._k = widened, rank, k
        self._tables: dict[tuple[bool, int], HitTable] = {}

    def table(self, wanted: MetricAt) -> HitTable:
        return self._table(wanted.tokens, wanted.at or self._k)

    def read(self, objective: MetricAt) -> HitTable:
        """What a reader gets: the budget of the objective full, or k hits."""
        return self._table(objective.tokens, objective.at if objective.tokens else self._k)

    def _table(self, tokens: bool, at: int) -> HitTable:
        if (tokens, at) not in self._tables:
            self._tables[tokens, at] = (
                self._widened.filling(self._rank, self._k, at)
                if tokens
                else self._widened.hit_table(self._rank(at))
            )
        return self._tables[tokens, at]


def _written(text: str) -> _Numbers:
    """Where characters stand that are no space."""
    return np.flatnonzero(np.fromiter((not each.isspace() for each in text), np.bool_, len(text)))


RetrieverScores = tuple[dict[str, Scores], list[int]]
"""Scores by label, and the tokens each question's reader reads: k hits, or the objective's budget at most."""


def retriever_scores(
    corpus: SharedCorpus,
    index: SharedIndex,
    retriever: str,
    neighbors: int,
    wanted: Sequence[MetricAt],
    k: int,
    *,
    reranker: Reranker | None = None,
    queries: Sequence[Query] | None = None,
) -> RetrieverScores:
    """The figures of an evaluation of this index; the objective is the first of `wanted`.

    `queries`: some of the corpus' own; None: all of them.
    """
    queries = corpus.queries if queries is None else queries
    options = with_budget(
        SearchOptions(retriever=retriever, neighbors=neighbors, reranker=reranker)
    )
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
            outcome = Outcome(configuration, error=_error_line(error))
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
        elif configuration.reranker:
            scores, tokens, dropped = self._raced(index, configuration)
        elif (
            not isinstance(retriever, ChunkRetriever)
            or index.has_summaries
            or not all(isinstance(each.metric, SpanMetric) for each in self._wanted)
        ):
            scores, tokens = self._scores_of(index, configuration)
        elif not configuration.neighbors:
            scores, tokens = self._ranked(index, retriever)
        elif self._asking(index)[0].are_chunks:
            scores, tokens = self._widened(index, retriever, configuration.neighbors)
        else:
            scores, tokens = self._scores_of(index, configuration)
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
        race = self._race or Race()
        reranker = get_reranker(configuration.reranker)
        objective, queries = self._wanted[0].label, self._corpus.queries
        scores = {each.label: np.full(len(queries), np.nan) for each in self._wanted}
        tokens: list[int] = []
        for some in race.blocks(len(queries)):
            found, read = retriever_scores(
                self._corpus, index, configuration.retriever, configuration.neighbors, self._wanted, self._k,
                reranker=reranker, queries=[queries[at] for at in some],
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

    def _widened(
        self, index: SharedIndex, retriever: ChunkRetriever, neighbors: int
    ) -> RetrieverScores:
        """More chunks make longer hits: every depth is an answer of its own."""
        places, questions = self._asking(index)
        measures = [features.measure for features in self._corpus.all_features]
        widened = WithNeighbors(places, measures, neighbors)

        def rank(depth: int) -> list[Ranking]:
            return ranking_of(index, retriever, questions, depth)

        hits = WidenedHits(widened, rank, self._k)
        scores = score_spans(self._wanted, hits, self._rules(places))
        return scores, self._read(hits.read(self._wanted[0]))

    def _rules(self, places: RankedPlaces) -> SpanRules:
        return SpanRules(self._corpus.gold, places.chunking, self._corpus.cut)

    def _read(self, found: HitTable) -> list[int]:
        """Tokens of what each question's reader reads: all of it, or what the objective's budget allows."""
        objective = self._wanted[0]
        paid = np.bincount(found.question, found.tokens, len(self._corpus.queries))
        most = objective.at if objective.tokens else np.inf
        return np.minimum(paid, most).astype(np.int64).tolist()

    def _scores_of(self, index: SharedIndex, configuration: Configuration) -> RetrieverScores:
        retriever, neighbors = configuration.retriever, configuration.neighbors
        return retriever_scores(self._corpus, index, retriever, neighbors, self._wanted, self._k)

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


def _error_line(error: Exception) -> str:
    """Our own errors say everything; of others the kind is told as well."""
    if isinstance(error, ChunkwiseError):
        return str(error)
    return f"{type(error).__name__}: {error}"
