"""Search an index: many queries in one call, by ranked chunks or by spans that fill a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Hit, HitPlace, Query
from chunkwise.models.embed.embedder import Embedder, TokenEncoder
from chunkwise.models.rerank.reranker import RememberingReranker
from chunkwise.options import SearchOptions
from chunkwise.retrieval.errors import ChangedMeanwhile, reporting_damage
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.retrievers import (
    ChunkRetriever,
    RerankingSpanRetriever,
    Retriever,
    SpanRetriever,
    default_retriever,
    get_retriever,
)
from chunkwise.retrieval.search.budget import fill_budget
from chunkwise.retrieval.search.index_reader import IndexReader
from chunkwise.retrieval.search.parents_and_neighbors import (
    MergedSpans,
    in_parents,
    with_neighbors,
)
from chunkwise.retrieval.search.rerank import RERANK_DEPTH, diversified, reranked, resolve_reranker
from chunkwise.retrieval.searchable import (
    CandidateSpan,
    QueryBatch,
    Searchable,
)
from chunkwise.retrieval.tables_lists_code import NO_FRAME

DEFAULT_COUNT = 5
DEFAULT_BUDGET = 1000
_CHANGES = 3
"""Times that a question is asked where the index changes under it."""


def chunk_step(options: SearchOptions) -> str:
    """Name the first step asked for that works only on chunks; empty for none."""
    if options.neighbors:
        return "neighbors"
    return "mmr" if options.mmr is not None else ""


_DIVERSE_DEPTH = 100
"""Chunks a question that are compared with one another."""
_BUDGET_DEPTH = 400
_DEEPER = 8


class _Answer(NamedTuple):
    candidates: list[CandidateSpan]
    enough: bool
    """Chunks further down would change nothing."""


def search_chunks(
    reader: IndexReader,
    questions: QueryBatch,
    retriever: ChunkRetriever,
    options: SearchOptions,
    only: Filter,
) -> list[list[CandidateSpan]]:
    """One list a question, best first."""
    answers: list[list[CandidateSpan]] = [[] for _ in questions.texts]
    waiting = list(range(len(questions)))
    depth = _first_depth(options)
    while waiting:
        batch = questions.some(waiting)
        rankings = retriever.rank(reader.source, batch, depth, only)
        short = []
        for at, text, ranking in zip(waiting, batch.texts, rankings, strict=True):
            answer = _answer(reader, text, ranking, options, only)
            answers[at] = answer.candidates
            # Several chunks made one hit, or the chunks are small: the ranking was not long enough.
            if not answer.enough and len(ranking.numbers) >= depth:
                short.append(at)
        waiting, depth = short, depth * _DEEPER
    return answers


def _first_depth(options: SearchOptions) -> int:
    if options.reranker is not None:
        return max(options.k or 0, RERANK_DEPTH)
    if options.mmr is not None:
        return max(options.k or 0, _DIVERSE_DEPTH)
    return options.k or _BUDGET_DEPTH


def _answer(
    reader: IndexReader, question: str, ranking: Ranking, options: SearchOptions, only: Filter
) -> _Answer:
    if (reranker := resolve_reranker(options.reranker)) is not None:
        ranking = reranked(reader, question, ranking, reranker)
    if options.mmr is not None and len(ranking.numbers):
        vectors = reader.source.chunk_vectors(ranking.numbers.tolist())
        ranking = diversified(ranking, vectors, options.mmr)
    result = _within_limits(reader, in_parents(reader.chunk_spans(ranking)), options, only)
    # Reading more with a model is for the caller to ask; and more to compare would change what stands already.
    settled = options.reranker is not None or options.mmr is not None
    return _Answer(result.candidates, result.enough or settled)


def _within_limits(
    reader: IndexReader, candidates: Iterable[CandidateSpan], options: SearchOptions, only: Filter
) -> _Answer:
    enough = False
    if options.neighbors:
        candidates, enough = _with_neighbors(reader, candidates, options, only)
    if options.budget is not None:
        filled = fill_budget(reader, candidates, options.budget, options.k)
        return _Answer(filled.candidates, filled.full or enough)
    chosen = list(islice(candidates, options.k))
    return _Answer(chosen, enough or len(chosen) == options.k)


def _with_neighbors(
    reader: IndexReader, candidates: Iterable[CandidateSpan], options: SearchOptions, only: Filter
) -> _Answer:
    """As many hits as asked for, or as the budget needs, each with the chunks around it, merged where they touch."""
    merged, added = MergedSpans(reader), 0
    for candidate in islice(candidates, options.k):
        added += 1
        summary = bool(candidate.level)
        merged.add(
            candidate
            if summary
            else with_neighbors(reader.source, candidate, options.neighbors, only)
        )
        # Merged no further than the budget reaches: a long ranking would join whole documents.
        if options.budget is not None and merged.reach(options.budget):
            return _Answer(merged.candidates(), True)
    return _Answer(merged.candidates(), added == options.k)


_TRIES = 4
_NEAR = 0.95
"""Of an allowance in the index's tokens: one that is so near the right one is not worth another search."""


