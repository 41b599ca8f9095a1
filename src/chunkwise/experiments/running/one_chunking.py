"""All configurations of one chunking, one after the other on one index."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby

import numpy as np

from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.core import Chunk
from chunkwise.errors import ChunkwiseError
from chunkwise.experiments.configuration import Configuration, Kind
from chunkwise.experiments.outcome import Outcome
from chunkwise.experiments.running.asked import Asked, asked
from chunkwise.experiments.running.ranked import Places, ranked, ranking_of
from chunkwise.experiments.running.shared_index import SharedIndex
from chunkwise.experiments.running.widened import Widened
from chunkwise.experiments.running.workshop import Workshop
from chunkwise.metrics.measures import Wanted, span_scores
from chunkwise.metrics.spans.budget import first_hits
from chunkwise.metrics.spans.span_measures import Scores
from chunkwise.metrics.spans.tables import Found
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.retrievers import ChunkRetriever, get_retriever
from chunkwise.retrieval.retrievers.questions import Questions

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
    workshop: Workshop, group: Group, wanted: Sequence[Wanted], k: int
) -> Iterator[Outcome]:
    """Each as soon as it is known; one that fails says why, and the others go on."""
    chunking = _Chunking(workshop, group, wanted, k)
    for configuration in group:
        began = time.perf_counter()
        try:
            outcome = chunking.outcome(configuration)
        except Exception as error:  # strategies, retrievers and models may be somebody else's
            outcome = Outcome(configuration, error=_told(error))
        yield replace(outcome, seconds=round(time.perf_counter() - began, 3))


class _Chunking:
    """Chunks, their indexes and what is told about them: made once, when first wanted."""

    def __init__(self, workshop: Workshop, group: Group, wanted: Sequence[Wanted], k: int) -> None:
        self._workshop, self._group = workshop, group
        self._wanted, self._k = wanted, k
        self._known: dict[Kind, SharedIndex | Exception] = {}
        self._ready: dict[str, tuple[Places, Questions]] = {}

    def outcome(self, configuration: Configuration) -> Outcome:
        """Raises whatever keeps the configuration from being run."""
        workshop = self._workshop
        retriever = get_retriever(configuration.retriever)
        index = self._index(configuration.vectors)
        scores, tokens = dict[str, Scores](), list[int]()
        if not workshop.queries:
            pass  # what needs no question is told all the same
        elif not isinstance(retriever, ChunkRetriever) or index.has_summaries:
            scores, tokens = self._asked(index, configuration)
        elif not configuration.neighbours:
            scores, tokens = self._ranked(index, retriever)
        elif self._asking(index)[0].are_chunks:
            scores, tokens = self._widened(index, retriever, configuration.neighbours)
        else:
            scores, tokens = self._asked(index, configuration)
        cost = workshop.cost_of(index, configuration.vectors)
        return Outcome(
            configuration,
            {each.label: _values(scores[each.label]) for each in self._wanted if scores},
            {**cost, "context_tokens": sum(tokens) / len(tokens) if tokens else None},
            self._issues if configuration.strategy else {},
        )

    def _ranked(self, index: SharedIndex, retriever: ChunkRetriever) -> Asked:
        workshop = self._workshop
        count = max([self._k, *(each.at for each in self._wanted if not each.tokens)])
        tokens = max((each.at for each in self._wanted if each.tokens), default=0)
        places, questions = self._asking(index)
        found = places.found(ranked(index, places, retriever, questions, count, tokens))
        scores: dict[str, Scores] = {}
        # Most hits are there for the budgets alone.
        for within, hits in ((False, first_hits(found, count)), (True, found)):
            some = [each for each in self._wanted if each.tokens == within]
            scores |= span_scores(some, workshop.gold, hits, places.chunking, workshop.cut)
        within = self._wanted[0].tokens
        return scores, self._read(found if within else first_hits(found, self._k))

    def _widened(self, index: SharedIndex, retriever: ChunkRetriever, neighbours: int) -> Asked:
        """More chunks make longer hits: every depth is an answer of its own."""
        workshop, k = self._workshop, self._k
        places, questions = self._asking(index)
        measures = [ground.measure for ground in workshop.grounds]
        widened = Widened(places, measures, neighbours)

        def rank(depth: int) -> list[Ranking]:
            return ranking_of(index, retriever, questions, depth)

        scores: dict[str, Scores] = {}
        for each in self._wanted:
            found = (
                widened.filling(rank, k, each.at)
                if each.tokens
                else widened.found(rank(each.at or k))
            )
            scores |= span_scores([each], workshop.gold, found, places.chunking, workshop.cut)
        objective = self._wanted[0]
        return scores, self._read(
            widened.filling(rank, k, objective.at) if objective.tokens else widened.found(rank(k))
        )

    def _read(self, found: Found) -> list[int]:
        """Tokens of what each question's reader reads: all of it, or what the objective's budget allows."""
        objective = self._wanted[0]
        paid = np.bincount(found.question, found.tokens, len(self._workshop.queries))
        most = objective.at if objective.tokens else np.inf
        return np.minimum(paid, most).astype(np.int64).tolist()

    def _asked(self, index: SharedIndex, configuration: Configuration) -> Asked:
        retriever, neighbours = configuration.retriever, configuration.neighbours
        return asked(self._workshop, index, retriever, neighbours, self._wanted, self._k)

    def _asking(self, index: SharedIndex) -> tuple[Places, Questions]:
        """What is handed out for its chunks, and the questions with vectors that fit its own."""
        key = index.settings.vectors
        if key not in self._ready:
            measures = [ground.measure for ground in self._workshop.grounds]
            texts = [query.text for query in self._workshop.queries]
            questions = Questions(texts, index.settings, self._workshop.model)
            self._ready[key] = Places(index, measures), questions
        return self._ready[key]

    @cached_property
    def _strategy(self) -> Strategy:
        return get_strategy(self._group[0].strategy)

    @cached_property
    def _chunks(self) -> list[list[Chunk]]:
        return self._workshop.chunks_of(self._strategy)

    @cached_property
    def _issues(self) -> dict[str, int]:
        return self._workshop.issues_of(self._chunks)

    def _index(self, vectors: Kind) -> SharedIndex:
        """Words are searched in whatever index is there; only where the model fails, in one without vectors."""
        others: list[Kind] = ["late", "own"] if vectors == "none" and self._workshop.queries else []
        for kind in others:
            if any(each.vectors == kind for each in self._group):
                made = self._made(kind)
                if isinstance(made, SharedIndex):
                    return made
        made = self._made(vectors if self._workshop.queries else "none")
        if isinstance(made, Exception):
            raise made
        return made

    def _made(self, vectors: Kind) -> SharedIndex | Exception:
        if vectors not in self._known:
            try:
                self._known[vectors] = self._new(vectors)
            except Exception as error:  # kept: the next configuration need not wait for it again
                self._known[vectors] = error
        return self._known[vectors]

    def _new(self, vectors: Kind) -> SharedIndex:
        first = self._group[0]
        if not first.strategy:
            return self._workshop.sentences(vectors)
        return self._workshop.index_of(self._strategy, first.context, vectors, self._chunks)


def _values(scores: Scores) -> tuple[float | None, ...]:
    return tuple(None if value != value else value for value in scores.tolist())


def _told(error: Exception) -> str:
    """Our own errors say everything; of others the kind is told as well."""
    if isinstance(error, ChunkwiseError):
        return str(error)
    return f"{type(error).__name__}: {error}"
