"""The figures of a sweep where views look for them: by key, by metric, on the questions that count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkwise.base.wording import interval
from chunkwise.evaluation.results import Figure
from chunkwise.stats.intervals import intervals
from chunkwise.tuning.sweep import budget_of
from chunkwise.tuning.sweep_result import Outcome, SweepResult


class SweepFigures:
    """Looked up once, since every part of a view asks."""

    def __init__(self, tuning: SweepResult) -> None:
        self.tuning = tuning
        self.outcomes = {each.configuration.key: each for each in tuning.outcomes}
        self.standings = {each.key: each for each in tuning.standings}
        self.chosen = self.outcomes.get(tuning.chosen)
        self.split = "test" if "test" in tuning.splits else "validation"
        """The questions figures are reported on."""
        self.split_count = sum(split == self.split for split in tuning.splits)
        self.budget = budget_of(tuning.objective)
        """Tokens that the objective allows a question."""

    def best_first(self) -> list[Outcome]:
        """Everything that ran, in the order of its standing; what is only listed comes behind the others."""
        ranked = sorted(self.tuning.standings, key=lambda standing: bool(standing.aside))
        return [self.outcomes[each.key] for each in ranked if each.key in self.outcomes]

    def baselines(self) -> list[Outcome]:
        """One of each common default: the choice, the one the choice is held against, or the best on validation."""
        found: dict[str, Outcome] = {}
        held = [self.tuning.chosen, *(each.key for each in self.tuning.against)]
        known = [self.outcomes[key] for key in held if key in self.outcomes]
        for each in (*known, *self.best_first()):
            if each.configuration.baseline and not each.error:
                found.setdefault(each.configuration.baseline, each)
        return [found[name] for name in sorted(found)]

    @property
    def context_words(self) -> str:
        """What the tokens of context are called: where the objective has a budget, no more than that is read."""
        most = "" if self.budget is None else f", at most {self.budget:,}"
        return f"tokens of context a question{most}"

    def quality(self, key: str) -> Figure | None:
        """The objective on the questions that count."""
        standing = self.standings.get(key)
        if standing is None:
            return None
        return standing.test if self.split == "test" else standing.validation

    def figures(self, outcome: Outcome, metrics: Sequence[str]) -> list[Figure | None]:
        """Of several metrics on the questions that count; None: not measured."""
        known = [metric for metric in metrics if metric in outcome.scores]
        if not known or not self.split_count:
            return [None] * len(metrics)
        counted = np.array([split == self.split for split in self.tuning.splits])
        table = np.array(
            [[np.nan if score is None else score for score in outcome.scores[name]] for name in known],
            dtype=np.float64,
        ).T[counted]  # fmt: skip
        found = {
            name: Figure(*own, int((~np.isnan(column)).sum()))
            for name, own, column in zip(known, intervals(table), table.T, strict=True)
            if own is not None
        }
        return [found.get(metric) for metric in metrics]

    def short_name(self, outcome: Outcome) -> str:
        """The name of a default, else its label; `chosen` says so."""
        configuration = outcome.configuration
        said = (
            f"{configuration.baseline} · {configuration.retriever}"
            if configuration.baseline
            else configuration.label
        )
        return f"the choice: {said}" if configuration.key == self.tuning.chosen else said


def mean_words(figure: Figure | None) -> str:
    """A mean with three digits; empty where there is none."""
    return "" if figure is None or figure.mean is None else f"{figure.mean:.3f}"


def interval_words(figure: Figure | None) -> str:
    """Its interval; empty where there is none."""
    return "" if figure is None else interval(figure.low, figure.high)


def cost_of(outcome: Outcome, name: str) -> float | None:
    """One number of what a configuration costs; None: it is not known."""
    value = outcome.cost.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
