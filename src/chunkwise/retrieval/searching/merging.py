"""Places that touch become one, as they come in."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import NamedTuple

from chunkwise.retrieval.place import Place
from chunkwise.retrieval.searching.reader import Reader


class _Group(NamedTuple):
    start: int
    rank: int
    """That of the best place in it, from 0."""
    place: Place


class Merged:
    """Places that overlap, or have nothing but space between them, are one: where the best of them ranks."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._groups: dict[int, list[_Group]] = {}
        """Of each document, in its order; they neither overlap nor touch."""
        self._summaries: list[_Group] = []
        self._added = 0
        self._tokens = 0

    def add(self, place: Place) -> None:
        """One place more, ranked behind those before it; a summary touches nothing."""
        if place.level:
            self._summaries.append(_Group(place.start, self._added, place))
            self._added += 1
            self._tokens += self._reader.size(place)
            return
        groups = self._groups.setdefault(place.document, [])
        low = bisect_left(groups, place.start, key=lambda group: group.start)
        if low and self._touch(groups[low - 1].place, place):
            low -= 1
        high, end = low, place.end
        while high < len(groups) and self._touch(place._replace(end=end), groups[high].place):
            end = max(end, groups[high].place.end)
            high += 1
        touched = groups[low:high]
        del groups[low:high]
        whole = _one(
            [group.place for group in sorted(touched, key=lambda group: group.rank)] + [place]
        )
        rank = min((group.rank for group in touched), default=self._added)
        insort(groups, _Group(whole.start, rank, whole), key=lambda group: group.start)
        self._added += 1
        self._tokens += self._new(whole, touched)

    def places(self) -> list[Place]:
        """All of them, best first."""
        every = [group for groups in self._groups.values() for group in groups] + self._summaries
        return [group.place for group in sorted(every, key=lambda group: group.rank)]

    def reach(self, budget: int) -> bool:
        """Whether their texts have so many tokens together."""
        if self._tokens < budget:
            return False
        # Stretches counted one by one have a token more here and there: the whole decides, and is rarely counted.
        self._tokens = sum(map(self._reader.size, self.places()))
        return self._tokens >= budget

    def _touch(self, one: Place, other: Place) -> bool:
        if other.start <= one.end:
            return True
        return self._reader.text(one.document)[one.end : other.start].isspace()

    def _new(self, whole: Place, touched: list[_Group]) -> int:
        """Tokens of the stretches that were in no group."""
        tokens, at = 0, whole.start
        for _, _, place in touched:
            if at < place.start:
                tokens += self._reader.count(whole.document, at, place.start)
            at = place.end
        return tokens + (self._reader.count(whole.document, at, whole.end) if at < whole.end else 0)


def _one(group: list[Place]) -> Place:
    """The best of them, which comes first, made as long as all together."""
    best = group[0]
    if len(group) == 1:
        return best
    return best._replace(
        start=min(place.start for place in group),
        end=max(place.end for place in group),
        score=max(place.score for place in group),
        first=min(place.first for place in group),
        last=max(place.last for place in group),
        chunk=None,
    )
