"""Search an index: many queries in one call, by ranked chunks or by spans that fill a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Hit, HitPlace, Query
from chunkwise.models.embed.embedder import Embedder, TokenEncoder
from chunkwise.models.rerank.reranker import RememberingReranker, Reranker
from chunkwise.retrieval.errors import ChangedMeanwhile, reporting_damage
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.metadata_conditions import Where
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
from chunkwise.retrieval.search.parents_and_neighbours import (
    MergedSpans,
    in_parents,
    with_neighbours,
)
from chunkwise.retrieval.search.rerank import RERANK_DEPTH, diversified, reranked
from chunkwise.retrieval.searchable import (
    CandidateSpan,
    QueryBatch,
    Searchable,
    Snapshots,
)
from chunkwise.retrieval.tables_lists_code import NO_FRAME
from chunkwise.text.tokens.tokenizers import TokenizerLike

DEFAULT_COUNT = 5
DEFAULT_BUDGET = 1000
_CHANGES = 3
"""Times that a question is asked where the index changes under it."""
_MOST = 1 << 40
"""Hits: more than any index has, and a number that every library takes."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Limits hold together: `count` hits at most and `budget` tokens at most."""

    count: int | None = None
    budget: int | None = None
    neighbours: int = 0
    diversity: float | None = None
    """Balance of maximal marginal relevance; None: chunks stay in their order."""
    reranker: Reranker | None = None

    def __post_init__(self) -> None:
        _whole("k", self.count, 1, "hits")
        _whole("budget", self.budget, 1, "tokens")
        _whole("neighbours", self.neighbours, 0, "chunks")
        balance = self.diversity
        if balance is not None and (
            isinstance(balance, bool)
            or not isinstance(balance, int | float)
            or not 0 <= balance <= 1
        ):
            raise InvalidParameter(
                f"mmr is {balance!r}; from 0 (diversity alone) to 1 (relevance alone), such as 0.7"
            )

    @property
    def needs_chunks(self) -> str:
        """The first step given that works on chunks alone, by its name; empty: none."""
        steps = {
            "neighbours": self.neighbours > 0,
            "mmr": self.diversity is not None,
        }
        return next((name for name, given in steps.items() if given), "")


def _whole(name: str, value: object, minimum: int, unit: str) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise InvalidParameter(
            f"{name} is {value!r}; a whole number of {unit} is needed, {minimum} or more"
        )


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
    request: SearchRequest,
    only: Filter,
) -> list[list[CandidateSpan]]:
    """One list a question, best first."""
    answers: list[list[CandidateSpan]] = [[] for _ in questions.texts]
    waiting = list(range(len(questions)))
    depth = _first_depth(request)
    while waiting:
        batch = questions.some(waiting)
        rankings = retriever.rank(reader.source, batch, depth, only)
        short = []
        for at, text, ranking in zip(waiting, batch.texts, rankings, strict=True):
            answer = _answer(reader, text, ranking, request, only)
            answers[at] = answer.candidates
            # Several chunks made one hit, or the chunks are small: the ranking was not long enough.
            if not answer.enough and len(ranking.numbers) >= depth:
                short.append(at)
        waiting, depth = short, depth * _DEEPER
    return answers


def _first_depth(request: SearchRequest) -> int:
    if request.reranker is not None:
        return max(request.count or 0, RERANK_DEPTH)
    if request.diversity is not None:
        return max(request.count or 0, _DIVERSE_DEPTH)
    return request.count or _BUDGET_DEPTH


def _answer(
    reader: IndexReader, question: str, ranking: Ranking, request: SearchRequest, only: Filter
) -> _Answer:
    if request.reranker is not None:
        ranking = reranked(reader, question, ranking, request.reranker)
    if request.diversity is not None and len(ranking.numbers):
        vectors = reader.source.chunk_vectors(ranking.numbers.tolist())
        ranking = diversified(ranking, vectors, request.diversity)
    found = _within_limits(reader, in_parents(reader.chunk_spans(ranking)), request, only)
    # Reading more with a model is for the caller to ask; and more to compare would change what stands already.
    settled = request.reranker is not None or request.diversity is not None
    return _Answer(found.candidates, found.enough or settled)


