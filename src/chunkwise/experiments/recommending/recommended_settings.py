"""What a sweep recommends, as settings that commands take."""

from __future__ import annotations

from chunkwise.experiments.configuration import Configuration
from chunkwise.experiments.objective_budget import budget_of
from chunkwise.experiments.recommending.recommendation import Recommendation
from chunkwise.experiments.sweep import Sweep
from chunkwise.experiments.tuning import Tuning
from chunkwise.pipeline import DEFAULT_STRATEGY


def chosen_configuration(tuning: Tuning) -> Configuration | None:
    """None: without questions nothing is chosen."""
    found = (each.configuration for each in tuning.outcomes)
    return next((each for each in found if each.key == tuning.chosen), None)


def recommendation_of(configuration: Configuration, sweep: Sweep) -> Recommendation:
    """Chunks are searched by k; several sizes, and objectives within a budget, by that budget."""
    several = not configuration.strategy
    return Recommendation(
        strategy=configuration.strategy or DEFAULT_STRATEGY,
        context=configuration.context,
        model=sweep.model,
        vectors=configuration.vectors,
        retriever=configuration.retriever,
        k=sweep.k,
        budget=budget_of(sweep.objective) or (1000 if several else None),
        neighbours=configuration.neighbours,
    )
