"""The one to use, of those that cannot be told from the best."""

from __future__ import annotations

import numpy as np

from chunkwise.experiments.choosing.against import defaults
from chunkwise.experiments.choosing.field import Field
from chunkwise.experiments.choosing.price import amount, price
from chunkwise.stats.paired import compare_all
from chunkwise.stats.ties import LEVEL, Ties

NEAR = 0.01
"""How far below the best on validation the choice may be. Tied is not equal: the cheapest of many that few questions
cannot tell apart gave away twice as much on test questions."""
SAME_PRICE = 0.05
"""Prices this much apart, as a share of the lower, are the same: what trailing spaces cost must not decide."""


def recommended(field: Field, ties: Ties) -> int:
    """The column of the cheapest of those tied with the best and within a point of it on validation.

    Left out are those that a common default is shown to beat.

    Cheapest by storage × context tokens (the budget, where the objective has one); among those that cost the same the
    best on validation, then the fewest tokens embedded, the fewest chunks, and the first of the plan. A common default
    that is tied with the best is recommended when it is cheaper.
    """
    tied = _no_worse_than_defaults(
        field, [at for at in range(len(field.entrants)) if ties.tied[at]]
    )
    least = max(ties.means[at] for at in tied) - NEAR - 1e-12
    tied = [at for at in tied if ties.means[at] >= least]
    prices = {at: price(field.outcomes[field.entrants[at]], field.budget) for at in tied}
    most = min(prices.values()) * (1 + SAME_PRICE)
    cheap = [at for at in tied if prices[at] <= most]
    # A model that reads the documents is a cost, too, where nothing else tells two apart.
    costs = {
        at: [
            amount(field.outcomes[field.entrants[at]], name)
            for name in ("tokens_embedded", "chunks")
        ]
        for at in cheap
    }
    return field.entrants[min(cheap, key=lambda at: (-ties.means[at], *costs[at], at))]


def _no_worse_than_defaults(field: Field, tied: list[int]) -> list[int]:
    """A default is always there to stay with: it is held against each of the tied, not corrected for the sweep."""
    kept = tied
    for column in defaults(field).values():
        first = field.better(field.validation, [column])
        columns = [field.entrants[at] for at in kept]
        second = field.better(field.validation, columns)
        pairs = compare_all(np.repeat(first, len(columns), axis=1), second, seed=field.seed)
        kept = [
            at
            for at, pair in zip(kept, pairs, strict=True)
            if pair is None or pair.difference.mean >= 0 or pair.p > LEVEL
        ]
    return kept or tied
