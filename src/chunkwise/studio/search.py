"""One question to several retrievers: what each finds within the budget, why, and what was just outside of it."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from chunkwise.answering.cited_answer import passages_of
from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import SECTION_SEPARATOR, Hit, Passage
from chunkwise.models.llm.prompt import fenced
from chunkwise.options import SERVED_SEARCH_OPTIONS, SearchOptions
from chunkwise.report.sanitize import few_lines, one_line
from chunkwise.report.search_report import hit_section, hit_text, hits_total, marked_words
from chunkwise.report.view import View
from chunkwise.retrieval import Index
from chunkwise.retrieval.filters import EVERYTHING
from chunkwise.retrieval.retrievers import (
    MultiscaleRetriever,
    default_retriever,
    get_retriever,
    registry,
)
from chunkwise.retrieval.search.named_documents import (
    named_documents,
    naming_retriever,
    naming_told,
)
from chunkwise.retrieval.search.rerank import resolve_reranker
from chunkwise.retrieval.search.search import chunk_step
from chunkwise.retrieval.search.search import search as find
from chunkwise.retrieval.search.unmatched_words import unmatched_told, unmatched_words
from chunkwise.retrieval.searchable import QueryBatch
from chunkwise.studio.project import Project
from chunkwise.studio.read_request import declared
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.terms import query_terms, words_of

if TYPE_CHECKING:
    from chunkwise.models.rerank.reranker import Reranker
    from chunkwise.retrieval.retrievers import Retriever

Question = Annotated[str, Meta(max_length=4_000, description="question")]
_MOST_OUTSIDE = 5
_LEAST_OUTSIDE = 12
"""Characters of a stretch that is worth showing."""
_RANKED = 400
"""Chunks among which the rank of a hit is looked for."""
_SHARE = 0.05
"""Votes below this say nothing."""


_COMPARED = ("retriever", "k", "budget")
"""Options that a comparison of retrievers sets by itself."""
_FILTERS = {SearchOptions: [name for name in SERVED_SEARCH_OPTIONS if name not in _COMPARED]}


class StudioSearch(declared("StudioOptions", _FILTERS), frozen=True):  # type: ignore[call-arg, misc]
    """A question, and how it is searched for."""

    q: Question = ""
    retriever: Annotated[
        tuple[str, ...],
        Meta(max_length=4, description="retrievers; recommended: as the index keeps it"),
    ] = ()
    budget: Annotated[
        Annotated[int, Meta(ge=1, le=100_000)] | None,
        Meta(description="token budget; default: as the index keeps it, or 1000"),
    ] = None
    explain: Annotated[bool, Meta(description="explain each hit")] = True


@dataclass(frozen=True, slots=True)
class FoundWord:
    """A word of the question in a hit, as it is spelled there."""

    word: str
    count: int


@dataclass(frozen=True, slots=True)
class SizeVote:
    """How much windows of one size say for a hit: a share of the best one's score."""

    size: int
    """Tokens; 0: the whole document."""
    signal: str
    share: float


@dataclass(frozen=True, slots=True)
class Why:
    """What found a hit."""

    words: tuple[FoundWord, ...]
    absent: tuple[str, ...]
    """Words of the question that are not in it."""
    rank_by_words: int | None
    """Of its chunk among those of the whole index; None: not among the first, or it is no chunk."""
    rank_by_vectors: int | None
    similarity: float | None
    """The cosine of its chunk's vector and that of the question."""
    votes: tuple[SizeVote, ...]
    """Of the sizes, where several were searched at once."""


