"""The one to use, of those that cannot be told from the best: against the common baselines, and as settings."""

from __future__ import annotations

import numpy as np

from chunkwise.chunkers.chunk import DEFAULT_STRATEGY
from chunkwise.evaluation.comparison import NO_DIFFERENCE
from chunkwise.stats.intervals import Interval
from chunkwise.stats.paired import SIGNIFICANCE, Ties, holm, holm_shares, paired_differences
from chunkwise.stats.table import mean
from chunkwise.tuning.choose.score_table import ScoreTable
from chunkwise.tuning.recommendation import Recommendation
from chunkwise.tuning.sweep import Configuration, Sweep, budget_of
from chunkwise.tuning.sweep_result import BaselineComparison, SweepResult, cost_amount, running_cost


def compare_with_baselines(score_table: ScoreTable, chosen: int) -> tuple[BaselineComparison, ...]:
    """Each default with the retriever that suits it best on validation; p and interval after Holm over the defaults.

    Empty without test questions; a choice that is a default is not held against that one, however it is searched.
    """
    own = score_table.outcomes[chosen].configuration.baseline
    columns = {name: at for name, at in baseline_columns(score_table).items() if name != own}
    first, second = (
        score_table.scores[score_table.test][:, at]
        for at in (list(columns.values()), [chosen] * len(columns))
    )
    alone = [each for each in paired_differences(first, second) if each is not None]
    if len(alone) < len(columns):
        return ()
    p = [each.p for each in alone]
    wide = paired_differences(first, second, outside=holm_shares(p))
    return tuple(
        BaselineComparison(
            name, score_table.outcomes[column].configuration.key, *each.difference, adjusted,
            _words(each.difference, score_table.sign),
        )
        for (name, column), adjusted, each in zip(columns.items(), holm(p), wide, strict=True)
        if each is not None
    )  # fmt: skip


def baseline_columns(score_table: ScoreTable) -> dict[str, int]:
    """By name, in the order of the plan; of each the column of the retriever that suits it best on validation.

    Of equally good ones the last, which mixes words and vectors: the stronger one to be held against.
    """
    found: dict[str, int] = {}
    means = {}
    for column in score_table.entrants:
        name = score_table.outcomes[column].configuration.baseline
        if not name:
            continue
        means[column] = mean(score_table.better(score_table.validation, [column])[:, 0])
        if name not in found or means[column] >= means[found[name]]:
            found[name] = column
    return found


def _words(difference: Interval, sign: float) -> str:
    """What the interval says, which after Holm's correction is what p says."""
    if not difference.leaves_out_zero:
        return NO_DIFFERENCE
    return "better" if sign * difference.mean > 0 else "worse"


NEAR = 0.01
"""How far below the best on validation the choice may be. Tied is not equal: the cheapest of many that few questions
cannot tell apart gave away twice as much on test questions."""
SAME_PRICE = 0.05
"""Prices this much apart, as a share of the lower, are the same: what trailing spaces cost must not decide."""


def recommended_column(score_table: ScoreTable, ties: Ties) -> int:
    """The column of the cheapest of those tied with the best and within a point of it on validation.

    Left out are those that a common default is shown to beat.

    Cheapest by storage × context tokens (the budget, where the objective has one); among those that cost the same the
    best on validation, then the fewest tokens embedded, the fewest chunks, and the first of the plan. A common default
    that is tied with the best is recommended when it is cheaper.
    """
    tied = _no_worse_than_defaults(
        score_table, [at for at in range(len(score_table.entrants)) if ties.tied[at]]
    )
    least = max(ties.means[at] for at in tied) - NEAR - 1e-12
    tied = [at for at in tied if ties.means[at] >= least]
    prices = {
        at: running_cost(score_table.outcomes[score_table.entrants[at]], score_table.budget)
        for at in tied
    }
    most = min(prices.values()) * (1 + SAME_PRICE)
    cheap = [at for at in tied if prices[at] <= most]
    # A model that reads the documents is a cost, too, where nothing else tells two apart.
    costs = {
        at: [
            cost_amount(score_table.outcomes[score_table.entrants[at]], name)
            for name in ("tokens_embedded", "chunks")
        ]
        for at in cheap
    }
    return score_table.entrants[min(cheap, key=lambda at: (-ties.means[at], *costs[at], at))]


def _no_worse_than_defaults(score_table: ScoreTable, tied: list[int]) -> list[int]:
    """A default is always there to stay with: it is held against each of the tied, not corrected for the sweep."""
    kept = tied
    for column in baseline_columns(score_table).values():
        first = score_table.better(score_table.validation, [column])
        columns = [score_table.entrants[at] for at in kept]
        second = score_table.better(score_table.validation, columns)
        pairs = paired_differences(np.repeat(first, len(columns), axis=1), second)
        kept = [
            at
            for at, pair in zip(kept, pairs, strict=True)
            if pair is None or pair.difference.mean >= 0 or pair.p > SIGNIFICANCE
        ]
    return kept or tied


def chosen_configuration(tuning: SweepResult) -> Configuration | None:
    """None: without questions nothing is chosen."""
    found = (each.configuration for each in tuning.outcomes)
    return next((each for each in found if each.key == tuning.chosen), None)


def recommendation_of(configuration: Configuration, sweep: Sweep) -> Recommendation:
    """Chunks are searched by k; several sizes, and objectives within a budget, by that budget."""
    several = not configuration.strategy
    return Recommendation(
        strategy=configuration.strategy or DEFAULT_STRATEGY,
        context=configuration.context,
        embedder=sweep.embedder,
        vectors=configuration.vectors,
        retriever=configuration.retriever,
        k=sweep.k,
        budget=budget_of(sweep.objective) or (1000 if several else None),
        neighbours=configuration.neighbours,
    )
