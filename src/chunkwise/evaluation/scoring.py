"""What is measured and how: everything that changes a figure, apart from what is evaluated; and who is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chunkwise.base.progress import Stages, unwatched
from chunkwise.core import Document, Hit, Query
from chunkwise.evaluation.results import Json
from chunkwise.metrics.judges.judge import Judge
from chunkwise.metrics.registry import MetricAt, parse
from chunkwise.models import DEFAULT
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.options import ScoreOptions
from chunkwise.records.read import OnBadRow

OnDocuments = Callable[[Sequence[Document]], None]
OnQuestions = Callable[[Sequence[Query]], None]
OnEstimate = Callable[[LlmEstimate], None]
SearchMore = Callable[[Sequence[Query]], list[list[Hit]]]
"""Asks questions of what is evaluated, as its own are asked."""
OnSearch = Callable[[SearchMore], None]


@dataclass(frozen=True, slots=True)
class Listeners:
    """Functions that are told how the work goes on; what is not given is told to nobody."""

    on_documents: OnDocuments | None = None
    """Gets the documents that the result's places are in, before any question is asked."""
    on_questions: OnQuestions | None = None
    """Gets the questions, before any is asked; what it raises stops the evaluation."""
    on_bad: OnBadRow | None = None
    """Gets a line for each question or row that cannot be used; a warning by default."""
    on_note: OnBadRow | None = None
    """Gets a line where a passage was found elsewhere than its question says, or a file has fields nobody reads."""
    on_estimate: OnEstimate | None = None
    """Gets what asking a judge that is a language model will take, before anything is sent; what it raises stops it."""
    on_search: OnSearch | None = None
    """Gets what asks further questions of the system that is evaluated, behind its own ones."""
    on_outcome: Callable[[Any], None] | None = None
    """Gets each outcome of a sweep."""
    stages: Stages = unwatched
    """Gets the name of each stage and the number of its steps; gives a context manager of a function for progress."""


_RULES = ("unit", "relevance_threshold", "similarity_threshold")


@dataclass(frozen=True, slots=True)
class Measures:
    """What one evaluation measures, with metrics and judges found by their names."""

    metrics: tuple[str, ...]
    """Canonical names, in the order of the tables."""
    k: int
    budget: int | None = None
    score: ScoreOptions = ScoreOptions()
    judge_model: str | Embedder = ""
    """Of the similarity judge; empty: the usual one."""
    llm: LlmClient | None = None
    """The language model that judges; None: none is asked."""
    judges: Mapping[str, Judge] = field(default_factory=dict)
    """Judges that others wrote, by name."""
    named: tuple[str, ...] = ()
    """Those of the metrics that were asked for by their own names, in that order."""

    @property
    def wanted(self) -> tuple[MetricAt, ...]:
        """The same with what each declares."""
        return tuple(map(parse, self.metrics))

    @property
    def objective(self) -> str:
        """The metric questions are ordered by: the first that was named; of groups recall, else their first."""
        named = [name for name in self.named if parse(name).metric.per == "question"]
        first = [at.label for at in self.wanted if at.metric.headline]
        return (named or first or [*self.metrics, ""])[0]

    def configuration(self) -> dict[str, Json]:
        return {
            "metrics": list(self.metrics),
            "k": self.k,
            "budget": self.budget,
            **{name: getattr(self.score, name) for name in _RULES},
            "judge_model": self._judge_name(),
            "seed": self.score.seed,
        }

    def _judge_name(self) -> str:
        """What says how near a hit is; empty where nobody is asked."""
        if not any("embedder" in at.metric.needs for at in self.wanted):
            return ""
        model = self.judge_model or DEFAULT
        return model if isinstance(model, str) else model.identity
