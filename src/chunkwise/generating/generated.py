"""What a run of making questions gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chunkwise.core import Query


@dataclass(frozen=True, slots=True)
class Generated:
    """The questions, those that were there before among them, and what became of the others."""

    queries: tuple[Query, ...]
    wanted: int
    found_before: int
    """Questions that the file had when the run began."""
    dropped: Mapping[str, int]
    """How many for which reason."""
    unanswered: Mapping[str, int]
    """Why the model did not answer, in its words, and how often."""
    made_by: str
    """The model's identity, or the rules."""

    @property
    def is_complete(self) -> bool:
        return len(self.queries) >= self.wanted
