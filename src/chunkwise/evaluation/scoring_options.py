"""What is measured and how: everything that changes a figure, apart from what is evaluated; and who is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Literal, get_args

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.progress import Stages, unwatched
from chunkwise.core import Document, Hit, Query
from chunkwise.evaluation.results import Json
from chunkwise.metrics.judges.judge import Judge
from chunkwise.metrics.registry import MetricAt, parse
from chunkwise.models import DEFAULT
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmEstimate
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
    on_mended: OnBadRow | None = None
    """Gets a line for each question whose passage was found elsewhere than it says."""
    on_remark: OnBadRow | None = None
    """Gets a line for each file of questions that has fields nobody reads."""
    on_estimate: OnEstimate | None = None
    """Gets what asking a judge that is a language model will take, before anything is sent; what it raises stops it."""
    on_search: OnSearch | None = None
    """Gets what asks further questions of the system that is evaluated, behind its own ones."""
    stages: Stages = unwatched
    """Gets the name of each stage and the number of its steps; gives a context manager of a function for progress."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not callable(value) and (value is not None or each.name == "stages"):
                raise InvalidParameter(
                    f"{each.name} is {value!r}; a function is needed, or leave it out"
                )


Unit = Literal["characters", "tokens"]


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """How scores are made of hits: what is counted, and from where on a hit is relevant."""

    unit: Unit = "characters"
    """What coverage is counted in: characters or tokens."""
    relevance_threshold: float = 0.5
    """Share of a reference that a hit must cover to be relevant, 0 to 1."""
    similarity_threshold: float = 0.7
    """From which similarity on the similarity judge calls a hit relevant, -1 to 1."""

    def __post_init__(self) -> None:
        if self.unit not in get_args(Unit):
            raise InvalidParameter(
                f"unit is {self.unit!r}; it is one of {', '.join(get_args(Unit))}"
            )
        for name, least in (("relevance_threshold", 0), ("similarity_threshold", -1)):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and least <= value <= 1):
                raise InvalidParameter(f"{name} is {value!r}; from {least} to 1")


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """The rules of one evaluation."""

    metrics: tuple[str, ...]
    """Canonical names, in the order of the tables."""
    k: int
    budget: int | None = None
    scoring: ScoringRules = ScoringRules()
    judge_model: str | Embedder = ""
    """Of the similarity judge; empty: the usual one."""
    seed: int = 0
    llm: LlmClient | None = None
    """The language model that judges; None: none is asked."""
    judges: Mapping[str, Judge] = field(default_factory=dict)
    """Judges that others wrote, by name."""
    named: tuple[str, ...] = ()
    """Those of the metrics that were asked for by their own names, in that order."""

    def __post_init__(self) -> None:
        for name in ("k", "budget"):
            count = getattr(self, name)
            if name == "budget" and count is None:
                continue
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise InvalidParameter(f"{name} is {count!r}; a whole number is needed, 1 or more")

    @property
    def wanted(self) -> tuple[MetricAt, ...]:
        """The same with what each declares."""
        return tuple(map(parse, self.metrics))

    @property
    def objective(self) -> str:
        """The metric questions are ordered by: the first that was named; of groups recall, else their first."""
        named = [name for name in self.named if parse(name).metric.per == "question"]
        first = [each.label for each in self.wanted if each.metric.headline]
        return (named or first or [*self.metrics, ""])[0]

    def configuration(self) -> dict[str, Json]:
        return {
            "metrics": list(self.metrics),
            "k": self.k,
            "budget": self.budget,
            **asdict(self.scoring),
            "judge_model": self._judge_name(),
            "seed": self.seed,
        }

    def _judge_name(self) -> str:
        """What says how near a hit is; empty where nobody is asked."""
        if not any("embedder" in each.metric.needs for each in self.wanted):
            return ""
        model = self.judge_model or DEFAULT
        return model if isinstance(model, str) else model.identity
