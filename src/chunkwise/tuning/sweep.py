"""What a user asks to be tried, one configuration of it, and what is measured of every one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any, Literal

from chunkwise.base.errors import InvalidOption, InvalidParameter
from chunkwise.base.wording import counted, one_or_many, percent
from chunkwise.core import WrittenContext
from chunkwise.documents.loader import OptionValue
from chunkwise.metrics.metric import Metric
from chunkwise.metrics.registry import MetricAt, metric_of, parse
from chunkwise.options import SearchOptions, TuneOptions
from chunkwise.retrieval.settings import Context


def budget_of(objective: str) -> int | None:
    """1000 of recall@1000t; None: the objective looks at a number of hits."""
    metric = parse(objective) if metric_of(objective) else None
    return metric.at if metric and metric.tokens else None


BUDGETS = (250, 500, 1000, 2000)
"""Tokens a reader may have room for."""
_AT_K = ("recall", "precision", "context_recall", "ndcg", "hit")


def objective_of(text: str, k: int) -> str:
    """The objective in full: recall@5 of recall."""
    if ".py:" in text:
        raise InvalidParameter(
            f"objective is {text!r}from a file, which worker processes and resumed sweeps can't "
            "load; register the metric as an entry point (docs/how-to/extend.md)"
        )
    return parse(text, k).label


def metrics_to_score(objective: str, k: int) -> list[MetricAt]:
    """The objective first, then recall within several budgets, then what is looked at of the best k; none twice."""
    metric = parse(objective, k=k).metric
    if not metric.can_choose:
        raise InvalidParameter(
            f"objective is {objective!r}, which {_why_not(metric)}; expected a retrieval metric "
            "with a score per question, such as recall@1000t, ndcg@5 or completeness.facts"
        )
    names = [objective, *(f"recall@{tokens}t" for tokens in BUDGETS), *_AT_K]
    ats = [parse(name, k=k) for name in names]
    return list({at.label: at for at in ats}.values())


def constraints_of(given: Sequence[str]) -> dict[str, float]:
    """Read ["precision=0.3"] as least means by metric."""
    means: dict[str, float] = {}
    for text in given:
        name, _, least = text.partition("=")
        try:
            means[name.strip()] = float(least)
        except ValueError:
            raise InvalidOption(
                "at_least", text, "expected a metric and a number: precision=0.3"
            ) from None
    return means


def check_constraints(given: Sequence[str], k: int) -> tuple[str, ...]:
    """Spell the names in full; only metrics that every sweep measures are allowed."""
    known = [f"{name}@{k}" for name in _AT_K]
    checked = []
    for name, least in constraints_of(given).items():
        label = parse(name, k).label
        if label not in known or not 0 <= least <= 1:
            allowed = f"expected one of {', '.join(known)} with a share from 0 to 1: precision=0.3"
            raise InvalidOption("at_least", f"{name}={least:g}", allowed)
        checked.append(f"{label}={least:g}")
    return tuple(checked)


def _why_not(metric: Metric) -> str:
    if metric.per != "question":
        return "has one score per chunking"
    return f"asks {metric.asks}" if metric.asks else "needs answers"


VectorKind = Literal["late", "own", "none"]
"""Of vectors: from one pass over the documents, from a pass over every chunk, or none."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Two with the same key give the same scores."""

    strategy: str
    """The label of the strategy, which makes it again; empty: no chunks are needed (multi-scale retrieval)."""
    retriever: str
    """The label of the retriever."""
    context: Context | WrittenContext = "none"
    neighbors: int = 0
    vectors: VectorKind = "late"
    levers: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)
    """What was varied, in words for tables: boundaries, size, overlap, context, neighbors, sizes, retriever."""
    baseline: str = field(default="", compare=False)
    """What it is known as, where it is a common default everything is compared with."""
    embedder: str = ""
    """The model of its vectors; empty: that of the sweep."""
    reranker: str = ""
    """What reads its hits once more; empty: nothing."""
    maxsim: str = ""
    """The token encoder whose vectors also vote in multi-scale retrieval (late interaction); empty: none."""
    varies: str = field(default="", compare=False)
    """Key of the one it differs from in one lever, tried because that was among the best; empty: planned."""
    llm: str = ""
    """The language model that writes its contexts; empty: none are written."""

    @property
    def label(self) -> str:
        """What a table calls it."""
        context = "" if self.context == "none" else self.context
        parts = [self.strategy, context, self.retriever]
        if self.neighbors:
            parts.append(f"neighbors {self.neighbors}")
        parts += [self.embedder, f"reranked by {self.reranker}" if self.reranker else ""]
        parts.append(f"token vectors of {self.maxsim}" if self.maxsim else "")
        if self.vectors == "own" and not self.embedder:
            parts.append("own vectors")
        return " · ".join(part for part in parts if part)

    @property
    def search(self) -> SearchOptions:
        """How its index is searched."""
        return SearchOptions(
            retriever=self.retriever, neighbors=self.neighbors, reranker=self.reranker or None
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that decide its scores, without models that it does not use."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in ("levers", "baseline", "varies") and value != ""
        }

    @property
    def reads_more(self) -> bool:
        """Whether another model is asked beside words and vectors."""
        return bool(self.reranker or self.maxsim or self.llm)

    @property
    def key(self) -> str:
        """The name of its file."""
        texts = [self.strategy, self.retriever, self.context, str(self.neighbors), self.vectors]
        if self.embedder or self.reranker:
            texts += [self.embedder, self.reranker]
        if self.maxsim:
            texts += ["maxsim", self.maxsim]
        if self.llm:
            texts += ["llm", self.llm]
        return blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()


SweepValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Grid:
    """Values to be combined, by the parameter they are for; the first names what they are values of."""

    names: tuple[str, ...]
    """Strategies, or retrievers."""
    values: tuple[tuple[str, tuple[SweepValue, ...]], ...] = ()
    """Parameters with their values, in the order they were written: max_tokens, overlap, context, neighbors …"""


NO_MODEL = "none"


class Sweep(TuneOptions, kw_only=False):
    """A plan as it is written down, before it is expanded; an empty embedder: BM25 only."""

    documents: tuple[str, ...]
    test_queries: str | None
    chunkers: tuple[Grid, ...]
    retrieval: tuple[Grid, ...]
    reading: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)
    """Options of `LoadOptions` that were given: which documents are read, and how; None: one that cannot be written."""
    pipeline: str = ""
    """What builds the user's own pipeline, whose declared parameters are tried; empty: chunkings and retrievers are."""
    timeout: float = 60.0
    """Seconds that the pipeline may take for a question."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("embedders", "rerankers"):
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        if self.embedder == NO_MODEL:
            object.__setattr__(self, "embedder", "")
        if self.embedders and not self.embedder:
            raise InvalidOption("embedders", self.embedders, "embedder is none: BM25 only")
        if self.max_cost and (self.price is None or self.price.currency != self.max_cost.currency):
            needed = f"max_cost needs a price per million tokens in {self.max_cost.currency}"
            raise InvalidOption("price", self.price, needed)


_MUCH = 1 / 3
"""Of the documents: with more of them in the budget, the choice matters little."""
_SMALLER = (2000, 1000, 500, 250, 100, 50, 25)


def fits_nearly_all(objective: str, tokens: float) -> str:
    """That the objective's budget holds much of documents of so many tokens; empty: it does not."""
    budget = budget_of(objective)
    if budget is None or not 0 < tokens * _MUCH <= budget:
        return ""
    share = min(budget / tokens, 1.0)
    # A tenth of the documents leaves room to be wrong.
    other = next((number for number in _SMALLER if number <= tokens / 10), None)
    advice = (
        f"try --objective {objective.partition('@')[0]}@{other}t"
        if other is not None
        else "use more documents"
    )
    return (
        f"{counted(budget, 'token')} {one_or_many(budget, 'is', 'are')} {percent(share)} of these "
        f"documents: {'nearly everything' if share >= 0.6 else 'much'} is found with any "
        f"configuration; {advice}"
    )
