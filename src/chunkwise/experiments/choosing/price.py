"""What a configuration costs whoever runs it, as far as that can be counted."""

from __future__ import annotations

import math

from chunkwise.experiments.outcome import Outcome


def amount(outcome: Outcome, name: str) -> float:
    """One cost; what is not known counts as dearest."""
    value = outcome.cost.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    return math.inf


def price(outcome: Outcome, budget: int | None = None) -> float:
    """Storage × context tokens: what is kept, and what every question makes a reader read.

    `budget`: the tokens that the objective allows each question; all read as much then, however many hits that are.
    """
    storage = amount(outcome, "storage")
    context = amount(outcome, "context_tokens") if budget is None else float(budget)
    return math.inf if math.inf in (storage, context) else storage * context
