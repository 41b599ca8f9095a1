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


Pair = tuple[str, str, float | None, float | None, int]
"""Two judges by name, Cohen's kappa, the share of hits on which they agree, and the hits that both judged."""


class UnjudgedHits(NamedTuple):
    """How much of what was retrieved the shares rest on."""

    hits: int
    judged: int
    reasons: Mapping[str, int]
    """Of the others, why there is no verdict, by how many hits; the most frequent first."""


def retrieval_precision(verdicts: Verdicts, expected: Sequence[bool] = ()) -> list[Score]:
    """Of each question, the share of its judged hits that are relevant; without a verdict there is no share.

    `expected`: by question, whether something is known to be there to be found, as its references tell; then nothing
    retrieved is 0, as it is for every measure over spans.
    """
    known = expected or [False] * len(verdicts)
    return [_share(own, there) for own, there in zip(verdicts, known, strict=True)]


def unjudged_hits(verdicts: Verdicts) -> UnjudgedHits:
    """Over all questions: a share of the judged hits says nothing about the others, so they are counted."""
    every = [score for own in verdicts for score in own]
    why = Counter(score.reason for score in every if score.value is None)
    return UnjudgedHits(len(every), len(every) - why.total(), dict(why.most_common()))


def _share(own: Sequence[Score], expected: bool) -> Score:
    values = [score.value for score in own if score.value is not None]
    if values:
        return Score(sum(values) / len(values))
    if not own:
        return Score(0.0) if expected else Score(None, NOTHING)
    # The reason most of its hits have; of several as frequent, the one of the better hit.
    return Score(None, Counter(score.reason for score in own).most_common(1)[0][0])


def agreements(verdicts: Mapping[str, Verdicts]) -> list[Pair]:
    """Every pair of judges on the hits that both judged."""
    flat = {
        name: [None if score.value is None else score.value >= 0.5 for own in each for score in own]
        for name, each in verdicts.items()
    }
    pairs = combinations(flat, 2)
    return [(one, other, *agreement(flat[one], flat[other])) for one, other in pairs]