@dataclass(frozen=True, slots=True)
class HitCard:
    """One hit, with its text and where words of the question stand in it."""

    rank: int
    score: float
    title: str
    doc_id: str
    section: str
    start: int
    end: int
    page: int | None
    token_count: int
    text: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A hit, where its document is in the list, and why it was found."""

    card: HitCard
    document: int | None
    is_gold: bool
    """Whether it has a character of what answers the question; False also where nobody knows."""
    why: Why


@dataclass(frozen=True, slots=True)
class OutsideSpan:
    """What a larger budget would have brought."""

    title: str
    doc_id: str
    document: int | None
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class SearchSide:
    """What one retriever finds."""

    retriever: str
    problem: str
    """Why there is no answer; empty: there is one."""
    total: str
    tokens: int
    hits: tuple[SearchHit, ...]
    outside: tuple[OutsideSpan, ...]
    reading: str
    """What a language model would read, as `chunkwise ask` hands it over."""
    command: str
    code: str


@dataclass(frozen=True, slots=True)
class SearchView(View):
    """A question as several retrievers answer it."""

    question: str
    budget: int | None
    """Tokens that each side may fill; None: `k` limits it."""
    k: int | None
    note: str
    """The documents that the question names, and words that no document has."""
    retrievers: tuple[str, ...]
    """Those that this index can be searched by."""
    questions: tuple[str, ...]
    """Of the test set, to try."""
    sides: tuple[SearchSide, ...]


RECOMMENDED = "recommended"
"""The search that the index keeps."""
BEFORE = "before"
"""The default search of the index that a recommendation took the place of."""
_MOST_QUESTIONS = 200


def offered(project: Project, index: Index) -> tuple[str, ...]:
    """What a page can compare: the applied recommendation and what was before it, then retrievers by name."""
    kept = (RECOMMENDED,) if index.settings.search.changed() else ()
    before = (BEFORE,) if project.index_before is not None else ()
    return (*kept, *before, *usable_retrievers(index))


def usable_retrievers(index: Index) -> tuple[str, ...]:
    """By name; without vectors words are left, and several sizes of them; along names where the index has them. Those
    of other packages come last."""
    names = ["multiscale", "hybrid", "bm25", "dense"]
    if index.settings.vectors == "none":
        names = ["multiscale", "bm25"]
    elif index.settings.vectors == "own":
        names.remove("multiscale")
    if index.settings.graph and "multiscale" in names:
        names.insert(1, "graph")
    return (*names, *_of_packages(tuple(sys.path)))


@lru_cache(maxsize=1)
def _of_packages(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Those that can be used, looked for once: every search asks, and to look takes longer than some searches."""
    return tuple(
        part.name
        for part in registry.listed()
        if part.name not in registry.builtin and not part.problem
    )


def search(project: Project, request: StudioSearch) -> SearchView:
    index = project.ready_index()
    usable = offered(project, index)
    asked = tuple(dict.fromkeys(request.retriever)) or usable[:1]
    kept = index.settings.search
    k, budget = (None, request.budget) if request.budget else (kept.k, kept.budget)
    if not (k or budget):
        budget = 1000
    questions = tuple(query.text for query in project.queries.values())[:_MOST_QUESTIONS]
    if not request.q.strip():
        return SearchView("", budget, k, "", usable, questions, ())
    limited = SearchOptions(
        k=k, budget=budget, **{name: getattr(request, name) for name in _FILTERS[SearchOptions]}
    )
    with project.search_lock:
        sides = tuple(_side(project, index, request, name, limited) for name in asked)
        note = ""
        if request.explain:
            missing = project.made.get(("note", request.q), lambda: _note(index, request.q))
            naming = _naming(project, index, request, asked, limited)
            note = "; ".join(filter(None, (naming, missing)))
    return SearchView(request.q, budget, k, note, usable, questions, sides)


def _asked(index: Index, name: str, limited: SearchOptions) -> SearchOptions:
    """What one side searches with: the retriever of its name, or what its index keeps."""
    if name in (RECOMMENDED, BEFORE):
        return limited.filled_from(index.settings.search)
    return replace(limited, retriever=name)


def _naming(
    project: Project,
    index: Index,
    request: StudioSearch,
    retrievers: Sequence[str],
    limited: SearchOptions,
) -> str:
    """The documents that the question names, if one of the retrievers has a share for them."""
    for name in retrievers:
        with suppress(ChunkwiseError):  # its side has the error
            asked = _asked(index, name, limited)
            if naming_retriever(index.source, asked):
                embedder = partial(project.embedder, index)
                result = named_documents(index.source, request.q, asked, embedder)
                return one_line(naming_told(result), 300)
    return ""


