"""Random questions, hits and chunks over a few small documents, and the tables made of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from chunkwise.core import Passage, Query, Reference
from chunkwise.metrics.span_tables import Chunking, Gold, HitTable
from metrics.spans.naive_spans import Place

LENGTH = 40
DOCUMENTS = ("a", "b", "c")
NUMBERS = {name: number for number, name in enumerate(DOCUMENTS)}


class Case(NamedTuple):
    queries: list[Query]
    hits: list[list[Place]]
    chunks: list[Place]

    @property
    def gold(self) -> Gold:
        return Gold.of(self.queries, NUMBERS)

    @property
    def found(self) -> HitTable:
        return found_of(self.hits)

    @property
    def chunking(self) -> Chunking:
        return chunking_of(self.chunks)


def found_of(hits: Sequence[Sequence[Place]]) -> HitTable:
    flat = [hit for own in hits for hit in own]
    first = np.concatenate(([0], np.cumsum([len(own) for own in hits], dtype=np.int64)))
    if not any(hit.further for hit in flat):
        return HitTable(first, *columns(flat))
    sizes = [len(hit.parts) for hit in flat]
    rows = columns([part for hit in flat for part in hit.parts])
    summary = np.array([bool(hit.further) for hit in flat])
    return HitTable(first, *rows, hits_of=np.repeat(np.arange(len(flat)), sizes), summary=summary)


def chunking_of(chunks: Sequence[Place]) -> Chunking:
    if not any(chunk.further for chunk in chunks):
        return Chunking(*columns(chunks))
    hulls = [
        chunk._replace(end=chunk.further[-1][1]) if chunk.further else chunk for chunk in chunks
    ]
    stood_for = [
        (number, part.start, part.end, part.tokens)
        for number, chunk in enumerate(chunks)
        for part in chunk.parts
        if chunk.further
    ]
    level = np.array([bool(chunk.further) for chunk in chunks], np.int64)
    return Chunking(*columns(hulls), level, np.array(stood_for, np.int64))


def columns(places: Sequence[Place]) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    rows = [(NUMBERS[place.doc_id], place.start, place.end, place.tokens) for place in places]
    return list(np.array(rows, dtype=np.int64).reshape(-1, 4).T)


@st.composite
def passages(draw: st.DrawFn, least: int = 1) -> Passage:
    start = draw(st.integers(0, LENGTH - least))
    longest = draw(st.sampled_from([3, 12, LENGTH]))
    end = draw(st.integers(start + least, min(LENGTH, start + longest)))
    return Passage(draw(st.sampled_from(DOCUMENTS)), start, end)


@st.composite
def summaries(draw: st.DrawFn) -> Place:
    """Several places of one document, in order; some touch."""
    edges = sorted(draw(st.sets(st.integers(0, LENGTH), min_size=4, max_size=8)))
    spans = [*zip(edges[::2], edges[1::2], strict=False)]
    if draw(st.booleans()):
        spans = [*pairwise(edges)]
    start, end = spans[0]
    size = sum(high - low for low, high in spans)
    return Place(draw(st.sampled_from(DOCUMENTS)), start, end, size, tuple(spans[1:]))


@st.composite
def references(draw: st.DrawFn) -> Reference:
    place = draw(passages())
    return Reference(*place, alternatives=tuple(draw(st.lists(passages(), max_size=2))))


@st.composite
def queries_and_hits(draw: st.DrawFn, *, summarized: bool = True) -> Case:
    """Hits overlap, repeat or are missing; most are chunks, chunks overlap and nest, and some are summaries."""
    chunks = [
        Place(*p, p.end - p.start) for p in draw(st.lists(passages(), max_size=12, unique=True))
    ]
    distinct = st.lists(summaries(), max_size=3, unique_by=lambda summary: summary.where)
    chunks += draw(distinct) if summarized else []
    chunks.sort(key=lambda chunk: (NUMBERS[chunk.doc_id], bool(chunk.further), chunk.start))
    other = passages(least=0).map(lambda p: Place(*p, p.end - p.start))
    other = other | summaries() if summarized else other
    hit = st.sampled_from(chunks) | other if chunks else other
    queries, hits = [], []
    for number in range(draw(st.integers(0, 4))):
        own = draw(st.lists(references(), max_size=3))
        if own and draw(st.booleans()):
            own.append(own[0])
        queries.append(Query(str(number), "?", tuple(own)))
        hits.append(draw(st.lists(hit, max_size=6)))
    return Case(queries, hits, chunks)
