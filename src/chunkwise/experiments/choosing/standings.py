"""Where every configuration stands among the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from chunkwise.core import Query
from chunkwise.evaluation.results import Figure
from chunkwise.experiments.choosing.field import Field
from chunkwise.experiments.choosing.pareto import front
from chunkwise.experiments.choosing.price import amount
from chunkwise.experiments.choosing.twins import late_twins
from chunkwise.experiments.splits import TEST, VALIDATION
from chunkwise.experiments.tuning import Standing
from chunkwise.stats.bootstrap import intervals
from chunkwise.stats.ties import Ties


class Place(NamedTuple):
    """A column of the field with its standing."""

    column: int
    standing: Standing


def places(field: Field, ties: Ties, queries: Sequence[Query]) -> list[Place]:
    """The best on validation first; what has vectors of its own stands behind the same with late ones."""
    validation = _figures(field, VALIDATION, queries)
    test = _figures(field, TEST, queries) if TEST in field.splits else None
    entrants = {column: at for at, column in enumerate(field.entrants)}
    efficient = _efficient(field, ties)
    found = []
    for column, outcome in enumerate(field.outcomes):
        at = entrants.get(column)
        standing = Standing(
            outcome.configuration.key,
            outcome.configuration.label,
            validation[column],
            test[column] if test else None,
            tied=at is not None and ties.tied[at],
            best_share=0.0 if at is None else ties.best_share[at],
            pareto=at is not None and efficient[at],
            aside=field.aside.get(column, ""),
        )
        found.append(Place(column, standing))
    return _ordered(field, found)


def _figures(field: Field, side: str, queries: Sequence[Query]) -> list[Figure]:
    rows = [row for row, each in enumerate(field.splits) if each == side]
    table = field.scores[rows]
    found = []
    for column, interval in zip(table.T, intervals(table, seed=field.seed), strict=True):
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


def _efficient(field: Field, ties: Ties) -> list[bool]:
    # Within a budget all read as much: what they leave of it is no saving to be chosen for.
    names = ("storage",) if field.budget else ("storage", "context_tokens")
    costs = [[-amount(field.outcomes[column], name) for name in names] for column in field.entrants]
    return front(np.column_stack([ties.means, costs]))


def _ordered(field: Field, found: list[Place]) -> list[Place]:
    twins = late_twins(field.outcomes)
    means = [place.standing.validation.mean for place in found]

    def behind(place: Place) -> tuple[float, int, int]:
        # Of a twin, the place of the late one, and after it.
        column = twins.get(place.column, place.column)
        mean = means[column]
        return -field.sign * (0.0 if mean is None else mean), column, int(place.column in twins)

    return sorted(found, key=behind)
