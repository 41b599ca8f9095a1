"""Are the retrieved chunks relevant? By the verdicts of one judge or several, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from chunkwise.core import Score
from chunkwise.stats.agreement import agreement

NOTHING = "nothing was retrieved"

Verdicts = Sequence[Sequence[Score]]
"""Of one judge: a score a hit, by question."""


class JudgesAgree(NamedTuple):
    """Two judges on the same hits."""

    first: str
    second: str
    kappa: float | None
    """Cohen's; None where both always say the same one thing, or no hit has both verdicts."""
    same: float | None
    """Share of the hits on which they agree."""
    hits: int
    """Those on which both gave a verdict."""


def retrieval_precision(verdicts: Verdicts) -> list[Score]:
    """Of each question, the share of its judged hits that are relevant; without a verdict there is no share."""
    return [_share(own) for own in verdicts]


def _share(own: Sequence[Score]) -> Score:
    values = [score.value for score in own if score.value is not None]
    if values:
        return Score(sum(values) / len(values))
    if not own:
        return Score(None, NOTHING)
    # The reason most of its hits have; of several as frequent, the one of the better hit.
    return Score(None, Counter(score.reason for score in own).most_common(1)[0][0])


def agreements(verdicts: Mapping[str, Verdicts]) -> list[JudgesAgree]:
    """Every pair of judges, by name, on the hits that both judged."""
    flat = {
        name: [None if score.value is None else score.value >= 0.5 for own in each for score in own]
        for name, each in verdicts.items()
    }
    pairs = combinations(flat, 2)
    return [JudgesAgree(one, other, *agreement(flat[one], flat[other])) for one, other in pairs]
