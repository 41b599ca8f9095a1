"""Summaries that could not be had while an index was made: it lies there without them."""

from __future__ import annotations

from collections import Counter

from chunkwise.chunkers import Strategy
from chunkwise.retrieval.refusals import REBUILD


class LostSummaries:
    """Counts from when it is made: a strategy may have served other indexes before."""

    def __init__(self, strategy: Strategy) -> None:
        self._chunker = strategy.chunker
        self._before = self._missing()

    def _missing(self) -> Counter[str]:
        """Why, and how often; of strategies that ask a model and tell."""
        found: object = getattr(self._chunker, "missing", None)
        return found.copy() if isinstance(found, Counter) else Counter()

    def notes(self) -> tuple[str, ...]:
        """What a user should know of them."""
        lost = self._missing() - self._before
        if not lost:
            return ()
        (reason, _), *others = lost.most_common()
        more = f" (and {len(others)} other reason{'s' * (len(others) != 1)})" if others else ""
        count = lost.total()
        many = "1 summary" if count == 1 else f"{count:,} summaries"
        return (
            f"{many} could not be made: {reason}{more}; to ask for what is missing, {REBUILD}: all others are kept",
        )
