"""What a user asks to be tried, one configuration of it, and what is measured of every one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

from chunkwise.base.errors import InvalidOption, InvalidParameter
from chunkwise.base.wording import as_set, counted, one_or_many, percent, shown
from chunkwise.core import WrittenContext
from chunkwise.documents.loader import OptionValue
from chunkwise.metrics.metric import Metric
from chunkwise.metrics.registry import MetricAt, metric_of, parse
from chunkwise.retrieval.settings import Context
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER


def budget_of(objective: str) -> int | None:
    """1000 of recall@1000t; None: the objective looks at a number of hits."""
    metric = parse(objective) if metric_of(objective) else None
    return metric.at if metric and metric.tokens else None


BUDGETS = (250, 500, 1000, 2000)
"""Tokens a reader may have room for."""
_AT_K = ("recall", "precision", "context_recall", "ndcg", "hit")


def objective_of(text: str | object, k: int) -> str:
    """The objective in full: recall@5 of recall."""
    if isinstance(text, Metric):
        raise InvalidParameter(
            f"objective is the metric {text.name!r} as an object; its name is needed, as a sweep is shared between "
            "processes and gone on with another day: put the metric behind an entry point (docs/extending.md)"
        )
    if not isinstance(text, str):
        raise InvalidParameter(
            f"objective is {shown(text)}; the name of a metric is needed, such as 'recall@1000t' or 'ndcg@5'"
        )
    if ".py:" in text:
        raise InvalidParameter(
            f"objective is {text!r}; a sweep is shared between processes and gone on with another day, where nobody "
            "reads this file: put the metric behind an entry point (docs/extending.md) and give its name"
        )
    return parse(text, k).label


def metrics_to_score(objective: str, k: int) -> list[MetricAt]:
    """The objective first, then recall within several budgets, then what is looked at of the best k; none twice."""
    metric = parse(objective, k=k).metric
    if not metric.can_choose:
        raise InvalidParameter(
            f"objective is {objective!r}, which {_why_not(metric)}; a sweep is decided by a metric that scores every "
            "question by what is retrieved, such as recall@1000t, ndcg@5 or completeness.facts"
        )
    names = [objective, *(f"recall@{tokens}t" for tokens in BUDGETS), *_AT_K]
    found = [parse(name, k=k) for name in names]
    return list({each.label: each for each in found}.values())


def constraints_of(given: Mapping[str, float] | Sequence[str]) -> dict[str, float]:
    """Least means by metric, of {"precision": 0.3} or ["precision=0.3"]."""
    pairs = given.items() if isinstance(given, Mapping) else (each.split("=", 1) for each in given)
    found: dict[str, float] = {}
    for pair in pairs:
        try:
            name, least = pair
            found[name.strip().removesuffix(">").strip()] = float(least)
        except (TypeError, ValueError, AttributeError):
            raise InvalidOption(
                "at_least", pair, "expected a metric and a number: precision=0.3"
            ) from None
    return found


def check_constraints(given: Mapping[str, float], k: int) -> dict[str, float]:
    """The same with names in full: metrics that every sweep measures."""
    found = {parse(name, k).label: least for name, least in constraints_of(given).items()}
    known = [f"{name}@{k}" for name in _AT_K]
    for name, least in found.items():
        if name not in known or not 0 <= least <= 1:
            allowed = f"expected one of {', '.join(known)} with a share from 0 to 1: precision=0.3"
            raise InvalidOption("at_least", f"{name}={as_set(least)}", allowed)
    return found


def _why_not(metric: Metric) -> str:
    if metric.per != "question":
        return "is one figure of a whole chunking"
    return f"asks {metric.asks}" if metric.asks else "looks at answers"


VectorKind = Literal["late", "own", "none"]
"""Of vectors: from one pass over the documents, from a pass over every chunk, or none."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Two with the same key give the same figures."""

    strategy: str
    """The label of the strategy, which makes it again; empty: no chunks are needed (several sizes at once)."""
    retriever: str
    """The label of the retriever."""
    context: Context | WrittenContext = "none"
    neighbours: int = 0
    vectors: VectorKind = "late"
    levers: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)
    """What was varied, in words for tables: boundaries, size, overlap, context, neighbours, sizes, retriever."""
    baseline: str = field(default="", compare=False)
    """What it is known as, where it is a common default everything is compared with."""
    embedder: str = ""
    """The model of its vectors; empty: that of the sweep."""
    reranker: str = ""
    """What reads its hits once more; empty: nothing."""
    maxsim: str = ""
    """The token encoder whose vectors vote, too, at several sizes (late interaction); empty: none."""
    varies: str = field(default="", compare=False)
    """Key of the one it differs from in one lever, tried because that was among the best; empty: planned."""
    llm: str = ""
    """The language model that writes its contexts; empty: none are written."""

    @property
    def label(self) -> str:
        """What a table calls it."""
        context = "" if self.context == "none" else self.context
        parts = [self.strategy, context, self.retriever]
        if self.neighbours:
            parts.append(f"neighbours {self.neighbours}")
        parts += [self.embedder, f"reranked by {self.reranker}" if self.reranker else ""]
        parts.append(f"token vectors of {self.maxsim}" if self.maxsim else "")
        if self.vectors == "own" and not self.embedder:
            parts.append("own vectors")
        return " · ".join(part for part in parts if part)

    @property
    def reads_more(self) -> bool:
        """Whether another model is asked beside words and vectors."""
        return bool(self.reranker or self.maxsim or self.llm)

    @property
    def key(self) -> str:
        """The name of its file."""
        said = [self.strategy, self.retriever, self.context, str(self.neighbours), self.vectors]
        if self.embedder or self.reranker:
            said += [self.embedder, self.reranker]
        if self.maxsim:
            said += ["maxsim", self.maxsim]
        if self.llm:
            said += ["llm", self.llm]
        return blake2b("\0".join(said).encode(), digest_size=8).hexdigest()


SweepValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Grid:
    """Values to be combined, by the parameter they are for; the first names what they are values of."""

    names: tuple[str, ...]
    """Strategies, or retrievers."""
    values: tuple[tuple[str, tuple[SweepValue, ...]], ...] = ()
    """Parameters with their values, in the order they were written: max_tokens, overlap, context, neighbours …"""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A plan as it is written down, before it is expanded."""

    documents: tuple[str, ...]
    test_queries: str | None
    chunkers: tuple[Grid, ...]
    retrieval: tuple[Grid, ...]
    objective: str = "recall@1000t"
    k: int = 5
    embedder: str = "minilm"
    """Empty: none, words alone."""
    seconds: float | None = None
    """The time that may be spent; None: as long as it takes."""
    money: float | None = None
    """What models may cost, where they are paid for; None: whatever it costs."""
    currency: str = ""
    """Of `money` and `price`, as the user wrote it."""
    price: float | None = None
    """Of a million tokens embedded; None: nothing is paid for."""
    seed: int = 0
    exact: bool = False
    """Every chunk is embedded by itself, also in the sweep."""
    finalists: int = 5
    """The best of those with late vectors that are run again with vectors of their own, and the defaults with them;
    0: none."""
    test_share: float = 0.0
    """Of the questions that judge and never choose, where the file does not split them itself; 0: all choose, and
    nested cross-validation judges."""
    reading: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)
    """Options of `LoadOptions` that were given: which documents are read, and how; None: one that cannot be written."""
    tokenizer: str = DEFAULT_TOKENIZER
    """What budgets and sizes are counted by; strategies cut by their own."""
    prior: bool = True
    """Whether what levers did on public question sets counts for as much as some questions."""
    embedders: tuple[str, ...] = ()
    """Other models than `embedder`, which the best are tried with, too."""
    rerankers: tuple[str, ...] = ()
    """What may read hits once more, tried on the best."""
    maxsim: str = ""
    """A token encoder, tried on the best that searches several sizes; empty: none."""
    pipeline: str = ""
    """What builds the user's own pipeline, whose declared parameters are tried; empty: chunkings and retrievers are."""
    timeout: float = 60.0
    """Seconds that the pipeline may take for a question."""
    at_least: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Means that a choice must have, by metric: precision@5 0.3; what falls short is listed only."""
    llm: str = ""
    """What writes contexts, tried on the best chunking, and answers for the table of methods; empty: nothing."""


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
    other = next((each for each in _SMALLER if each <= tokens / 10), None)
    advice = (
        f"try --objective {objective.partition('@')[0]}@{other}t"
        if other is not None
        else "more documents are needed to choose by"
    )
    return (
        f"{counted(budget, 'token')} {one_or_many(budget, 'is', 'are')} {percent(share)} of these documents: "
        f"{'nearly everything' if share >= 0.6 else 'much'} is found, whatever is chosen; {advice}"
    )
