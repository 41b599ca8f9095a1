"""Figures of a sweep, looked up once for all parts of its report."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from chunkwise.base.wording import Kind, counted
from chunkwise.evaluation.results import Figure
from chunkwise.metrics.registry import kind_of
from chunkwise.stats.intervals import intervals
from chunkwise.testsets.testset import QuestionCounts
from chunkwise.tuning.sweep import Configuration, budget_of
from chunkwise.tuning.sweep_result import Outcome, SweepResult

_BUDGET = re.compile(r"recall@(\d+)t")


class SweepFigures:
    """Outcomes and standings by key, and what figures are reported on."""

    def __init__(self, tuning: SweepResult) -> None:
        self.tuning = tuning
        self.objective = tuning.objective
        self.kind: Kind = kind_of(tuning.objective)
        self.change: Kind = "change" if self.kind == "score" else "number"
        self.outcomes = {outcome.configuration.key: outcome for outcome in tuning.outcomes}
        self.standings = {standing.key: standing for standing in tuning.standings}
        self.chosen = self.outcomes.get(tuning.chosen)
        self.split = "test" if "test" in tuning.splits else "validation"
        self.budget = budget_of(tuning.objective)
        """Tokens that the objective allows a question."""

    @property
    def has_scores(self) -> bool:
        return any(standing.validation.mean is not None for standing in self.tuning.standings)

    @property
    def questions_decide(self) -> bool:
        """Whether people wrote or accepted enough of the questions, or the prior is not asked for."""
        counts = QuestionCounts.of(self.tuning.data.get("questions"))
        return self.has_scores and not (counts.is_unreviewed and self.tuning.prior)

    @property
    def reported_on(self) -> str:
        """The questions that scores are of."""
        count = sum(split == self.split for split in self.tuning.splits)
        if self.split == "test":
            return f"on {counted(count, 'test question')}"
        return f"in-sample on {counted(count, 'question')}"

    @property
    def reached(self) -> Figure | None:
        """What the choice reaches; without test questions, what choosing like this does."""
        nested = self.tuning.nested
        return nested.figure if nested else self.quality(self.tuning.chosen)

    def quality(self, key: str) -> Figure | None:
        """The objective on the reported questions."""
        standing = self.standings.get(key)
        if standing is None:
            return None
        return standing.test if self.split == "test" else standing.validation

    def best_first(self) -> list[Outcome]:
        """What ran, in the order of its standing; what is only listed comes last."""
        ranked = sorted(self.tuning.standings, key=lambda standing: bool(standing.aside))
        return [self.outcomes[item.key] for item in ranked if item.key in self.outcomes]

    def baselines(self) -> list[Outcome]:
        """One of each common default: the choice, the one compared with it, or the best on validation."""
        result: dict[str, Outcome] = {}
        keys = [self.tuning.chosen, *(compared.key for compared in self.tuning.against)]
        known = [self.outcomes[key] for key in keys if key in self.outcomes]
        for outcome in (*known, *self.best_first()):
            if outcome.configuration.baseline and not outcome.error:
                result.setdefault(outcome.configuration.baseline, outcome)
        return [result[name] for name in sorted(result)]

    def choice_and_defaults(self) -> list[Outcome]:
        """Each once, the choice first."""
        outcomes = ([self.chosen] if self.chosen else []) + self.baselines()
        return list({outcome.configuration.key: outcome for outcome in outcomes}.values())

    def name_of(self, outcome: Outcome) -> str:
        """The choice, a default by its name, or the label."""
        configuration = outcome.configuration
        if configuration.key == self.tuning.chosen:
            return "the choice"
        return configuration.baseline or configuration.label

    @property
    def budgets(self) -> list[int]:
        """Tokens within which recall was measured."""
        names = {name for outcome in self.tuning.outcomes for name in outcome.scores}
        return sorted(int(match[1]) for name in names if (match := _BUDGET.fullmatch(name)))

    def figures(self, outcome: Outcome, metrics: Sequence[str]) -> list[Figure | None]:
        """Several metrics on the reported questions; None: not measured."""
        known = [metric for metric in metrics if metric in outcome.scores]
        is_reported = np.array([split == self.split for split in self.tuning.splits], dtype=bool)
        if not known or not is_reported.any():
            return [None] * len(metrics)
        table = np.array(
            [[np.nan if score is None else score for score in outcome.scores[name]] for name in known],
            dtype=np.float64,
        ).T[is_reported]  # fmt: skip
        result = {
            name: Figure(*interval, int((~np.isnan(column)).sum()))
            for name, interval, column in zip(known, intervals(table), table.T, strict=True)
            if interval is not None
        }
        return [result.get(metric) for metric in metrics]


def cost_of(outcome: Outcome | None, name: str) -> float | None:
    """One number of what a configuration costs; None: not known."""
    value = outcome.cost.get(name) if outcome else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def short_names(configuration: Configuration) -> tuple[str, str]:
    """The chunking, and what searches it; of several sizes at once the retriever alone."""
    strategy = configuration.strategy
    rest = configuration.label.removeprefix(strategy).removeprefix(" · ")
    if not strategy:
        strategy, _, rest = rest.partition(" · ")
    return strategy, rest