def _side(
    project: Project, index: Index, request: StudioSearch, name: str, limited: SearchOptions
) -> SearchSide:
    if name == BEFORE and project.index_before is not None:
        index = project.index_before
    command, code = _commands(project, index, request, name, limited)
    embedder = partial(project.embedder, index)
    try:
        options = _asked(index, name, limited)
        retriever = get_retriever(
            options.retriever
            or default_retriever(
                index.source, budget=options.budget, needs_chunks=bool(chunk_step(options))
            )
        )
        options = replace(options, retriever=retriever, reranker=kept_reranker(project, options))
        batch = QueryBatch([request.q], index.settings, embedder, naming=options.naming == "on")
        more_wanted = {
            name: 2 * value for name in ("k", "budget") if (value := getattr(options, name))
        }
        searches = (options, replace(options, **more_wanted)) if request.explain else (options,)
        result = [find(index.source, [request.q], item, embedder=embedder)[0] for item in searches]
        hits, more = result[0], result[-1]
        reasons = (
            _reasons(index, retriever, batch, hits) if request.explain else [_ByPlace()] * len(hits)
        )
    except ChunkwiseError as error:
        return SearchSide(name, str(error), "", 0, (), (), "", command, code)
    except (
        Exception
    ) as error:  # a retriever of another package may raise anything; the other sides stay
        if name.partition("(")[0].strip() in registry.builtin:
            raise
        problem = f"the retriever {name} failed: {type(error).__name__}: {error}"
        return SearchSide(name, problem, "", 0, (), (), "", command, code)
    cards = _cards(hits, request.q, index.source.languages)
    ranked = sorted(zip(cards, reasons, strict=True), key=lambda pair: pair[0].rank)
    return SearchSide(
        name,
        "",
        hits_total(hits) if hits else "nothing found",
        sum(hit.token_count for hit in hits),
        tuple(_found(project, request.q, ranked)),
        _outside(project, hits, more),
        "\n\n".join(fenced(item.shown, "passage", item.number) for item in passages_of(hits)),
        command,
        code,
    )


def _cards(hits: Sequence[Hit], question: str, languages: Sequence[str]) -> list[HitCard]:
    terms = query_terms(question, languages)
    cards = []
    for hit in hits:
        text = hit_text(hit)
        cards.append(
            HitCard(
                hit.rank, hit.score, hit.document.title or hit.doc_id, hit.doc_id,
                SECTION_SEPARATOR.join(hit_section(hit)), hit.start, hit.end, hit.page, hit.token_count, text,
                marked_words(text, terms, languages),
            )
        )  # fmt: skip
    return cards


def _found(
    project: Project, question: str, ranked: Sequence[tuple[HitCard, _ByPlace]]
) -> list[SearchHit]:
    asked = [word.lower() for word in words_of(CharacterArrays(question)).distinct]
    gold = _gold(project, question)
    result = []
    for card, reason in ranked:
        words = Counter(card.text[start:end].lower() for start, end in card.marks)
        absent = [word for word in asked if len(word) > 2 and not _is_in(word, words)]
        result.append(
            SearchHit(
                card,
                project.corpus.number_of(card.doc_id),
                any(
                    place.doc_id == card.doc_id and place.start < card.end and card.start < place.end
                    for place in gold
                ),
                Why(
                    tuple(FoundWord(one_line(word, 60), count) for word, count in words.most_common()),
                    tuple(one_line(word, 60) for word in absent),
                    reason.rank_by_words,
                    reason.rank_by_vectors,
                    reason.similarity,
                    reason.votes,
                ),
            )
        )  # fmt: skip
    return result


def _gold(project: Project, question: str) -> list[Passage]:
    """Where the answer to a question of the test set is."""
    return [
        place
        for query in project.queries.values()
        if query.text == question
        for reference in query.references
        for place in reference.places
    ]


def kept_reranker(project: Project, options: SearchOptions) -> Reranker | None:
    """Loaded once: it may take seconds."""
    name = options.reranker
    return project.made.get(("reranker", name), lambda: resolve_reranker(name)) if name else None


def _is_in(word: str, result: Counter[str]) -> bool:
    """Also in another form, as word search takes it."""
    return any(_same(word, other) for other in result)


@lru_cache(maxsize=4096)
def _same(word: str, other: str) -> bool:
    if word == other:
        return True
    own = set(query_terms(word, ("en",)).tolist())
    # A stop word has no term: nothing is missed where it is not.
    return not own or bool(own & set(query_terms(other, ("en",)).tolist()))


@dataclass(frozen=True, slots=True)
class _ByPlace:
    rank_by_words: int | None = None
    rank_by_vectors: int | None = None
    similarity: float | None = None
    votes: tuple[SizeVote, ...] = ()


