"""A search for chunks: ranked, read again, made diverse, widened, fitted into a budget."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.place import Place, chunk_places
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.retrievers import ChunkRetriever
from chunkwise.retrieval.retrievers.questions import Questions
from chunkwise.retrieval.searching.budget import fill
from chunkwise.retrieval.searching.merging import Merged
from chunkwise.retrieval.searching.mmr import diverse
from chunkwise.retrieval.searching.neighbours import widened
from chunkwise.retrieval.searching.parents import in_parents
from chunkwise.retrieval.searching.reader import Reader
from chunkwise.retrieval.searching.rerank import RERANK_DEPTH, reranked
from chunkwise.retrieval.searching.wanted import Wanted

_DIVERSE_DEPTH = 100
"""Chunks a question that are compared with one another."""
_BUDGET_DEPTH = 400
_DEEPER = 8


class _Answer(NamedTuple):
    places: list[Place]
    enough: bool
    """Chunks further down would change nothing."""


def search_chunks(
    reader: Reader, questions: Questions, retriever: ChunkRetriever, wanted: Wanted, only: Filter
) -> list[list[Place]]:
    """One list a question, best first."""
    answers: list[list[Place]] = [[] for _ in questions.texts]
    waiting = list(range(len(questions)))
    depth = _first_depth(wanted)
    while waiting:
        batch = questions.some(waiting)
        rankings = retriever.rank(reader.source, batch, depth, only)
        short = []
        for at, text, ranking in zip(waiting, batch.texts, rankings, strict=True):
            answer = _answer(reader, text, ranking, wanted, only)
            answers[at] = answer.places
            # Several chunks made one hit, or the chunks are small: the ranking was not long enough.
            if not answer.enough and len(ranking.numbers) >= depth:
                short.append(at)
        waiting, depth = short, depth * _DEEPER
    return answers


def _first_depth(wanted: Wanted) -> int:
    if wanted.reranker is not None:
        return max(wanted.count or 0, RERANK_DEPTH)
    if wanted.diversity is not None:
        return max(wanted.count or 0, _DIVERSE_DEPTH)
    return wanted.count or _BUDGET_DEPTH


def _answer(
    reader: Reader, question: str, ranking: Ranking, wanted: Wanted, only: Filter
) -> _Answer:
    if wanted.reranker is not None:
        ranking = reranked(reader, question, ranking, wanted.reranker)
    if wanted.diversity is not None and len(ranking.numbers):
        vectors = reader.source.chunk_vectors(ranking.numbers.tolist())
        ranking = diverse(ranking, vectors, wanted.diversity)
    found = _handed_out(reader, in_parents(chunk_places(reader.source, ranking)), wanted, only)
    # Reading more with a model is for the caller to ask; and more to compare would change what stands already.
    settled = wanted.reranker is not None or wanted.diversity is not None
    return _Answer(found.places, found.enough or settled)


def _handed_out(reader: Reader, places: Iterable[Place], wanted: Wanted, only: Filter) -> _Answer:
    enough = False
    if wanted.neighbours:
        places, enough = _with_neighbours(reader, places, wanted, only)
    if wanted.budget is not None:
        filled = fill(reader, places, wanted.budget, wanted.count)
        return _Answer(filled.places, filled.full or enough)
    chosen = list(islice(places, wanted.count))
    return _Answer(chosen, enough or len(chosen) == wanted.count)


def _with_neighbours(
    reader: Reader, places: Iterable[Place], wanted: Wanted, only: Filter
) -> _Answer:
    """As many hits as asked for, or as the budget needs, each with the chunks around it, merged where they touch."""
    together, added = Merged(reader), 0
    for place in islice(places, wanted.count):
        added += 1
        summary = bool(place.level)
        together.add(place if summary else widened(reader.source, place, wanted.neighbours, only))
        # Merged no further than the budget reaches: a long ranking would join whole documents.
        if wanted.budget is not None and together.reach(wanted.budget):
            return _Answer(together.places(), True)
    return _Answer(together.places(), added == wanted.count)