def search_spans(
    reader: IndexReader,
    questions: QueryBatch,
    retriever: SpanRetriever,
    options: SearchOptions,
    only: Filter,
) -> list[list[CandidateSpan]]:
    """One list a question, in the order the retriever shows them."""
    budget = options.budget or DEFAULT_BUDGET
    spans: Callable[..., list[list[CandidateSpan]]] = retriever.spans
    model = resolve_reranker(options.reranker)
    if model is not None and isinstance(retriever, RerankingSpanRetriever):
        # A budget in other tokens takes several tries, over the same passages.
        reranker = RememberingReranker(model)
        spans = partial(retriever.reranked_spans, reranker=reranker)
    answers: list[list[CandidateSpan]] = [[] for _ in questions.texts]
    sizes = [budget + 1] * len(questions)
    first = budget
    if not reader.counts_as_index:
        first = reader.index_tokens(budget, reader.sample())
    waiting = dict.fromkeys(range(len(questions)), first)
    for _ in range(_TRIES):
        again: dict[int, int] = {}
        for allowed in sorted(set(waiting.values())):
            some = [at for at, its in waiting.items() if its == allowed]
            result = spans(reader.source, questions.some(some), allowed, only)
            for at, candidates in zip(some, result, strict=True):
                candidates = _best_spans(_readable_spans(reader, candidates), options.k)
                size = _size(reader, candidates)
                # What fits and holds more is better; of what does not fit, the last.
                if sizes[at] > budget or sizes[at] < size <= budget:
                    answers[at], sizes[at] = candidates, size
                if following := _next_allowance(reader, candidates, allowed, size, budget):
                    again[at] = following
        waiting = again
        if not waiting:
            break
    return [
        candidates
        if _size(reader, candidates) <= budget
        else fill_budget(reader, candidates, budget).candidates
        for candidates in answers
    ]


def _next_allowance(
    reader: IndexReader, found: Sequence[CandidateSpan], allowed: int, size: int, budget: int
) -> int:
    """How many of the index's tokens to fill next, where `found` has `size` of the reader's; 0: it will do."""
    if reader.counts_as_index:
        # Tokens of sentences add up only nearly: a text by itself may have one more.
        return max(0, allowed - max(0, size - budget)) if size > budget else 0
    texts = [reader.text(each.document)[each.start : each.end] for each in found]
    right = reader.index_tokens(budget, texts)
    if size > budget:
        return min(right, allowed - 1)
    return 0 if right * _NEAR <= allowed else right


def _readable_spans(
    reader: IndexReader, candidates: Sequence[CandidateSpan]
) -> list[CandidateSpan]:
    """Without comments and white space at their edges, and without those that are a fence, a rule or a marker alone."""
    kept = []
    for candidate in candidates:
        if candidate.level:
            kept.append(candidate)
            continue
        span = reader.blocks(candidate.document).readable(candidate.start, candidate.end)
        if span.start < span.end:
            kept.append(candidate._replace(start=span.start, end=span.end))
    return kept


def _size(reader: IndexReader, candidates: Sequence[CandidateSpan]) -> int:
    return sum(map(reader.size, candidates))


def _best_spans(candidates: list[CandidateSpan], count: int | None) -> list[CandidateSpan]:
    """The best of them, shown in the same order."""
    if count is None or len(candidates) <= count:
        return candidates
    order = sorted(range(len(candidates)), key=lambda at: (-candidates[at].score, at))
    return [candidates[at] for at in sorted(order[:count])]


