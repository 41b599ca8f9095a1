"""What spans cover of each other, and from which share on a reference is found or covered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.metric import Scores
from chunkwise.metrics.span_tables import Chunking, Gold, HitTable, Numbers

Flags = NDArray[np.bool_]
RELEVANCE_THRESHOLD = 0.5
"""Share of a place that makes a chunk relevant."""
COVERED = 0.95
"""Share of a reference that makes it covered."""


class Spans(NamedTuple):
    """Half-open stretches of one line."""

    start: Numbers
    end: Numbers

    @property
    def length(self) -> Numbers:
        return self.end - self.start

    def of(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> Spans:
        return Spans(self.start[which], self.end[which])


class Grouped(NamedTuple):
    """Spans with what they belong to: those of different groups never meet."""

    group: Numbers
    start: Numbers
    end: Numbers


def on_one_axis(*tables: Grouped) -> list[Spans]:
    """All groups laid end to end with a gap between: what holds for one text then holds for many at once."""
    width = 2 + max((int(table.end.max()) for table in tables if len(table.end)), default=0)
    groups = np.concatenate([table.group for table in tables])
    groups = groups - groups.min(initial=0)
    # Numbered anew where a question times a document times an offset does not fit into 64 bits.
    if (1 + int(groups.max(initial=0))) * width >= 1 << 62:
        groups = np.unique(groups, return_inverse=True)[1].reshape(-1)
    bounds = np.cumsum([len(table.group) for table in tables])[:-1]
    return [
        Spans(table.start + base, table.end + base)
        for table, base in zip(tables, np.split(groups * width, bounds), strict=True)
    ]


class SpanPairs(NamedTuple):
    """Indices into two tables of spans, side by side."""

    first: Numbers
    second: Numbers


def overlapping(first: Spans, second: Spans) -> SpanPairs:
    """Every two that share a position, each pair once; nothing is formed that does not overlap."""
    # Of two that overlap, exactly one has its start inside the other; equal starts go to the first way.
    second_inside = _starts_inside(first, second, "left")
    first_inside = _starts_inside(second, first, "right")
    return SpanPairs(
        np.concatenate((second_inside.first, first_inside.second)),
        np.concatenate((second_inside.second, first_inside.first)),
    )


def _starts_inside(outer: Spans, inner: Spans, side: Literal["left", "right"]) -> SpanPairs:
    """Pairs in which the inner span starts inside the outer one; side right leaves out equal starts."""
    outside = np.flatnonzero(outer.start < outer.end)
    inside = np.flatnonzero(inner.start < inner.end)
    order = inside[np.argsort(inner.start[inside], kind="stable")]
    starts = inner.start[order]
    low = starts.searchsorted(outer.start[outside], side)
    high = starts.searchsorted(outer.end[outside], "left")
    return _ranges(outside, low, high, order)


def _ranges(owner: Numbers, low: Numbers, high: Numbers, values: Numbers) -> SpanPairs:
    """Each owner beside values[low:high] of its own."""
    count = high - low
    first = np.cumsum(count) - count
    within = np.arange(int(count.sum())) - np.repeat(first, count)
    return SpanPairs(np.repeat(owner, count), values[np.repeat(low, count) + within])


def shared(first: Spans, second: Spans) -> Numbers:
    """Of spans side by side, how many positions they share."""
    low, high = np.maximum(first.start, second.start), np.minimum(first.end, second.end)
    return np.maximum(high - low, 0)


class Union:
    """What some spans cover together: disjoint stretches in order."""

    def __init__(self, spans: Spans) -> None:
        kept = np.flatnonzero(spans.start < spans.end)
        order = kept[np.argsort(spans.start[kept], kind="stable")]
        start, end = spans.of(order)
        reach = np.maximum.accumulate(end)
        opens = np.ones(len(start), dtype=np.bool_)
        opens[1:] = start[1:] > reach[:-1]
        closes = np.ones(len(start), dtype=np.bool_)
        closes[:-1] = opens[1:]
        self.spans = Spans(start[opens], reach[closes])
        self.opener: Numbers = order[opens]
        """Which of the given spans each stretch begins with: they share its group."""
        self._before = np.concatenate(([0], np.cumsum(self.spans.length)))

    def shared(self, spans: Spans) -> Numbers:
        """How many positions of each span are covered."""
        covered: Numbers = self._up_to(spans.end) - self._up_to(spans.start)
        return covered

    def _up_to(self, position: Numbers) -> Numbers:
        """Positions covered before each position."""
        if not len(self.opener):
            return np.zeros(len(position), dtype=np.int64)
        opened = self.spans.start.searchsorted(position, "right")
        last = np.maximum(opened - 1, 0)
        inside = np.minimum(position, self.spans.end[last]) - self.spans.start[last]
        return np.where(opened > 0, self._before[last] + inside, 0)


def by_question(gold: Gold, found: HitTable) -> tuple[Spans, Spans]:
    """The places of the references, and those of the hits, by question and document."""
    low = min(_lowest(gold.document), 0)
    documents = 1 - low + max(_highest(gold.document), _highest(found.document))
    asked = gold.question[gold.reference]
    places, hits = on_one_axis(
        Grouped(asked * documents + (gold.document - low), gold.start, gold.end),
        Grouped(found.question * documents + (found.document - low), found.start, found.end),
    )
    return places, hits


def by_document(gold: Gold, chunking: Chunking) -> tuple[Spans, Spans]:
    """The places of the references, and of the chunks, by document alone: a chunk may meet those of any question."""
    held = chunking.places
    places, chunks = on_one_axis(
        Grouped(gold.document, gold.start, gold.end),
        Grouped(held.document, held.start, held.end),
    )
    return places, chunks


def per_question(gold: Gold, question: Numbers, values: Numbers) -> Numbers:
    """Sums by question."""
    sums = np.zeros(gold.questions, dtype=np.int64)
    np.add.at(sums, question, values)
    return sums


def _lowest(numbers: Numbers) -> int:
    """Below 0: documents that are not there."""
    return int(numbers.min()) if len(numbers) else 0


def _highest(numbers: Numbers) -> int:
    return int(numbers.max()) if len(numbers) else 0


def shares(places: Spans, retrieved: Union) -> NDArray[np.float64]:
    """How much of each place is covered, from 0 to 1; an empty place is never covered."""
    return retrieved.shared(places) / np.maximum(places.length, 1)


def references(gold: Gold) -> Numbers:
    """Of each reference, the index of its own place: the first listed."""
    _, first = np.unique(gold.reference, return_index=True)
    return first


def best_shares(gold: Gold, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each reference, the share of its best covered place."""
    best = np.zeros(len(gold.question))
    np.maximum.at(best, gold.reference, share)
    return best


