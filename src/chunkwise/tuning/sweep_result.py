"""What a sweep found out: outcome by outcome, the choice, what it was chosen from, how sure it is; and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from chunkwise.evaluation.results import Figure, Json
from chunkwise.records.json import saved_text
from chunkwise.records.write import text_file
from chunkwise.testsets.testset import Grade, QuestionCounts
from chunkwise.tuning.sweep import Configuration

TIME_UP = "not run before the time limit; run the same command to resume"
"""Why an outcome is still to come."""


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
    """Cuts of every kind; `chunks_with_issues` and `cuts_with_issues`, each once, beside them. Empty for configurations
    without chunks."""
    error: str = ""
    """Why it could not be run; the others are not stopped by it."""
    seconds: float = field(default=0.0, compare=False)
    dropped: str = ""
    """Why it was not asked all questions: it could not win any more. Those not asked are unscored."""

    @property
    def waits(self) -> bool:
        """Whether it was not even tried: the time was up."""
        return self.error == TIME_UP


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
    expected: float | None = None
    """The objective on questions not asked yet: the mean with its noise shrunk, which decides; None: no part in it."""


@dataclass(frozen=True, slots=True)
class NestedJudgment:
    """What choosing like this is worth on questions that had no part in it: nested cross-validation.

    In turn a fold of the questions is left out, the others choose, and the choice is judged on the fold.
    """

    figure: Figure
    """The objective of what was chosen without the question, over all questions that choose."""
    folds: int
    repeats: int
    """Ways in which the questions were divided into folds."""
    chosen: tuple[tuple[str, float], ...]
    """Labels of what the folds chose, each with its share of them, the most frequent first."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """The choice and a common default, paired on the test questions; without these, on folds left out of choosing."""

    baseline: str
    key: str
    difference: float
    low: float
    high: float
    """95% interval, widened as p is by Holm's correction over the defaults."""
    p: float
    """After Holm's correction."""
    words: str
    """better, worse, or inconclusive: whether the interval leaves out 0."""


@dataclass(frozen=True, slots=True)
class LeverLevel:
    """One value of a lever, all else averaged."""

    value: str
    mean: float
    configurations: int


@dataclass(frozen=True, slots=True)
class Lever:
    """How much one choice moves the objective on this corpus."""

    name: str
    levels: tuple[LeverLevel, ...]
    """The best first."""
    effect: float
    """Best level minus worst."""
    low: float
    high: float
    """95% interval of the effect, over questions, for all levers and all their levels together."""
    moves: bool
    """Whether the interval excludes no effect."""


@dataclass(frozen=True, slots=True)
class CorpusPart:
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
    """95% interval, widened by Holm's correction over the parts."""
    worth_it: bool
    """Whether a setting of its own is shown to be better: the interval leaves out 0."""


@dataclass(frozen=True, slots=True)
class WeightFit:
    """How the multi-scale weights were fitted."""

    tried: tuple[tuple[str, float], ...]
    """Label of the retriever and its mean on the validation questions, as in its standing."""
    kept: str
    why: str


@dataclass(frozen=True, slots=True)
class MethodByType:
    """What one way to index misses, and how right the answers from its hits are."""

    name: str
    """context neighbors, sentences 1024/200 …"""
    key: str
    figures: Mapping[str, Mapping[str, Figure]]
    """By type of question, "all" for all of them, and metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """Contents of a sweep's `results.json`; deterministic except for `timing`."""

    plan: Mapping[str, Json]
    """The plan, and skipped configurations with reasons."""
    versions: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Json] = field(default_factory=dict)
    objective: str
    chosen: str
    """Key of the recommended configuration; empty without questions."""
    sentence: str
    """The recommendation as text, with scores."""
    standings: tuple[Standing, ...]
    """Configurations, best on validation first."""
    against: tuple[BaselineComparison, ...] = ()
    levers: tuple[Lever, ...] = ()
    parts: tuple[CorpusPart, ...] = ()
    fit: WeightFit | None = None
    caveats: tuple[str, ...]
    questions: tuple[str, ...]
    """Question ids, in the order of the scores."""
    splits: tuple[str, ...]
    """validation or test, per question; unreviewed: of a generated one beside enough that people accepted."""
    outcomes: tuple[Outcome, ...]
    detectable: float | None = None
    """Minimum detectable difference to the best on validation questions (80% power)."""
    needed: int | None = None
    """Approximate number of questions needed to separate the best two, if known."""
    small_parts: Mapping[str, int] = field(default_factory=dict)
    """Question counts of corpus parts with too few questions."""
    nested: NestedJudgment | None = None
    """Nested cross-validation; None with test questions or too few questions."""
    prior: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Prior from public datasets by hyperparameter value; empty without a prior."""
    prior_questions: float | None = None
    """Weight of the prior in questions; None without a prior."""
    methods: tuple[MethodByType, ...] = ()
    """Scores by question type of contexts and defaults; empty without a language model."""
    timing: Mapping[str, float] = field(default_factory=dict, compare=False)

    @property
    def grade(self) -> Grade:
        """Evidence grade: early estimate, reviewed or confirmed."""
        return QuestionCounts.of(self.data.get("questions")).grade


FORMAT = "chunkwise sweep"
VERSION = 1


def sweep_text(tuning: SweepResult) -> str:
    """What the file holds: outcomes stand one a line, `timing` last."""
    # How long each took is no result.
    outcomes = tuple(replace(outcome, seconds=0.0) for outcome in tuning.outcomes)
    return saved_text(replace(tuning, outcomes=outcomes), FORMAT, VERSION, "outcomes")


def write_sweep_result(tuning: SweepResult, path: Path) -> None:
    """Whole or not at all."""
    with text_file(path) as out:
        out.write(sweep_text(tuning))
