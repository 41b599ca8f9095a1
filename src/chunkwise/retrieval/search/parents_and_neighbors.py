"""More than the chunk that was found: its parent, the chunks around it, and one span where they touch."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from chunkwise.core import Span
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.search.index_reader import IndexReader
from chunkwise.retrieval.searchable import CandidateSpan, FoundChunk, Searchable


def in_parents(found: Iterable[tuple[CandidateSpan, tuple[int, int]]]) -> Iterator[CandidateSpan]:
    """Each parent once, where its best chunk ranks and with its score; a chunk without a parent is its own.

    A summary has none: it stands beside the chunks it is made of.
    """
    seen: set[tuple[int, int, int]] = set()
    for candidate, (start, end) in found:
        if candidate.level:
            yield candidate
            continue
        key = candidate.document, start, end
        if key in seen:
            continue
        seen.add(key)
        if key == candidate[:3]:
            yield candidate
        else:
            core = Span(candidate.start, candidate.end)
            parent = Span(start, end)
            yield candidate._replace(start=start, end=end, chunk=None, core=core, parent=parent)


def with_neighbors(
    source: Searchable, candidate: CandidateSpan, count: int, only: Filter = EVERYTHING
) -> CandidateSpan:
    """With up to `count` chunks on either side, none of another document or beyond what the filter takes."""
    low, high = source.chunk_range(candidate.document)
    first, last = max(low, candidate.first - count), min(high - 1, candidate.last + count)
    if (first, last) == (candidate.first, candidate.last):
        return candidate
    around = source.chunks(range(first, last + 1))
    before, behind = around[: candidate.first - first], around[candidate.last - first + 1 :]
    taken = [
        *_until_shut(source, reversed(before), only),
        *_until_shut(source, behind, only),
    ]
    if not taken:
        return candidate
    core = candidate.core or Span(candidate.start, candidate.end)
    return candidate._replace(
        start=min(candidate.start, *(chunk.start for chunk in taken)),
        end=max(candidate.end, *(chunk.end for chunk in taken)),
        first=min(candidate.first, *(chunk.number for chunk in taken)),
        last=max(candidate.last, *(chunk.number for chunk in taken)),
        chunk=None,
        core=core,
    )


def _until_shut(
    source: Searchable, chunks: Iterable[FoundChunk], only: Filter
) -> Iterable[FoundChunk]:
    """Chunks, going away from the hit, up to the first that the filter does not take; no summary is a neighbor."""
    for chunk in chunks:
        if chunk.level or not only.takes_section(chunk.section):
            return
        if only.pages is not None:
            page = source.document(chunk.document).page
            if not only.takes_pages(page(chunk.start), page(max(chunk.start, chunk.end - 1))):
                return
        yield chunk


class _Group(NamedTuple):
    start: int
    rank: int
    """That of the best candidate in it, from 0."""
    candidate: CandidateSpan


class MergedSpans:
    """Candidates that overlap, or have nothing but space between them, are one: where the best of them ranks."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self._groups: dict[int, list[_Group]] = {}
        """Of each document, in its order; they neither overlap nor touch."""
        self._summaries: list[_Group] = []
        self._added = 0
        self._tokens = 0

    def add(self, candidate: CandidateSpan) -> None:
        """One candidate more, ranked behind those before it; a summary touches nothing."""
        if candidate.level:
            self._summaries.append(_Group(candidate.start, self._added, candidate))
            self._added += 1
            self._tokens += self._reader.size(candidate)
            return
        groups = self._groups.setdefault(candidate.document, [])
        low = bisect_left(groups, candidate.start, key=lambda group: group.start)
        if low and self._touch(groups[low - 1].candidate, candidate):
            low -= 1
        high, end = low, candidate.end
        while high < len(groups) and self._touch(
            candidate._replace(end=end), groups[high].candidate
        ):
            end = max(end, groups[high].candidate.end)
            high += 1
        touched = groups[low:high]
        del groups[low:high]
        whole = _one(
            [group.candidate for group in sorted(touched, key=lambda group: group.rank)]
            + [candidate]
        )
        rank = min((group.rank for group in touched), default=self._added)
        insort(groups, _Group(whole.start, rank, whole), key=lambda group: group.start)
        self._added += 1
        self._tokens += self._new(whole, touched)

    def candidates(self) -> list[CandidateSpan]:
        """All of them, best first."""
        every = [group for groups in self._groups.values() for group in groups] + self._summaries
        return [group.candidate for group in sorted(every, key=lambda group: group.rank)]

    def reach(self, budget: int) -> bool:
        """Whether their texts have so many tokens together."""
        if self._tokens < budget:
            return False
        # Stretches counted one by one have a token more here and there: the whole decides, and is rarely counted.
        self._tokens = sum(map(self._reader.size, self.candidates()))
        return self._tokens >= budget

    def _touch(self, one: CandidateSpan, other: CandidateSpan) -> bool:
        if other.start <= one.end:
            return True
        return self._reader.text(one.document)[one.end : other.start].isspace()

    def _new(self, whole: CandidateSpan, touched: list[_Group]) -> int:
        """Tokens of the stretches that were in no group."""
        tokens, at = 0, whole.start
        for _, _, candidate in touched:
            if at < candidate.start:
                tokens += self._reader.count(whole.document, at, candidate.start)
            at = candidate.end
        return tokens + (self._reader.count(whole.document, at, whole.end) if at < whole.end else 0)


def _one(group: list[CandidateSpan]) -> CandidateSpan:
    """The best of them, which comes first, made as long as all together."""
    best = group[0]
    if len(group) == 1:
        return best
    return best._replace(
        start=min(candidate.start for candidate in group),
        end=max(candidate.end for candidate in group),
        score=max(candidate.score for candidate in group),
        first=min(candidate.first for candidate in group),
        last=max(candidate.last for candidate in group),
        chunk=None,
    )
