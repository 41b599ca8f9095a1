"""What one run of making questions came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from chunkwise.core import Query
from chunkwise.generating.question_types import Kind

Ending = Literal["enough", "rules", "cost", "passages", "calls", "silence"]
"""Why no more was asked: nothing is missing; rules find no more; the limit of cost, the passages or the calls are used
up; or too many requests in a row went unanswered."""


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
    ending: Ending = "enough"
    unasked: int = 0
    """Requests that the limit of cost did not allow: nobody has seen them."""
    asked_for: Mapping[Kind, int] | None = None
    """Of each kind that was wanted, how many questions a model was asked for; None: no model."""

    @property
    def is_complete(self) -> bool:
        return len(self.queries) >= self.wanted

    @property
    def missing_kinds(self) -> dict[Kind, int]:
        """Kinds of which no question came out, with how many were asked for; 0: no passage suits them."""
        found = {name for query in self.queries for name in query.types}
        used_up = self.ending == "passages"
        return {
            kind: count
            for kind, count in (self.asked_for or {}).items()
            if kind not in found and (count or used_up)
        }
