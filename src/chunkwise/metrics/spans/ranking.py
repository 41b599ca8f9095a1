"""The hits of each question, best first, as chunks of the index, and which of them are relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.span_tables import Chunking, ChunkPlaces, Gold, HitTable, Numbers
from chunkwise.metrics.spans.coverage import (
    RELEVANCE_THRESHOLD,
    Flags,
    Grouped,
    SpanPairs,
    Spans,
    by_document,
    by_question,
    on_one_axis,
    overlapping,
    shared,
)


def chunk_numbers(found: HitTable, chunking: Chunking) -> Numbers:
    """Of each hit, the index of the chunk it is exactly, place for place; -1: it is none."""
    held = chunking.places
    chunks = _Sets(held, len(chunking.start))
    places = ChunkPlaces(found.hit, found.document, found.start, found.end, found.tokens)
    hits = _Sets(places, int(found.first[-1]))
    number = _numbered(chunks, hits)
    known, wanted = number[: len(chunks)], number[len(chunks) :]
    if not len(known):
        return np.full(len(hits), -1)
    order = np.argsort(known, kind="stable")
    at = order[np.minimum(known[order].searchsorted(wanted), len(order) - 1)]
    return np.where(known[at] == wanted, at, -1)


class ChunkRanking(NamedTuple):
    """The chunks that were found for each question, best first; a summary is the chunks it stands for."""

    first: Numbers
    """Where those of each question begin, and one more: where the last ones end."""
    chunk: Numbers
    """Their numbers; -1: a hit that is no chunk."""


def chunk_ranking(found: HitTable, chunking: Chunking) -> ChunkRanking:
    """Of chunks without summaries. Those that a summary stands for come one behind the other, in the order of the text.

    So a summary is worth what it points at, at the ranks that reading it there would take, and the ideal ranking is the
    same whether an index has summaries or not.
    """
    number = chunk_numbers(found, chunking)
    if found.summary is None or not (found.summary & (number < 0)).any():
        return ChunkRanking(found.first, number)
    is_opened = found.summary & (number < 0)
    place = np.flatnonzero(is_opened[found.hit])
    parts, chunks = on_one_axis(
        Grouped(found.document[place], found.start[place], found.end[place]),
        Grouped(chunking.document, chunking.start, chunking.end),
    )
    part, chunk = overlapping(parts, chunks)
    inside = (chunks.start[chunk] >= parts.start[part]) & (chunks.end[chunk] <= parts.end[part])
    inside &= ~listed_again(chunking)[chunk]
    part, chunk = part[inside], chunk[inside]
    owner = found.hit[place[part]]
    is_opened[np.setdiff1d(np.flatnonzero(is_opened), owner)] = False  # it stands for no chunk
    kept = np.flatnonzero(~is_opened)
    hit, chunk = np.concatenate((kept, owner)), np.concatenate((number[kept], chunk))
    start, end = (np.append(column, 0)[chunk] for column in (chunking.start, chunking.end))
    order = np.lexsort((end, start, hit))
    counts = np.bincount(found.hit_question[hit], minlength=len(found.first) - 1)
    return ChunkRanking(np.concatenate(([0], np.cumsum(counts))), chunk[order])


def repeated(found: HitTable) -> NDArray[np.bool_]:
    """Of each hit, whether its question has the very same one at a better rank."""
    places = ChunkPlaces(found.hit, found.document, found.start, found.end, found.tokens)
    return seen_before(found.hit_question, _numbered(_Sets(places, int(found.first[-1]))))


def listed_again(chunking: Chunking) -> NDArray[np.bool_]:
    """Of each chunk, whether the very same place stands among the chunks before it."""
    return seen_before(_numbered(_Sets(chunking.places, len(chunking.start))))


class _Sets:
    """Hits or chunks, each the places it has."""

    def __init__(self, places: ChunkPlaces, count: int) -> None:
        self.rows = np.column_stack((places.document, places.start, places.end))
        self.sizes = np.bincount(places.chunk, minlength=count)

    def __len__(self) -> int:
        return len(self.sizes)


def _numbered(*tables: _Sets) -> Numbers:
    """A number for each set of all tables in a row: the same for those of the same places."""
    rows = np.concatenate([table.rows for table in tables])
    place = _numbers_of_rows(rows)
    sizes = np.concatenate([table.sizes for table in tables])
    begins = np.cumsum(sizes) - sizes
    number = np.full(len(sizes), -1)
    number[sizes == 1] = place[begins[sizes == 1]]
    # Those of several places are few: summaries.
    known: dict[bytes, int] = {}
    for at in np.flatnonzero(sizes > 1).tolist():
        key = place[begins[at] : begins[at] + sizes[at]].tobytes()
        number[at] = known.setdefault(key, len(place) + len(known))
    return number


def _numbers_of_rows(rows: Numbers) -> Numbers:
    """Equal rows have the same number."""
    order = np.lexsort(rows.T)
    differs = (rows[order][1:] != rows[order][:-1]).any(axis=1)
    number = np.empty(len(rows), np.int64)
    number[order] = np.concatenate((np.zeros(min(len(rows), 1), np.int64), np.cumsum(differs)))
    return number


def seen_before(*columns: Numbers) -> NDArray[np.bool_]:
    """Of each row, whether the same one stands above it."""
    order = np.lexsort(columns[::-1])
    again = np.zeros(len(order), dtype=np.bool_)
    again[order[1:]] = np.logical_and.reduce(
        [column[order][1:] == column[order][:-1] for column in columns]
    )
    return again


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRanking:
    """The judged hits of many questions, best first."""

    first: Numbers
    """Where the hits of each question begin, and one more: where the last ones end."""
    relevant: NDArray[np.bool_]
    """Of each hit."""
    total: Numbers
    """Of each question: how many relevant ones there are, retrieved or not; 0 where nothing is divided by it."""

    def at(self, k: int) -> tuple[Numbers, Numbers]:
        """Questions and ranks (from 0) of the relevant hits among the first k."""
        question = np.repeat(np.arange(len(self.total)), np.diff(self.first))
        rank = np.arange(len(question)) - self.first[question]
        kept = self.relevant & (rank < k)
        return question[kept], rank[kept]

    def retrieved(self, k: int) -> Numbers:
        """How many of the relevant ones are among the first k."""
        return np.bincount(self.at(k)[0], minlength=len(self.total))


def relevant_hits(gold: Gold, found: HitTable, threshold: float = RELEVANCE_THRESHOLD) -> Flags:
    """Of each hit, whether it covers enough of some place of its question, or lies wholly inside one."""
    places, hits = by_question(gold, found)
    flags = np.zeros(int(found.first[-1]), dtype=np.bool_)
    flags[_relevant(hits, found.hits_of, places, threshold).first] = True
    return flags


def relevant_chunks(
    gold: Gold, chunking: Chunking, threshold: float = RELEVANCE_THRESHOLD
) -> SpanPairs:
    """Questions beside the chunks of the whole index that are relevant to them, each pair once."""
    places, chunks = by_document(gold, chunking)
    pairs = _relevant(chunks, chunking.chunks_of, places, threshold)
    asked = gold.question[gold.reference[pairs.second]]
    count = max(len(chunking.start), 1)
    once = np.unique(asked * count + pairs.first)
    return SpanPairs(once // count, once % count)


def _relevant(held: Spans, owner: Numbers | None, places: Spans, threshold: float) -> SpanPairs:
    """Pairs of a hit or a chunk and a place that makes it relevant; `owner`: whose each held place is, None: its own.

    A summary covers what all its places cover together, and lies inside a place where they all do.
    """
    pairs = overlapping(held, places)
    first, second = pairs
    both, length = shared(held.of(first), places.of(second)), held.length
    if owner is not None:
        length = np.bincount(owner, length).astype(np.int64)
        count = max(len(places.start), 1)
        once, at = np.unique(owner[first] * count + second, return_inverse=True)
        both = np.bincount(at.reshape(-1), both, len(once)).astype(np.int64)
        first, second = once // count, once % count
    enough = (both / places.length[second] >= threshold) | (both == length[first])
    return SpanPairs(first[enough], second[enough])