def _reasons(
    index: Index, retriever: Retriever, batch: QueryBatch, hits: Sequence[Hit]
) -> list[_ByPlace]:
    """For each hit where it stands by words and by vectors alone, or which sizes spoke for it."""
    source = index.source
    numbers = dict(zip(source.ids(), source.document_numbers(), strict=True)) if hits else {}
    if isinstance(retriever, MultiscaleRetriever):
        places = [(numbers[hit.doc_id], hit.start, hit.end) for hit in hits]
        votes = retriever.votes_for(source, batch, places) if places else []
        return [
            _ByPlace(
                votes=tuple(
                    SizeVote(item.size, item.signal, round(item.share, 4))
                    for item in sorted(own, key=lambda vote: -vote.share)
                    if item.share >= _SHARE
                )
            )
            for own in votes
        ]
    chunks = [
        None if hit.matched_chunk is None else source.chunk_range(numbers[hit.doc_id])[0] + hit.matched_chunk
        for hit in hits
    ]  # fmt: skip
    by_words = source.words(batch.texts, _RANKED, EVERYTHING)[0].numbers.tolist()
    words = {number: rank for rank, number in enumerate(by_words, 1)}
    vectors: dict[int, int] = {}
    near: dict[int, float] = {}
    if batch.have_vectors and chunks:
        ranking = source.nearest(batch.vectors, _RANKED, EVERYTHING)[0]
        vectors = {number: rank for rank, number in enumerate(ranking.numbers.tolist(), 1)}
        known = [chunk for chunk in chunks if chunk is not None]
        products = source.chunk_vectors(known) @ batch.vectors[0] if known else ()
        near = {chunk: float(item) for chunk, item in zip(known, products, strict=True)}
    return [
        _ByPlace()
        if chunk is None
        else _ByPlace(words.get(chunk), vectors.get(chunk), near.get(chunk))
        for chunk in chunks
    ]


def _outside(project: Project, hits: Sequence[Hit], more: Sequence[Hit]) -> tuple[OutsideSpan, ...]:
    """Stretches that twice the budget finds and this one does not, the best first."""
    inside: dict[str, list[tuple[int, int]]] = {}
    for hit in hits:
        for place in hit.places:
            inside.setdefault(place.doc_id, []).append((place.start, place.end))
    result = []
    for hit in sorted(more, key=lambda item: item.rank):
        for place in hit.places:
            for low, high in _uncovered(place.start, place.end, inside.get(place.doc_id, [])):
                text = place.document.text[low:high].strip()
                if len(text) >= _LEAST_OUTSIDE:
                    result.append(
                        OutsideSpan(
                            place.document.title or place.doc_id, place.doc_id,
                            project.corpus.number_of(place.doc_id), low, high, few_lines(text, 300, 3),
                        )
                    )  # fmt: skip
    return tuple(result[:_MOST_OUTSIDE])


def _uncovered(start: int, end: int, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of a span that none of the others covers."""
    parts, at = [], start
    for low, high in sorted(spans):
        if high <= at or low >= end:
            continue
        if low > at:
            parts.append((at, low))
        at = max(at, high)
    if at < end:
        parts.append((at, end))
    return parts


def _note(index: Index, question: str) -> str:
    source = index.source
    every = (source.document(number) for number in source.document_numbers())
    missing = unmatched_words(source, source.languages, question, every)
    return one_line(unmatched_told(missing), 300)


def _commands(
    project: Project, index: Index, request: StudioSearch, retriever: str, limited: SearchOptions
) -> tuple[str, str]:
    """What does the same in a terminal and in Python."""
    sources = project.sources
    question = one_line(request.q)
    place = project.shown_place
    given: dict[str, str | int] = {}
    if retriever not in (RECOMMENDED, BEFORE):
        given["retriever"] = str(retriever)
    limits = {"k": limited.k, "budget": limited.budget}
    is_kept = retriever == RECOMMENDED and request.budget is None
    given |= {} if is_kept else {name: value for name, value in limits.items() if value}
    words = [f"chunkwise search {shlex.quote(place)} {shlex.quote(question)}"]
    words += [
        f"{'-k' if name == 'k' else f'--{name}'} {shlex.quote(str(value))}"
        for name, value in given.items()
    ]
    asked = ", ".join([repr(question), *(f"{name}={value!r}" for name, value in given.items())])
    if index.place is not None:
        code = f"import chunkwise\n\nindex = chunkwise.open_index({place!r})\nhits = index.search({asked})"
        return " ".join(words), code
    documents = list(sources.documents)
    with_vectors = f"embedder={sources.embedder!r}" if sources.embedder else "vectors='none'"
    options = f"--embedder {sources.embedder}" if sources.embedder else "--vectors none"
    made = f"chunkwise index {' '.join(map(shlex.quote, documents))} --into kb {options}"
    code = (
        f"import chunkwise\n\nindex = chunkwise.index({documents!r}, {with_vectors})\n"
        f"hits = index.search({asked})"
    )
    return f"{made}\n{' '.join(words)}", code
