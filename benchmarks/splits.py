"""How good the choice is on questions that had no part in it, over many ways to divide the questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from benchmarks.kept import Kept
from benchmarks.swept import Swept, all_swept
from benchmarks.tables import table
from chunkwise.stats.paired import Ties, ties
from chunkwise.tuning.choose.choose import baseline_columns, recommended_column
from chunkwise.tuning.choose.priors_and_shrinkage import expectation
from chunkwise.tuning.choose.score_table import ScoreTable, score_table_of
from chunkwise.tuning.validation import split

SPLITS = 20
OBJECTIVES = ("recall@1000t", "recall@5", "ndcg@5")
NEAR = 0.01

Rule = Callable[[ScoreTable, Ties], int]
"""From what the validation questions show to a column."""


def choice(score_table: ScoreTable, found: Ties) -> int:
    """Without the prior of the package, which comes from these sets."""
    configurations = [score_table.outcomes[at].configuration for at in score_table.entrants]
    scores = score_table.better(score_table.validation, score_table.entrants)
    return recommended_column(score_table, expectation(scores, configurations).means)


def best_on_validation(score_table: ScoreTable, found: Ties) -> int:
    return score_table.entrants[found.best]


RULES: dict[str, Rule] = {
    "the choice, without a prior": choice,
    "the best on validation": best_on_validation,
}


class Judged(NamedTuple):
    """One choice on its test questions: means, more is better."""

    chosen: float
    best: float
    """Of everything that could have been chosen, by the test questions themselves."""
    defaults: tuple[float, ...]
    tied: int


def fields(swept: Swept, objective: str) -> Iterator[tuple[ScoreTable, Ties]]:
    """Of every split."""
    sweep = replace(swept.prepared.sweep, objective=objective)
    queries = [replace(each, split="") for each in swept.prepared.inputs.questions.queries]
    for seed in range(SPLITS):
        score_table = score_table_of(
            swept.outcomes, split(queries, 0.5, seed), replace(sweep, seed=seed)
        )
        assert score_table is not None
        found = ties(score_table.better(score_table.validation, score_table.entrants), seed=seed)
        assert found is not None
        yield score_table, found


def judged(score_table: ScoreTable, found: Ties, rule: Rule) -> Judged:
    means = score_table.better(score_table.test, range(len(score_table.outcomes))).mean(axis=0)
    return Judged(
        float(means[rule(score_table, found)]),
        float(means[score_table.entrants].max()),
        tuple(float(means[at]) for at in baseline_columns(score_table).values()),
        sum(found.tied),
    )


def row(judgments: list[Judged]) -> list[str]:
    """Points, over all splits."""
    loss = np.array([each.best - each.chosen for each in judgments])
    gains = np.array([[each.chosen - other for other in each.defaults] for each in judgments])
    return [
        f"{(loss <= NEAR).sum()} of {len(loss)}",
        f"{100 * loss.mean():.1f}",
        f"{100 * loss.max():.1f}",
        *(f"{100 * own.mean():+.1f} (least {100 * own.min():+.1f})" for own in gains.T),
    ]


def run(kept: Kept) -> str:
    """A table a set, as Markdown."""
    with kept.place() as place:
        sets = all_swept(place)
    if not sets:
        return "- left out: their data are not there\n"
    rows = []
    for swept in sets:
        for objective in OBJECTIVES:
            known = list(fields(swept, objective))
            tied = np.mean([sum(found.tied) for _, found in known])
            for name, rule in RULES.items():
                told = row([judged(score_table, found, rule) for score_table, found in known])
                rows.append([f"{swept.name}, {objective}: {name}", f"{tied:.0f}", *told])
    return "\n".join([
        f"The sweeps above, their questions divided {SPLITS} times (seeds 0 to {SPLITS - 1}, as `--seed` divides "
        "them): what is chosen on one half, judged on the other. The best is the best by the test questions "
        "themselves, which nobody can know beforehand; losses and gains in points, means of the splits.\n",
        table(
            [
                "", "tied", "within 1 point of the best", "loss", "largest loss",
                "against recursive 1000/200 characters", "against sentences 1024/200",
            ],
            rows,
        ),
        "",
    ])  # fmt: skip