def search(
    source: Searchable,
    queries: str | Sequence[str | Query],
    options: SearchOptions = SearchOptions(),
    *,
    embedder: Callable[[], Embedder] | None = None,
    token_encoder: Callable[[], TokenEncoder] | None = None,
) -> list[list[Hit]]:
    """Find the hits of every question.

    Args:
        source: The index.
        queries: One question or several; one without visible characters has no hits.
        options: What is searched and how; what is not given is as the index keeps it. If it keeps no retriever:
            `multiscale` with a budget if the index has no summaries, else `hybrid`, or `bm25` without vectors.
        embedder: Makes the embedder once vectors are wanted; by default the model that the index names.
        token_encoder: The same for token vectors.
    """
    texts = _texts(queries)
    options = options.filled_from(source.settings.search)
    only = Filter.of(options)
    options = replace(options, reranker=resolve_reranker(options.reranker))
    retriever = get_retriever(
        options.retriever
        or default_retriever(
            source, budget=options.budget, needs_chunks=bool(chunk_step(options)), only=only
        )
    )
    asked = [at for at, text in enumerate(texts) if text.strip()]
    questions = QueryBatch(
        [texts[at] for at in asked], source.settings, embedder, token_encoder,
        naming=options.naming == "on",
    )  # fmt: skip
    if options.mmr is not None and not questions.have_vectors:
        raise InvalidParameter(
            "mmr needs vectors; leave it out, or rebuild the index with vectors ('late', 'own' "
            "or 'both')"
        )
    for left in reversed(range(_CHANGES)):
        try:
            result = _hits(
                IndexReader(source, options.tokenizer), questions, retriever, options, only
            )
            break
        except ChangedMeanwhile:
            if not left:
                raise
    answers: list[list[Hit]] = [[] for _ in texts]
    least = options.min_score
    for at, hits in zip(asked, result, strict=True):
        answers[at] = [hit for hit in hits if least is None or hit.score >= least]
    return answers


def _hits(
    reader: IndexReader,
    questions: QueryBatch,
    retriever: Retriever,
    options: SearchOptions,
    only: Filter,
) -> list[list[Hit]]:
    if options.budget is not None:
        reader.frame_tokens = options.budget // 2
    # A server may be written to meanwhile: all that is looked up has to be of one state.
    source = reader.source
    with source.snapshot(), reporting_damage(source):
        result = _candidates_of(reader, questions, retriever, options, only)
        return [hits_of(reader, candidates) for candidates in result]


def _candidates_of(
    reader: IndexReader,
    questions: QueryBatch,
    retriever: Retriever,
    options: SearchOptions,
    only: Filter,
) -> list[list[CandidateSpan]]:
    if isinstance(retriever, ChunkRetriever):
        if options.k is None and options.budget is None:
            options = replace(options, k=DEFAULT_COUNT)
        return search_chunks(reader, questions, retriever, options, only)
    steps = chunk_step(options) or ("" if only.level is None else "level")
    if options.reranker is not None and not isinstance(retriever, RerankingSpanRetriever):
        steps = steps or "reranker"
    if steps:
        raise InvalidParameter(
            f"{steps} needs chunks, but this retriever returns sentences; choose bm25, dense "
            f"or hybrid"
        )
    return search_spans(reader, questions, retriever, options, only)


def _texts(queries: str | Sequence[str | Query]) -> list[str]:
    if isinstance(queries, bytes | Mapping) or not isinstance(queries, Iterable):
        raise InvalidParameter(
            f"queries is {type(queries).__name__}; expected a str, or a list of str and Query "
            "values"
        )
    given = [queries] if isinstance(queries, str) else list(queries)
    texts = [query.text if isinstance(query, Query) else query for query in given]
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InvalidParameter(
                f"question {number} is {type(text).__name__}; expected a str or a Query"
            )
    return texts


def hits_of(reader: IndexReader, candidates: Sequence[CandidateSpan]) -> list[Hit]:
    """In the order given; what was assembled from sentences is given in reading order and ranked by its score."""
    frames = [
        NO_FRAME
        if candidate_span.level
        else reader.frame(candidate_span.document, candidate_span.start, candidate_span.end)
        for candidate_span in candidates
    ]
    return [
        Hit(
            document=reader.document(candidate.document),
            start=candidate.start,
            end=candidate.end,
            score=candidate.score,
            rank=rank,
            token_count=reader.size(candidate),
            section=candidate.section,
            chunk=candidate.chunk,
            summary=candidate.summary,
            summarized=candidate.spans,
            summarized_tokens=candidate.span_tokens,
            level=candidate.level,
            matched_chunk=candidate.matched,
            matched=candidate.matched_span,
            parent=candidate.parent,
            opening=frame.opening,
            closing=frame.closing,
            elsewhere=tuple(
                HitPlace(reader.document(row.document), *span, tokens)
                for row in candidate.elsewhere
                for span, tokens in zip(row.spans, row.tokens, strict=True)
            ),
            hidden=()
            if candidate.level
            else reader.blocks(candidate.document).hidden(candidate.start, candidate.end),
        )
        for rank, candidate, frame in zip(_ranks(candidates), candidates, frames, strict=True)
    ]


def _ranks(candidates: Sequence[CandidateSpan]) -> list[int]:
    ranks = list(range(1, len(candidates) + 1))
    if candidates and candidates[0].first < 0:
        best_first = sorted(range(len(candidates)), key=lambda at: -candidates[at].score)
        for rank, at in enumerate(best_first, 1):
            ranks[at] = rank
    return ranks
