"""What is measured and how: everything that changes a figure, apart from what is evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from chunkwise.evaluation.metric_names import chosen
from chunkwise.evaluation.results import Json

Unit = Literal["characters", "tokens"]


@dataclass(frozen=True, slots=True)
class Measuring:
    """The rules of one evaluation."""

    metrics: tuple[str, ...]
    """Canonical names, in the order of the tables."""
    k: int
    budget: int | None = None
    unit: Unit = "characters"
    relevance_threshold: float = 0.5
    similarity_threshold: float = 0.7
    judge_model: str = ""
    """Of the similarity judge; empty: the index's own."""
    seed: int = 0

    @classmethod
    def of(
        cls, names: str | Iterable[str], k: int, budget: int | None, **rules: object
    ) -> Measuring:
        """The metrics by the names users give."""
        return cls(tuple(chosen(names, k, budget)), k, budget, **rules)  # type: ignore[arg-type]

    @property
    def objective(self) -> str:
        """The metric questions are ordered by: recall where it is measured, else the first."""
        recall = [name for name in self.metrics if name.startswith("recall@")]
        return (recall or [*self.metrics, ""])[0]

    def configuration(self) -> dict[str, Json]:
        return {
            "metrics": list(self.metrics),
            "k": self.k,
            "budget": self.budget,
            "unit": self.unit,
            "relevance_threshold": self.relevance_threshold,
            "similarity_threshold": self.similarity_threshold,
            "seed": self.seed,
        }
