"""Where every configuration stands among the others, and which nothing else beats in everything at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from chunkwise.core import Query
from chunkwise.evaluation.results import Figure
from chunkwise.stats.intervals import intervals
from chunkwise.stats.paired import Ties
from chunkwise.tuning.choose.score_table import ScoreTable, late_twins
from chunkwise.tuning.splits import TEST, VALIDATION
from chunkwise.tuning.sweep_result import Standing, cost_amount


def pareto_front(values: ArrayLike) -> list[bool]:
    """Rows × figures of which more is better: whether no other row is as good in all and better in one."""
    table = np.asarray(values, dtype=np.float64)
    as_good = (table[:, None, :] >= table[None, :, :]).all(axis=2)
    better = (table[:, None, :] > table[None, :, :]).any(axis=2)
    beaten = np.asarray((as_good & better).any(axis=0))
    return [not each for each in beaten.tolist()]


class RankedStanding(NamedTuple):
    """A column of the score table with its standing."""

    column: int
    standing: Standing


def ranked_standings(
    score_table: ScoreTable, ties: Ties, queries: Sequence[Query]
) -> list[RankedStanding]:
    """The best on validation first; what has vectors of its own stands behind the same with late ones."""
    validation = _figures(score_table, VALIDATION, queries)
    test = _figures(score_table, TEST, queries) if TEST in score_table.splits else None
    entrants = {column: at for at, column in enumerate(score_table.entrants)}
    efficient = _efficient(score_table, ties)
    found = []
    for column, outcome in enumerate(score_table.outcomes):
        at = entrants.get(column)
        standing = Standing(
            outcome.configuration.key,
            outcome.configuration.label,
            validation[column],
            test[column] if test else None,
            tied=at is not None and ties.tied[at],
            best_share=0.0 if at is None else ties.best_share[at],
            pareto=at is not None and efficient[at],
            aside=score_table.aside.get(column, ""),
        )
        found.append(RankedStanding(column, standing))
    return _ordered(score_table, found)


def _figures(score_table: ScoreTable, side: str, queries: Sequence[Query]) -> list[Figure]:
    rows = [row for row, each in enumerate(score_table.splits) if each == side]
    table = score_table.scores[rows]
    found = []
    for column, interval in zip(table.T, intervals(table, seed=score_table.seed), strict=True):
        missing = np.isnan(column)
        why = Counter(
            "not scored" if queries[row].references else "no references"
            for row, gone in zip(rows, missing.tolist(), strict=True)
            if gone
        )
        scored = int((~missing).sum())
        if interval is None:
            found.append(Figure(None, unscored=dict(sorted(why.items()))))
        else:
            found.append(Figure(*interval, scored, dict(sorted(why.items()))))
    return found


def _efficient(score_table: ScoreTable, ties: Ties) -> list[bool]:
    # Within a budget all read as much: what they leave of it is no saving to be chosen for.
    names = ("storage",) if score_table.budget else ("storage", "context_tokens")
    costs = [
        [-cost_amount(score_table.outcomes[column], name) for name in names]
        for column in score_table.entrants
    ]
    return pareto_front(np.column_stack([ties.means, costs]))


def _ordered(score_table: ScoreTable, standings: list[RankedStanding]) -> list[RankedStanding]:
    twins = late_twins(score_table.outcomes)
    means = [ranked.standing.validation.mean for ranked in standings]

    def order(ranked: RankedStanding) -> tuple[float, int, int]:
        # A configuration with own vectors comes right after the same one with late vectors.
        column = twins.get(ranked.column, ranked.column)
        mean = means[column]
        return (
            -score_table.sign * (0.0 if mean is None else mean),
            column,
            int(ranked.column in twins),
        )

    return sorted(standings, key=order)
