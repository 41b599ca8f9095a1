"""What a metric says of itself, once: terminal, pages, docs, `--metrics`, comparisons and sweeps all read it here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import as_set, shown
from chunkwise.core import Score

if TYPE_CHECKING:
    from chunkwise.metrics.evidence import Evidence


@dataclass(frozen=True, slots=True)
class CutIssue:
    """A boundary issue with where it is."""

    kind: str
    doc_id: str
    chunk: int
    offset: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CutCounts:
    """Counts of boundary issues."""

    chunks: int
    with_issues: int
    """Chunks with a boundary issue."""
    counts: Mapping[str, int]
    """Boundaries by kind of issue; one boundary can have several."""
    examples: tuple[CutIssue, ...]
    """Examples of each kind."""
    cuts_with_issues: int | None = None
    """Boundaries with any issue, each counted once; None: not counted."""


Scores = NDArray[np.float64]

NO_CHUNKS = "the hits have no chunks; pass the file of chunks with --chunks (chunks=… in Python)"
"""Why a metric of a whole chunking has no score."""

Need = Literal[
    "references", "labels", "facts", "reference answer", "answers", "citations", "embedder",
    "vectors", "chunks", "llm", "judge",
]  # fmt: skip
"""What must be there before a metric can be scored: of the questions, of the answers, of the index, or who is asked."""

NEEDS: Mapping[Need, str] = MappingProxyType(
    {
        "references": "references (gold spans)",
        "labels": "human labels",
        "facts": "expected facts",
        "reference answer": "a reference answer",
        "answers": "answers (--answers)",
        "citations": "answers with citations (--answers)",
        "embedder": "an embedder",
        "vectors": "an index with vectors",
        "chunks": "the chunks of an index",
        "llm": "a language model (--judge llm)",
        "judge": "its judge (--judge)",
    }
)

Better = Literal["higher", "lower"]
At = Literal["none", "hits", "hits or tokens"]
Per = Literal["question", "chunking"]
_NAME = re.compile(r"[a-z][a-z0-9_]*(?:[.-][a-z0-9_]+)*")

Value = float | str | Score
"""A score, or in words why there is none."""


class Targets(NamedTuple):
    """Thresholds of a metric's ratings."""

    good: float
    excellent: float

    @property
    def lower_is_better(self) -> bool:
        return self.excellent < self.good


class Remedy(NamedTuple):
    """What usually causes a figure that is not good, and what to try, in words or as phrases of which a run is told
    those that fit. `{k}` stands for what says how much is handed out; `{overlap}`, `{no_overlap}`, `{parent_child}`,
    `{structural}` (strategies that follow the structure or the meaning) and `{reranker}` for what a run may lack: of
    one that has it the phrase is left out."""

    causes: str | tuple[str, ...]
    remedies: str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyQuestion:
    """One of the four questions about a chunking; its metrics are called `name` or `name.method`."""

    name: str
    text: str
    targets: Targets
    remedy: Remedy


@dataclass(frozen=True, slots=True)
class WholeScore:
    """What a metric of a whole chunking gives: one value, over how many things, and what was left out of it."""

    score: Score
    count: int = 0
    unscored: Mapping[str, int] = field(default_factory=dict)
    cuts: CutCounts | None = None
    """What was counted on the way, where cuts were looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric; `score` returns one value per question, or one value for `per="chunking"`.

    Return a string instead of a value to explain why there is no score. If a metric raises an exception, it is
    reported as unscored with the reason; other metrics are still scored.
    """

    name: str = field(kw_only=False)
    help: str = field(kw_only=False)
    """One plain line."""
    score: Callable[[Evidence], Sequence[Value] | Value | WholeScore] | None = None
    group: str = "others"
    """What names it together with others in `--metrics`."""
    better: Better = "higher"
    bounds: tuple[float, float] = (0.0, 1.0)
    """Of a score. Intervals and pages draw shares: of a question it is one from 0 to 1."""
    targets: Targets | None = None
    """From which score on it is good, and excellent; None: those of its question, or none."""
    question: KeyQuestion | None = None
    """Which of the four questions it answers."""
    remedy: Remedy | None = None
    """What to do about a low score; None: that of its question."""
    needs: tuple[Need, ...] = ()
    at: At = "none"
    """What may follow @: nothing, a number of hits, or also a budget of tokens as in @1000t."""
    usual_at: int | None = None
    """The default after @; None: the k or the budget of the run."""
    usual: tuple[str, ...] = ("",)
    """The values after @ if the whole group is asked for; none: it must be named."""
    per: Per = "question"
    judge: str = ""
    """Whose verdicts on single hits it is the share of."""
    asks: str = ""
    """The judge that `--judge` must name before it is measured: asking costs time or money."""
    known_better_by: str = ""
    """The metric that knows what this one guesses: no advice where that one is good."""
    reachable: Callable[[Evidence], float | None] | None = None
    """The most that any ranking of the same chunks could reach."""
    as_percent: bool = False
    """Whether people read it as a percentage."""
    headline: bool = False
    """Whether questions are ordered by it, from the worst on, where it is measured."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InvalidParameter(
                f"metric name {self.name!r}; allowed: lower-case letters, digits, _ and dots: "
                f"coverage.rare_words"
            )
        for name, kind in (("better", Better), ("at", At), ("per", Per), ("needs", list[Need])):
            try:
                msgspec.convert(getattr(self, name), kind)
            except msgspec.ValidationError:
                allowed = NEEDS if name == "needs" else get_args(kind)
                raise InvalidParameter(
                    f"{name} of the metric {self.name!r} is {shown(getattr(self, name))}; "
                    f"allowed: {', '.join(allowed)}"
                ) from None
        if self.score is not None and not callable(self.score):
            raise InvalidParameter(
                f"score of the metric {self.name!r} is {shown(self.score)}; expected a function "
                "of the evidence"
            )
        low, high = self.bounds
        if self.per == "question" and not 0 <= low < high <= 1:
            raise InvalidParameter(
                f"{self.name} has the bounds {as_set(low)} to {as_set(high)}; question scores "
                f"must be between 0 and 1: divide by the maximum"
            )

    @property
    def family(self) -> str:
        """`completeness` of `completeness.facts`."""
        return self.name.partition(".")[0]

    @property
    def aims(self) -> Targets | None:
        """Its own targets, or those of its question."""
        return self.targets or (self.question.targets if self.question else None)

    @property
    def advice(self) -> Remedy | None:
        """Its own, or that of its question."""
        return self.remedy or (self.question.remedy if self.question else None)

    @property
    def can_choose(self) -> bool:
        """Whether a sweep can be decided by it: it scores a question by what is retrieved, and asks nobody."""
        return (
            self.per == "question"
            and not self.asks
            and not {"answers", "citations"}.intersection(self.needs)
        )

    @property
    def opinion_of(self) -> str:
        """The judge whose opinion it is, which can be calibrated; empty: none."""
        return self.judge or self.asks
