"""The one to use, of those that cannot be told from the best."""

from __future__ import annotations

from chunkwise.experiments.choosing.field import Field
from chunkwise.experiments.choosing.price import amount, price
from chunkwise.stats.ties import Ties

SAME_PRICE = 0.05
"""Prices this much apart, as a share of the lower, are the same: what trailing spaces cost must not decide."""


def recommended(field: Field, ties: Ties) -> int:
    """The column of the cheapest of the tied.

    Cheapest by storage × context tokens (the budget, where the objective has one); among those that cost the same the
    best on validation, then the fewest chunks, then the first of the plan. A common default that is tied with the best
    is recommended when it is cheaper.
    """
    tied = [at for at, column in enumerate(field.entrants) if ties.tied[at]]
    prices = {at: price(field.outcomes[field.entrants[at]], field.budget) for at in tied}
    most = min(prices.values()) * (1 + SAME_PRICE)
    cheap = [at for at in tied if prices[at] <= most]
    chunks = {at: amount(field.outcomes[field.entrants[at]], "chunks") for at in cheap}
    return field.entrants[min(cheap, key=lambda at: (-ties.means[at], chunks[at], at))]
