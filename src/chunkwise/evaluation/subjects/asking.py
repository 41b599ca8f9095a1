"""Every question asked once, as deep as the metrics look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chunkwise.core import Hit, OnProgress, Query
from chunkwise.evaluation.subjects.subject import Subject

Hits = list[list[Hit]]

_DEEPEST = 100_000
"""Hits a question at most, however small the chunks: no budget of tokens needs more."""


@dataclass(slots=True)
class Asking:
    """Remembers what was answered, so that several metrics share one search."""

    subject: Subject
    queries: Sequence[Query]
    k: int | None
    budget: int | None
    """Of the run itself: what a user of this retriever would ask for."""
    advance: OnProgress | None = None
    _known: dict[int, Hits] = field(default_factory=dict)
    _shown: Hits | None = None

    @property
    def shown(self) -> Hits:
        """What the user gets: `k` hits, or those that fill the budget."""
        if self._shown is None:
            if self.budget is not None:
                self._shown = self._ask(None, self.budget)
            else:
                assert self.k is not None
                self._shown = self.top(self.k)
        return self._shown

    def prepare(self, depths: Iterable[int]) -> None:
        """Asks once for the deepest of these, where the first hits do not depend on how many are wanted."""
        deepest = max(depths, default=0)
        if self.budget is None and self.subject.deeper and deepest:
            self._known[deepest] = self._ask(deepest, None)

    def top(self, k: int) -> Hits:
        """The best `k`; those of a search within a budget are taken from what it gave."""
        if self.budget is not None:
            return _first(self.shown, k)
        if k not in self._known:
            deeper = [depth for depth in self._known if depth >= k and self.subject.deeper]
            self._known[k] = _first(self._known[min(deeper)], k) if deeper else self._ask(k, None)
        return self._known[k]

    def filling(self, tokens: int) -> Hits:
        """Enough hits to fill so many tokens, or all there are."""
        if self.budget is not None:
            # What fills another budget is another search: it may hand out other places, not only more or fewer.
            return self.shown if tokens == self.budget else self._ask(None, tokens)
        deeper = self.subject.deeper
        # Where the first hits depend on how many are wanted, it is not for other metrics to say how many.
        depth = max([*self._known, self.k or 1]) if deeper else self.k or 1
        before = [0] * len(self.queries)
        while True:
            found = self.top(depth)
            sizes = [sum(hit.token_count for hit in own) for own in found]
            # A question with fewer hits than asked for has no more, unless neighbours were made one: then it has
            # no more when asking for more brings no more text.
            has_more = [
                len(own) >= depth or (not deeper and size > last)
                for own, size, last in zip(found, sizes, before, strict=True)
            ]
            short = any(more and size < tokens for more, size in zip(has_more, sizes, strict=True))
            if not short or depth >= _DEEPEST:
                return found
            before, depth = sizes, depth * 4

    @property
    def deepest(self) -> Hits:
        """As many hits as were looked at for any metric; of another search no rank would be one of this."""
        if self.budget is not None or not self._known or not self.subject.deeper:
            return self.shown
        return self._known[max(self._known)]

    def _ask(self, k: int | None, budget: int | None) -> Hits:
        found = self.subject.ask(self.queries, k=k, budget=budget, advance=self.advance)
        return [sorted(own, key=lambda hit: hit.rank) for own in found]


def _first(hits: Hits, k: int) -> Hits:
    return [own[:k] for own in hits]