def best_places(gold: Gold, share: NDArray[np.float64]) -> Numbers:
    """Of each reference, the index of its best covered place; of equally good ones the first listed."""
    candidates = np.flatnonzero(share == best_shares(gold, share)[gold.reference])
    _, first = np.unique(gold.reference[candidates], return_index=True)
    return candidates[first]


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """Lengths, one a question, where G are the references, A these with their alternatives, and C the hits."""

    gold: Numbers
    """|∪G|"""
    found: NDArray[np.float64]
    """|∪C ∩ ∪G|, where a reference counts as covered as the best of its alternatives is."""
    retrieved: Numbers
    """|∪C|"""
    paid: Numbers
    """Σ|Ci|"""
    relevant: Numbers
    """|∪C ∩ ∪A|: a repeated passage is no waste, wherever it stands."""


def coverage(gold: Gold, found: HitTable) -> Coverage:
    """Of the hits as they are: cut them first."""
    places, hits = by_question(gold, found)
    retrieved, either = Union(hits), Union(places)
    asked, answered = gold.question[gold.reference], found.question
    own = references(gold)
    length, covered = _own_stretches(places.of(own), retrieved)
    share = shares(places, retrieved)
    share[own] = 0  # what is covered of the reference itself is counted to the character
    alternative = best_shares(gold, share)
    return Coverage(
        per_question(gold, gold.question, length),
        np.bincount(
            gold.question, np.maximum(covered, length * alternative), gold.questions
        ).astype(np.float64),
        per_question(gold, answered[retrieved.opener], retrieved.spans.length),
        per_question(gold, answered, hits.length),
        per_question(gold, asked[either.opener], retrieved.shared(either.spans)),
    )


def _own_stretches(references: Spans, retrieved: Union) -> tuple[Numbers, Numbers]:
    """Of each reference what none that starts before it covers, so that they add up to their union; and how much of
    that is retrieved."""
    order = np.argsort(references.start, kind="stable")
    start, end = references.of(order)
    reach = np.maximum.accumulate(np.concatenate(([-1], end)))[:-1] if len(end) else end
    rest = Spans(np.minimum(np.maximum(start, reach), end), end)
    length, covered = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    length[order], covered[order] = rest.length, retrieved.shared(rest)
    return length, covered


def ratio(part: NDArray[np.generic], whole: NDArray[np.generic]) -> Scores:
    """0 where there is nothing to divide by."""
    out = np.zeros(len(part))
    np.divide(part, whole, out=out, where=whole != 0)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Lengths, one a question."""

    both: Numbers
    """Of the union of all intersections of a chunk and a reference."""
    references: Numbers
    """Σ of the references."""
    missed: Numbers
    """Σ of what of each reference no chunk covers."""
    chunks: Numbers
    """Σ of the chunks."""


def sums(gold: Gold, found: HitTable) -> Sums:
    """Of the hits as they are: cut them first."""
    places, hits = by_question(gold, found)
    retrieved = Union(hits)
    chosen = places.of(best_places(gold, shares(places, retrieved)))
    wanted = Union(chosen)
    covered = retrieved.shared(chosen)
    return Sums(
        per_question(gold, gold.question[wanted.opener], retrieved.shared(wanted.spans)),
        per_question(gold, gold.question, chosen.length),
        per_question(gold, gold.question, chosen.length - covered),
        per_question(gold, found.question, hits.length),
    )


def covered_references(gold: Gold, found: HitTable) -> Flags:
    """Of each reference, whether the hits together cover one of its places."""
    places, hits = by_question(gold, found)
    return best_shares(gold, shares(places, Union(hits))) >= COVERED


def found_references(gold: Gold, found: HitTable, threshold: float = RELEVANCE_THRESHOLD) -> Flags:
    """Of each reference, whether the hits together hold enough of one of its places."""
    places, hits = by_question(gold, found)
    return best_shares(gold, shares(places, Union(hits))) >= threshold
