"""The same configuration with late vectors and with vectors of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from chunkwise.experiments.outcome import Outcome
from chunkwise.stats.kendall import kendall
from chunkwise.stats.table import Table, mean


def late_twins(outcomes: Sequence[Outcome]) -> dict[int, int]:
    """For each outcome with own vectors the one with late vectors, where there is one."""
    places = {outcome.configuration: at for at, outcome in enumerate(outcomes)}
    found: dict[int, int] = {}
    for at, outcome in enumerate(outcomes):
        late = places.get(replace(outcome.configuration, vectors="late"))
        if outcome.configuration.vectors == "own" and late is not None:
            found[at] = late
    return found


def agreement(twins: Mapping[int, int], scores: Table) -> dict[str, float]:
    """Kendall's tau over those that were run both ways, and how many these are; empty: none was.

    `scores`: of the questions that choose. Each pair is looked at on the questions that both have a score for.
    """
    pairs = []
    for own, late in twins.items():
        both = ~np.isnan(scores[:, own]) & ~np.isnan(scores[:, late])
        if both.any():
            pairs.append((mean(scores[both, late]), mean(scores[both, own])))
    if not pairs:
        return {}
    found = {"configurations": float(len(pairs))}
    tau = kendall(*zip(*pairs, strict=True))
    return found if tau is None else {"kendall_tau": tau, **found}
