"""What a comparison of runs found out: differences with how sure they are, and what they were not compared on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chunkwise.stats.intervals import Interval

NO_DIFFERENCE = "no difference shown"


@dataclass(frozen=True, slots=True)
class Run:
    """One of the runs compared."""

    name: str
    """a, b, c …, in the order given."""
    label: str
    questions: int
    source: str = ""
    """The file it was read from."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric in two runs, over the questions that both have a score for."""

    first: float
    second: float
    difference: Interval
    """Second minus first."""
    pairs: int


@dataclass(frozen=True, slots=True)
class Tested(Difference):
    """The same with what can be said about it."""

    p: float
    """Of the paired randomisation test, for this metric alone."""
    adjusted: float
    """After Holm's correction over everything that is tested in the comparison."""
    verdict: str
    """'a is better', 'b is better' or 'no difference shown'."""
    lower_is_better: bool
    unscored: int
    """Questions in both of which one run or both have no score."""
    detectable: float | None
    """The least difference that so many questions show four times in five, tested alone; None: not known."""
    needed: int | None
    """Questions that would about show a difference of this size; None: not known, or there is none."""


@dataclass(frozen=True, slots=True)
class Change:
    """A question that one run answers better than the other."""

    id: str
    text: str
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class Contrast:
    """A run against the first one."""

    first: str
    second: str
    """Names of the runs."""
    questions: int
    """In both, by id, with the same text."""
    other_text: tuple[str, ...]
    """Ids that are in both with another text: they are left out."""
    only_first: int
    only_second: int
    metrics: Mapping[str, Tested]
    unpaired: tuple[str, ...]
    """Metrics of both without a single question that both have a score for."""
    by_type: Mapping[str, Mapping[str, Difference]]
    """By type of question, then by metric; not tested."""
    objective: str
    """The metric by which questions changed."""
    first_better: tuple[Change, ...]
    second_better: tuple[Change, ...]
    """Questions that changed most, the largest change first."""


@dataclass(frozen=True, slots=True)
class Best:
    """Which of several runs is best by one metric, on the questions that all of them have a score for."""

    best: str
    tied: tuple[str, ...]
    """Runs that are not shown to be worse, the best among them."""
    best_share: Mapping[str, float]
    """Of 10,000 resamples of the questions, those in which a run is best."""
    questions: int
    needed: int | None
    """Questions that would about separate the best two."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs on the same questions, each against the first."""

    runs: tuple[Run, ...]
    contrasts: tuple[Contrast, ...]
    best: Mapping[str, Best]
    """By metric; empty for two runs, whose verdicts say the same."""
    tests: int
    """Over which Holm's correction is made: each run against the first, and against the best of several."""
    figures: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """Of whole chunkings and what they cost, one a run: no samples, so not tested."""
    warnings: tuple[str, ...] = ()
    """What makes the runs less comparable than they look."""