def _within_limits(
    reader: IndexReader, candidates: Iterable[CandidateSpan], request: SearchRequest, only: Filter
) -> _Answer:
    enough = False
    if request.neighbours:
        candidates, enough = _with_neighbours(reader, candidates, request, only)
    if request.budget is not None:
        filled = fill_budget(reader, candidates, request.budget, request.count)
        return _Answer(filled.candidates, filled.full or enough)
    chosen = list(islice(candidates, request.count))
    return _Answer(chosen, enough or len(chosen) == request.count)


def _with_neighbours(
    reader: IndexReader, candidates: Iterable[CandidateSpan], request: SearchRequest, only: Filter
) -> _Answer:
    """As many hits as asked for, or as the budget needs, each with the chunks around it, merged where they touch."""
    merged, added = MergedSpans(reader), 0
    for candidate in islice(candidates, request.count):
        added += 1
        summary = bool(candidate.level)
        merged.add(
            candidate
            if summary
            else with_neighbours(reader.source, candidate, request.neighbours, only)
        )
        # Merged no further than the budget reaches: a long ranking would join whole documents.
        if request.budget is not None and merged.reach(request.budget):
            return _Answer(merged.candidates(), True)
    return _Answer(merged.candidates(), added == request.count)


_TRIES = 4
_FULL = 0.95
"""Of a budget in another tokenizer's tokens: from here on it is not worth another search."""


def search_spans(
    reader: IndexReader,
    questions: QueryBatch,
    retriever: SpanRetriever,
    request: SearchRequest,
    only: Filter,
) -> list[list[CandidateSpan]]:
    """One list a question, in the order the retriever shows them."""
    budget = request.budget or DEFAULT_BUDGET
    spans: Callable[..., list[list[CandidateSpan]]] = retriever.spans
    if request.reranker is not None and isinstance(retriever, RerankingSpanRetriever):
        # A budget in other tokens takes several tries, over the same passages.
        reranker = RememberingReranker(request.reranker)
        spans = partial(retriever.reranked_spans, reranker=reranker)
    answers: list[list[CandidateSpan]] = [[] for _ in questions.texts]
    sizes = [budget + 1] * len(questions)
    waiting = dict.fromkeys(range(len(questions)), budget)
    for _ in range(_TRIES):
        again: dict[int, int] = {}
        for allowed in sorted(set(waiting.values())):
            some = [at for at, its in waiting.items() if its == allowed]
            found = spans(reader.source, questions.some(some), allowed, only)
            for at, candidates in zip(some, found, strict=True):
                candidates = _best_spans(_readable_spans(reader, candidates), request.count)
                size = _size(reader, candidates)
                # What fits and holds more is better; of what does not fit, the last.
                if sizes[at] > budget or sizes[at] < size <= budget:
                    answers[at], sizes[at] = candidates, size
                if following := _next_allowance(reader, allowed, size, budget):
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


def _next_allowance(reader: IndexReader, allowed: int, size: int, budget: int) -> int:
    """How many of the index's tokens to fill next, where those filled have `size` of the reader's; 0: it will do."""
    if reader.counts_as_index:
        # Tokens of sentences add up only nearly: a text by itself may have one more.
        return max(0, allowed - max(0, size - budget)) if size > budget else 0
    if not size or _FULL * budget <= size <= budget:
        return 0
    following = allowed * budget // size
    return 0 if following == allowed else following


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
    *,
    k: int | None = None,
    budget: int | None = None,
    retriever: str | Retriever | None = None,
    only: Filter = EVERYTHING,
    where: Where = (),
    neighbours: int = 0,
    mmr: float | None = None,
    reranker: str | Reranker | None = None,
    tokenizer: TokenizerLike | None = None,
    embedder: Callable[[], Embedder] | None = None,
    token_encoder: Callable[[], TokenEncoder] | None = None,
) -> list[list[Hit]]:
    """The hits of every question, at most `k` of them with at most `budget` tokens in all.

    Without a `retriever`: `multiscale` where there is a budget and no summary, else `hybrid` (`k` is 5 without a
    budget), `bm25` where the index has no vectors. `where` are conditions on the metadata of documents, beside those
    of `only`: {"year": 2024}, "price>=10". A question without a character to see has no hits. `tokenizer` counts
    the budget and the sizes of hits; without it, that of the index. `embedder` makes the embedder once vectors are
    wanted; without it, that of the model the index names; so does `token_encoder` with token vectors.
    """
    texts = _texts(queries)
    if not isinstance(only, Filter):
        raise InvalidParameter(
            f"only is {only!r}; a Filter is needed, such as Filter(documents='handbook/*')"
        )
    only = only.and_where(where)
    most = min(k, _MOST) if isinstance(k, int) and not isinstance(k, bool) else k
    request = SearchRequest(most, budget, neighbours, mmr, _reranker(reranker))
    chosen = get_retriever(
        retriever
        or default_retriever(
            source, budget=request.budget, needs_chunks=bool(request.needs_chunks), only=only
        )
    )
    asked = [at for at, text in enumerate(texts) if text.strip()]
    questions = QueryBatch([texts[at] for at in asked], source.settings, embedder, token_encoder)
    if request.diversity is not None and not questions.have_vectors:
        raise InvalidParameter(
            "mmr compares vectors, and the index was made without them; leave mmr out, "
            "or make the index again with vectors ('late', 'own' or 'both')"
        )
    for left in reversed(range(_CHANGES)):
        try:
            found = _hits(IndexReader(source, tokenizer), questions, chosen, request, only)
            break
        except ChangedMeanwhile:
            if not left:
                raise
    answers: list[list[Hit]] = [[] for _ in texts]
    for at, hits in zip(asked, found, strict=True):
        answers[at] = hits
    return answers


