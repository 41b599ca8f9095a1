"""Questions about all of the documents: found among summaries of communities, with every place they summarize."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from chunkwise.base import parameters
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.parameters import param
from chunkwise.core import Span
from chunkwise.retrieval.bm25 import inverse_document_frequency
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.searchable import (
    AtomTable,
    CandidateSpan,
    Communities,
    Community,
    ElsewhereSpans,
    QueryBatch,
    Searchable,
)
from chunkwise.text.terms import query_terms, text_terms
from chunkwise.text.tokens.tokenizers import get_tokenizer


def no_communities_error() -> InvalidParameter:
    return InvalidParameter(
        "the index has no community summaries, which need a language model; choose another "
        "retriever, or rebuild it: chunkwise index DOCUMENTS --into PLACE --rebuild --graph "
        "--llm NAME (index(…, graph=True, llm=…, rebuild=True))"
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The communities of an index, and the words of their summaries."""

    communities: Communities
    terms: list[NDArray[np.uint64]]
    breadth: NDArray[np.float64]
    """How much of the documents each summarizes, 0 to 1."""


_known: WeakKeyDictionary[Searchable, tuple[AtomTable, _Known]] = WeakKeyDictionary()
"""Of the indexes that are open."""


@dataclass(frozen=True, kw_only=True)
class CommunitiesRetriever:
    """Summaries of what hangs together by names, over all documents; needs an index made with a graph and a model.

    Use it for questions about the whole: what are the main themes, who is who, what is it all about.
    """

    breadth: float = param(
        0.5, "weight of the summarized share of a document; BM25 has weight 1", low=0.0, high=10.0
    )  # fmt: skip

    def __post_init__(self) -> None:
        parameters.check(self)

    def spans(
        self, source: Searchable, questions: QueryBatch, budget: int, only: Filter
    ) -> list[list[CandidateSpan]]:
        known = _of(source)
        if not known.communities.found and len(source.atom_table()):
            raise no_communities_error()
        taken = _taken(source, known.communities, only)
        count = get_tokenizer(source.settings.tokenizer).count
        return [self._found(source, known, taken, text, budget, count) for text in questions.texts]

    def _found(
        self,
        source: Searchable,
        known: _Known,
        taken: NDArray[np.bool_],
        question: str,
        budget: int,
        count: Callable[[str], int],
    ) -> list[CandidateSpan]:
        score = _said(known.terms, query_terms(question, source.languages))
        score = (score + self.breadth * known.breadth) / (1 + self.breadth)
        order = np.lexsort((np.arange(len(score)), -score))
        spans: list[CandidateSpan] = []
        left = budget
        for at in order[taken[order]].tolist():
            own = known.communities.found[at]
            size = count(own.summary)
            if size > left:
                if left < budget // 4:
                    break
                continue
            left -= size
            spans.append(_candidate(own, float(score[at])))
        return spans


def _of(source: Searchable) -> _Known:
    atoms = source.atom_table()
    kept = _known.get(source)
    if kept is None or kept[0] is not atoms:
        communities = source.communities()
        languages = source.languages
        terms = [
            np.unique(
                np.concatenate(
                    [text_terms(row.summary, language).hash for language in languages or ("en",)]
                )
            )
            for row in communities.found
        ]
        covered = [sum(place.tokens for place in row.places) for row in communities.found]
        breadth = np.array(covered, np.float64) / max(int(atoms.tokens.sum(dtype=np.int64)), 1)
        kept = _known[source] = atoms, _Known(communities, terms, breadth)
    return kept[1]


def _said(terms: Sequence[NDArray[np.uint64]], asked: NDArray[np.uint64]) -> NDArray[np.float64]:
    """How much of a question's words each summary has, rare words counting more: 0 to 1."""
    asked = np.unique(asked)
    if not len(terms) or not len(asked):
        return np.zeros(len(terms))
    held = np.array([np.isin(asked, term, assume_unique=True) for term in terms])
    worth = inverse_document_frequency(held.sum(axis=0), len(terms))
    result: NDArray[np.float64] = held @ worth / (worth.sum() or 1.0)
    return result


def _taken(source: Searchable, communities: Communities, only: Filter) -> NDArray[np.bool_]:
    """Those of which a filter takes every place: a summary tells of all it was made from."""
    allowed = source.allowed("atom", only)
    if allowed is None:
        return np.ones(len(communities.found), np.bool_)
    atoms = source.atom_table()
    barred = np.append(0, np.cumsum(~allowed))
    result = []
    for own in communities.found:
        is_taken = True
        for place in own.places:
            low, high = atoms.document.searchsorted([place.document, place.document + 1]).tolist()
            first = low + int(atoms.start[low:high].searchsorted(place.start))
            stop = low + int(atoms.start[low:high].searchsorted(place.end))
            is_taken = is_taken and barred[stop] == barred[first]
        result.append(is_taken)
    return np.array(result, np.bool_)


def _candidate(community: Community, score: float) -> CandidateSpan:
    """In the document that it tells most of; the places in others beside it."""
    by_document: dict[int, list[tuple[Span, int]]] = {}
    for place in community.places:
        by_document.setdefault(place.document, []).append(
            (Span(place.start, place.end), place.tokens)
        )
    main = max(
        by_document, key=lambda number: (sum(size for _, size in by_document[number]), -number)
    )
    held = by_document.pop(main)
    spans = tuple(span for span, _ in held)
    return CandidateSpan(
        main, spans[0].start, spans[-1].end, score, level=community.level, summary=community.summary, spans=spans,
        span_tokens=tuple(size for _, size in held),
        elsewhere=tuple(
            ElsewhereSpans(document, tuple(span for span, _ in own), tuple(size for _, size in own))
            for document, own in by_document.items()
        ),
    )  # fmt: skip
