"""What a sweep found out: the choice, what it was chosen from, and how sure it is. What the report draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chunkwise.evaluation.results import Figure, Json
from chunkwise.experiments.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Standing:
    """One configuration among the others."""

    key: str
    label: str
    validation: Figure
    """The objective on the questions that choose."""
    test: Figure | None
    """The objective on the questions never used to choose; None: there are none."""
    tied: bool
    """Not significantly worse than the best on validation, after Holm's correction over the sweep."""
    best_share: float
    """Of the resamples of the validation questions, in how many it is the best of the field."""
    pareto: bool
    """Nothing is better in quality and no dearer in storage and, unless the objective has a budget, context tokens."""
    aside: str = ""
    """Why it is listed and not chosen from; empty: it takes part. Then it is neither tied nor on the front."""


@dataclass(frozen=True, slots=True)
class Against:
    """The choice and a common default, paired on the test questions."""

    baseline: str
    key: str
    difference: float
    low: float
    high: float
    p: float
    words: str
    """better, worse, or no difference shown."""


@dataclass(frozen=True, slots=True)
class Level:
    """One value of a lever, all else averaged."""

    value: str
    mean: float
    configurations: int


@dataclass(frozen=True, slots=True)
class Lever:
    """How much one choice moves the objective on this corpus."""

    name: str
    levels: tuple[Level, ...]
    """The best first."""
    effect: float
    """Best level minus worst."""
    low: float
    high: float
    """95 % interval of the effect, over questions."""
    moves: bool
    """Whether the interval excludes no effect."""


@dataclass(frozen=True, slots=True)
class Part:
    """Questions about one part of the corpus: a folder, a format."""

    name: str
    questions: int
    best: str
    """Key of the best configuration for this part."""
    best_label: str
    best_mean: float
    chosen_mean: float
    """What the overall choice reaches here."""
    gain: float
    low: float
    high: float
    worth_it: bool
    """Whether a setting of its own is shown to be better."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How the weights of several sizes at once were fitted."""

    tried: tuple[tuple[str, float], ...]
    """Label of the retriever and its mean on the validation questions, as in its standing."""
    kept: str
    why: str


@dataclass(frozen=True, slots=True)
class Tuning:
    """The whole of it; `results.json` of a sweep. Deterministic to the byte, apart from `timing`."""

    plan: Mapping[str, Json]
    """As it was asked for, and what was left out of the grid with the reason."""
    versions: Mapping[str, str]
    data: Mapping[str, Json]
    objective: str
    chosen: str
    """Key of the recommended configuration; empty: without questions none can be."""
    sentence: str
    """The recommendation in words, with its figures."""
    standings: tuple[Standing, ...]
    """The best on validation first."""
    against: tuple[Against, ...]
    levers: tuple[Lever, ...]
    parts: tuple[Part, ...]
    fit: Fit | None
    agreement: Mapping[str, float]
    """How well late and own vectors rank the finalists alike: Kendall's tau, and over how many."""
    caveats: tuple[str, ...]
    questions: tuple[str, ...]
    """Ids, in the order of the scores."""
    splits: tuple[str, ...]
    """validation or test, of each question."""
    outcomes: tuple[Outcome, ...]
    detectable: float | None = None
    """The least difference to the best that the validation questions show four times in five, tested alone."""
    needed: int | None = None
    """Questions that would about separate the best two; None: they are the same, or nothing is known."""
    small_parts: Mapping[str, int] = field(default_factory=dict)
    """Parts of the corpus with too few questions to be looked at, and how many they have."""
    timing: Mapping[str, float] = field(default_factory=dict, compare=False)
