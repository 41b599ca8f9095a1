"""All configurations that have scores, query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chunkwise.base.wording import counted
from chunkwise.metrics.registry import format_score, lower_is_better
from chunkwise.stats.intervals import ScoreMatrix, mean
from chunkwise.testsets.testset import REVIEWED
from chunkwise.tuning.sweep import Sweep, budget_of, constraints_of
from chunkwise.tuning.sweep_result import Outcome
from chunkwise.tuning.validation import TEST, VALIDATION, Rows

SHORT = "is the required minimum"
"""Ends the reason why one that falls short is listed only."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Columns are configurations, in the order of the plan."""

    outcomes: tuple[Outcome, ...]
    scores: ScoreMatrix
    """Questions × configurations, as they were measured; NaN: unscored."""
    lower: bool
    """Whether less of the objective is better."""
    splits: tuple[str, ...]
    validation: Rows
    """The questions that choose, of those that all configurations have a score for."""
    test: Rows
    budget: int | None
    """Tokens a question, where the objective is measured within so many."""
    aside: Mapping[int, str]
    """Columns that are listed and not chosen from, and why."""
    seed: int
    deciding: frozenset[int] | None = None
    """Questions that people wrote, or accepted; None: all of them."""
    least: tuple[tuple[str, float, ScoreMatrix], ...] = ()
    """Metrics with the mean that a choice must have, and their scores: questions × configurations."""

    def meeting(self) -> ScoreTable:
        """The same without those that fall short on the questions that choose."""
        aside = dict(self.aside)
        for column in self.entrants:
            for name, least, scores in self.least:
                own = scores[self.validation, column]
                reached = mean(own[~np.isnan(own)]) if not np.isnan(own).all() else 0.0
                if reached < least:
                    aside[column] = (
                        f"{name} is {format_score(name, reached)}, and "
                        f"{format_score(name, least)} {SHORT}"
                    )
        return replace(self, aside=aside)

    @property
    def entrants(self) -> list[int]:
        """Columns that are chosen from."""
        return [at for at in range(len(self.outcomes)) if at not in self.aside]

    @property
    def deciding_rows(self) -> Rows:
        """Of the questions that choose, those that people wrote or accepted."""
        deciding = self.deciding
        if deciding is None:
            return self.validation
        return np.array([row for row in self.validation.tolist() if row in deciding], dtype=np.intp)

    @property
    def is_unreviewed(self) -> bool:
        """Whether a program wrote too many of the questions to compare anything by them."""
        return self.deciding is not None and len(self.deciding_rows) < REVIEWED

    @property
    def sign(self) -> float:
        return -1.0 if self.lower else 1.0

    def better(self, rows: Rows, columns: Sequence[int]) -> ScoreMatrix:
        """Scores such that more is better."""
        # Adding 0 keeps a 0 from being turned into -0.
        result: ScoreMatrix = self.sign * self.scores[rows][:, list(columns)] + 0.0
        return result


def score_table_of(
    outcomes: Sequence[Outcome],
    splits: tuple[str, ...],
    sweep: Sweep,
    deciding: frozenset[int] | None = None,
) -> ScoreTable | None:
    """None where no configuration has a score on a question that chooses."""
    validating = np.array([side == VALIDATION for side in splits], dtype=bool)
    result: list[Outcome] = []
    for outcome in outcomes:
        if outcome.error or sweep.objective not in outcome.scores:
            continue
        if not np.isnan(_scores([outcome], sweep.objective)[validating]).all():
            result.append(outcome)
    if not result:
        return None
    table = _scores(result, sweep.objective)
    aside = {at: outcome.dropped for at, outcome in enumerate(result) if outcome.dropped}
    aside |= _with_gaps(table, [at for at in range(len(result)) if at not in aside])
    known = ~np.isnan(table[:, [at for at in range(len(result)) if at not in aside]]).any(axis=1)
    testing = np.array([side == TEST for side in splits], dtype=bool)
    return ScoreTable(
        tuple(result),
        table,
        lower_is_better(sweep.objective),
        splits,
        np.flatnonzero(known & validating),
        np.flatnonzero(known & testing),
        budget_of(sweep.objective),
        aside,
        sweep.seed,
        deciding,
        tuple(
            (name, least, _scores(result, name))
            for name, least in constraints_of(sweep.at_least).items()
        ),
    )


def _scores(outcomes: Sequence[Outcome], metric: str) -> ScoreMatrix:
    """Questions × configurations; NaN: unscored."""
    return np.array([outcome.scores[metric] for outcome in outcomes], dtype=np.float64).T


def _with_gaps(table: ScoreMatrix, columns: Sequence[int]) -> dict[int, str]:
    """Those that would leave too few questions to compare the others on; the one with most gaps goes first."""
    gone: dict[int, str] = {}
    scored = ~np.isnan(table)
    anyone = int(scored[:, columns].any(axis=1).sum())
    while True:
        kept = [at for at in columns if at not in gone]
        if 2 * int(scored[:, kept].all(axis=1).sum()) >= anyone or len(kept) == 1:
            return gone
        worst = min(kept, key=lambda at: int(scored[:, at].sum()))
        missing = anyone - int(scored[:, worst].sum())
        gone[worst] = f"no score for {counted(missing, 'question')} that others have"
