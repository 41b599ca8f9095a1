"""What one configuration reached, question by question: a file of its own, written the moment it is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chunkwise.evaluation.results import Json
from chunkwise.experiments.configuration import Configuration

NOT_RUN = "not run"
"""How the reason begins why an outcome is still to come."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Scores in the order of the sweep's questions; or the reason why there are none."""

    configuration: Configuration
    scores: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """By metric: the objective, recall within several budgets, precision and recall at k; None: unscored."""
    cost: Mapping[str, Json] = field(default_factory=dict)
    """chunks, mean/median/p95/max_tokens, storage, tokens_embedded, context_tokens (a question, mean): those of
    k hits, or of what is read within the budget of the objective."""
    boundary_issues: Mapping[str, int] = field(default_factory=dict)
    """Of every kind; `chunks_with_issues` beside them. Empty for configurations without chunks."""
    error: str = ""
    """Why it could not be run; the others are not stopped by it."""
    seconds: float = field(default=0.0, compare=False)

    @property
    def waits(self) -> bool:
        """Whether it was not even tried: the time was up."""
        return self.error.startswith(NOT_RUN)
