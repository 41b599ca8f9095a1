"""Passages to judge: pooled from several retrievers, so that none chooses what it is measured by, or found by words."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

import numpy as np

from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers.check_pieces import merged_spans
from chunkwise.core import Document, Hit, Passage, Query, Span
from chunkwise.labels.store import Pool, PooledPassage
from chunkwise.models.embed.embedder import Embedder
from chunkwise.options import SearchOptions
from chunkwise.records.json import json_text
from chunkwise.retrieval import Index
from chunkwise.retrieval.retrievers import get_retriever
from chunkwise.retrieval.search.search import search
from chunkwise.testsets.locate import trimmed
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.terms import document_terms, query_terms

DEPTH = 10
MOST_DEPTH = 200
LONGEST = 1_600
"""Characters of a passage, unless a single sentence is longer."""
_TOKENS_A_HIT = 120
"""Of a budget, for a retriever that fills one: it has no hits to count."""


def pool_retrievers(index: Index) -> tuple[str, ...]:
    """Those that an index can be asked by, as different as they are."""
    if index.settings.vectors == "none":
        return ("bm25", "multiscale")
    if index.settings.vectors == "own":
        return ("bm25", "dense", "hybrid")
    return ("bm25", "dense", "multiscale")


def pool_of(
    index: Index,
    query: Query,
    *,
    depth: int = DEPTH,
    retrievers: Sequence[str] = (),
    embedder: Callable[[], Embedder] | None = None,
) -> Pool:
    """The passages that any of the retrievers has among its first `depth` hits."""
    if not 1 <= depth <= MOST_DEPTH:
        raise InvalidParameter(f"depth is {depth}; allowed: 1 to {MOST_DEPTH}")
    named = tuple(dict.fromkeys(retrievers)) or pool_retrievers(index)
    if len(named) < 2:
        raise InvalidParameter(
            f"only {named[0]} given; a pool needs at least two retrievers to be fair"
        )
    result = {name: _hits(index, query.text, name, depth, embedder) for name in named}
    return pooled(query, result, depth)


def _hits(
    index: Index, text: str, name: str, depth: int, embedder: Callable[[], Embedder] | None
) -> list[Hit]:
    retriever = get_retriever(name)
    # What fills a budget of tokens is asked for as much text as so many hits are.
    budget = depth * _TOKENS_A_HIT if hasattr(retriever, "spans") else None
    hits = search(
        index.source, text, SearchOptions(k=None if budget else depth, budget=budget, retriever=retriever),
        embedder=embedder,
    )[0]  # fmt: skip
    return sorted(hits, key=lambda hit: hit.rank)[:depth]


def pooled(query: Query, hits: Mapping[str, Sequence[Hit]], depth: int) -> Pool:
    """The pool of these hits, best first: each character of them is in one passage, and no two passages overlap."""
    documents: dict[str, Document] = {}
    spans: dict[str, list[tuple[int, int, str, int]]] = {}
    for name, own in hits.items():
        for hit in own:
            for place in hit.places:
                documents[place.doc_id] = place.document
                own_spans = spans.setdefault(place.doc_id, [])
                own_spans.append((place.start, place.end, name, hit.rank))
    passages = []
    for doc_id, covered in spans.items():
        document = documents[doc_id]
        for start, end in _parted(document, merged_spans(Span(*row[:2]) for row in covered)):
            ranks: dict[str, int] = {}
            for low, high, name, rank in covered:
                if low < end and high > start:
                    ranks[name] = min(rank, ranks.get(name, rank))
            passages.append(PooledPassage(doc_id, start, end, document.text[start:end], ranks))
    passages.sort(key=lambda passage: (passage.doc_id, passage.start))
    content = [
        query.id,
        query.text,
        depth,
        list(hits),
        [(p.doc_id, p.start, p.end, p.text) for p in passages],
    ]
    key = hashlib.sha256(json_text(content).encode("utf-8")).hexdigest()[:24]
    return Pool(key, query.id, query.text, depth, tuple(hits), tuple(passages), "")


def _parted(document: Document, spans: Sequence[Span]) -> list[Span]:
    """Those that are too long to be judged as one, between sentences; without the white space at their ends."""
    parts: list[tuple[int, int]] = []
    starts: np.ndarray[tuple[int], np.dtype[np.int64]] | None = None
    for start, end in spans:
        edges = [start]
        if end - start > LONGEST:
            if starts is None:
                starts = Analyzed(document).sentences
            inner = starts[(starts > start) & (starts < end)].tolist()
            for at, following in pairwise([*inner, end]):
                if following - edges[-1] > LONGEST:
                    edges.append(at)
        parts += pairwise([*edges, end])
    places = (trimmed(document.text, *part) for part in parts)
    return [place for place in places if place.start < place.end]


REACH = 400
"""Characters within which words stand together."""
_DOCUMENTS = 200
"""With the most words of the question; the others are not looked into any closer."""


@dataclass(frozen=True, slots=True)
class FoundEvidence:
    """Sentences that hold words of the question near each other."""

    place: Passage
    text: str
    words: int
    """Different words of the question in it."""
    score: float


def find_evidence(
    question: str, documents: Iterable[Analyzed], most: int = 20
) -> list[FoundEvidence]:
    """The best places first; no two overlap."""
    result: list[tuple[Analyzed, np.ndarray[tuple[int], np.dtype[np.int64]], list[int]]] = []
    holds: dict[int, int] = {}
    wanted: dict[str, list[int]] = {}
    count = 0
    for analyzed in documents:
        count += 1
        terms = document_terms(analyzed)
        if terms.language not in wanted:
            asked = query_terms(question, (terms.language,)).tolist()
            wanted[terms.language] = list(dict.fromkeys(asked))
        own = wanted[terms.language]
        at = np.flatnonzero(np.isin(terms.hash, np.array(own, np.uint64)))
        hashes = terms.hash[at].tolist()
        for digest in set(hashes):
            holds[digest] = holds.get(digest, 0) + 1
        if len(at):
            result.append((analyzed, terms.start[at], hashes))
    weight = {term: log(1 + count / times) for term, times in holds.items()}
    result.sort(key=lambda item: -sum(weight[term] for term in set(item[2])))
    places = [
        made
        for analyzed, starts, hashes in result[:_DOCUMENTS]
        for made in _stretches(analyzed, starts.tolist(), hashes, weight)
    ]
    best: list[FoundEvidence] = []
    for place in sorted(places, key=lambda place: (-place.score, place.place)):
        if not any(place.place.overlaps(other.place) for other in best):
            best.append(place)
            if len(best) == most:
                break
    return best


def _stretches(
    analyzed: Analyzed, starts: Sequence[int], hashes: Sequence[int], weight: dict[int, float]
) -> Iterable[FoundEvidence]:
    """From every word on, those that stand within reach of it, as whole sentences."""
    text = analyzed.document.text
    edges = [*analyzed.sentences.tolist(), len(text)]
    bounds = np.array(edges, np.int64)
    last = 0
    seen: set[tuple[int, int]] = set()
    for first, start in enumerate(starts):
        last = max(last, first)
        while last + 1 < len(starts) and starts[last + 1] - start <= REACH:
            last += 1
        together = set(hashes[first : last + 1])
        spread = starts[last] - start
        low = edges[max(int(bounds.searchsorted(start, "right")) - 1, 0)]
        high = edges[min(int(bounds.searchsorted(starts[last], "right")), len(edges) - 1)]
        low, high = trimmed(text, low, high)
        if low < high and (low, high) not in seen:
            seen.add((low, high))
            score = sum(weight[number] for number in together) / (1 + spread / REACH)
            yield FoundEvidence(
                Passage(analyzed.document.id, low, high),
                text[low:high],
                len(together),
                round(score, 6),
            )