def _hits(
    reader: IndexReader,
    questions: QueryBatch,
    retriever: Retriever,
    request: SearchRequest,
    only: Filter,
) -> list[list[Hit]]:
    if request.budget is not None:
        reader.frame_tokens = request.budget // 2
    # A server may be written to meanwhile: all that is looked up has to be of one state.
    source = reader.source
    state = source.snapshot() if isinstance(source, Snapshots) else nullcontext()
    with state, reporting_damage(source):
        found = _candidates_of(reader, questions, retriever, request, only)
        return [hits_of(reader, candidates) for candidates in found]


def _candidates_of(
    reader: IndexReader,
    questions: QueryBatch,
    retriever: Retriever,
    request: SearchRequest,
    only: Filter,
) -> list[list[CandidateSpan]]:
    if isinstance(retriever, ChunkRetriever):
        if request.count is None and request.budget is None:
            request = replace(request, count=DEFAULT_COUNT)
        return search_chunks(reader, questions, retriever, request, only)
    steps = request.needs_chunks or ("" if only.level is None else "level")
    if request.reranker is not None and not isinstance(retriever, RerankingSpanRetriever):
        steps = steps or "reranker"
    if steps:
        raise InvalidParameter(
            f"{steps} works on chunks, and this retriever hands out sentences; "
            "choose bm25, dense or hybrid"
        )
    return search_spans(reader, questions, retriever, request, only)


def _texts(queries: str | Sequence[str | Query]) -> list[str]:
    if isinstance(queries, bytes | Mapping) or not isinstance(queries, Iterable):
        raise InvalidParameter(
            f"queries is {type(queries).__name__}; needed: a str, or a list of str and Query values"
        )
    given = [queries] if isinstance(queries, str) else list(queries)
    texts = [query.text if isinstance(query, Query) else query for query in given]
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InvalidParameter(
                f"question {number} is {type(text).__name__}; a str or a Query is needed"
            )
    return texts


def _reranker(reranker: str | Reranker | None) -> Reranker | None:
    if reranker is None:
        return None
    from chunkwise.models import get_reranker

    return get_reranker(reranker)


def hits_of(reader: IndexReader, candidates: Sequence[CandidateSpan]) -> list[Hit]:
    """In the order given; what was assembled from sentences is given in reading order and ranked by its score."""
    frames = [
        NO_FRAME if each.level else reader.frame(each.document, each.start, each.end)
        for each in candidates
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
            summarised=candidate.spans,
            summarised_tokens=candidate.span_tokens,
            level=candidate.level,
            matched_chunk=candidate.matched,
            matched=candidate.matched_span,
            parent=candidate.parent,
            opening=frame.opening,
            closing=frame.closing,
            elsewhere=tuple(
                HitPlace(reader.document(each.document), *span, tokens)
                for each in candidate.elsewhere
                for span, tokens in zip(each.spans, each.tokens, strict=True)
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
