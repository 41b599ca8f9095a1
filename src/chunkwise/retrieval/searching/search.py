"""Ask an index: many questions in one call, the same answer every time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

from chunkwise.core import Hit, Query
from chunkwise.errors import InvalidParameter
from chunkwise.models.embedder import Embedder
from chunkwise.models.reranker import Reranker
from chunkwise.retrieval.damage import told_if_damaged
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.place import Place
from chunkwise.retrieval.retrievers import ChunkRetriever, Retriever, get_retriever
from chunkwise.retrieval.retrievers.questions import Questions
from chunkwise.retrieval.searchable import AtomSource, Searchable, Snapshots, Summarised
from chunkwise.retrieval.searching.chunk_search import search_chunks
from chunkwise.retrieval.searching.hits import hits_of
from chunkwise.retrieval.searching.reader import Reader
from chunkwise.retrieval.searching.span_search import search_spans
from chunkwise.retrieval.searching.wanted import DEFAULT_COUNT, Wanted


def search(
    source: Searchable,
    queries: str | Sequence[str | Query],
    *,
    k: int | None = None,
    budget: int | None = None,
    retriever: str | Retriever | None = None,
    only: Filter = EVERYTHING,
    neighbours: int = 0,
    mmr: float | None = None,
    rerank: str | Reranker | None = None,
    embedder: Callable[[], Embedder] | None = None,
) -> list[list[Hit]]:
    """The hits of every question, at most `k` of them with at most `budget` tokens in all.

    Without a `retriever`: `multiscale` where there is a budget and no summary, else `hybrid` (`k` is 5 without a
    budget), `bm25` where the index has no vectors. A question without a character to see has no hits. `embedder`
    makes the embedder once vectors are wanted; without it, that of the model the index names.
    """
    texts = _texts(queries)
    if not isinstance(only, Filter):
        raise InvalidParameter(
            f"only is {only!r}; a Filter is needed, such as Filter(documents='handbook/*')"
        )
    wanted = Wanted(k, budget, neighbours, mmr, _reranker(rerank))
    chosen = get_retriever(retriever or usual_retriever(source, wanted, only))
    answers: list[list[Hit]] = [[] for _ in texts]
    asked = [at for at, text in enumerate(texts) if text.strip()]
    questions = Questions([texts[at] for at in asked], source.settings, embedder)
    if wanted.diversity is not None and not questions.have_vectors:
        raise InvalidParameter(
            "mmr compares vectors, and the index was made without them; leave mmr out, "
            "or make the index again with vectors ('late', 'own' or 'both')"
        )
    reader = Reader(source)
    # A server may be written to meanwhile: all that is looked up has to be of one state.
    state = source.snapshot() if isinstance(source, Snapshots) else nullcontext()
    with state, told_if_damaged(source):
        found = _found(reader, questions, chosen, wanted, only)
        for at, places in zip(asked, found, strict=True):
            answers[at] = hits_of(reader, places)
    return answers


def _found(
    reader: Reader, questions: Questions, retriever: Retriever, wanted: Wanted, only: Filter
) -> list[list[Place]]:
    if isinstance(retriever, ChunkRetriever):
        if wanted.count is None and wanted.budget is None:
            wanted = replace(wanted, count=DEFAULT_COUNT)
        return search_chunks(reader, questions, retriever, wanted, only)
    steps = wanted.needs_chunks or ("" if only.level is None else "level")
    if steps:
        raise InvalidParameter(
            f"{steps} works on chunks, and this retriever hands out sentences; "
            "choose bm25, dense or hybrid"
        )
    return search_spans(reader, questions, retriever, wanted, only)


def _texts(queries: str | Sequence[str | Query]) -> list[str]:
    given = [queries] if isinstance(queries, str) else list(queries)
    texts = [query.text if isinstance(query, Query) else query for query in given]
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InvalidParameter(
                f"question {number} is {type(text).__name__}; a str or a Query is needed"
            )
    return texts


def _reranker(rerank: str | Reranker | None) -> Reranker | None:
    if not isinstance(rerank, str):
        return rerank
    from chunkwise.models import get_reranker

    return get_reranker(rerank)


def usual_retriever(source: Searchable, wanted: Wanted, only: Filter = EVERYTHING) -> str:
    """What suits the index and what is wanted of it."""
    vectors = source.settings.vectors
    # Sentences of several sizes would pass by what a model was asked to write.
    summaries = isinstance(source, Summarised) and source.has_summaries
    # Chunks embedded each by itself leave nothing to make the vectors of other sizes from.
    if (
        wanted.budget
        and not wanted.needs_chunks
        and only.level is None
        and not summaries
        and vectors != "own"
        and isinstance(source, AtomSource)
    ):
        return "multiscale"
    return "bm25" if vectors == "none" else "hybrid"
