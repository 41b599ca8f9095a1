"""What a judge offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chunkwise.core import Hit, Query, Score


class Judge(Protocol):
    """Says of every hit whether it is relevant to its question: 1, 0, or unscored with a reason."""

    @property
    def name(self) -> str:
        """What its column is called: labels, spans, similarity, llm."""

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        """One score a hit, in the order of the hits."""
