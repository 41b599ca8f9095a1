"""Who goes on: the best so far; a dear configuration is dropped when it cannot win any more."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted, points, thousands
from chunkwise.metrics.registry import lower_is_better
from chunkwise.stats.intervals import upper_limits
from chunkwise.tuning.plan.plan import VARIED
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import Outcome

_FIRST = 16
"""Questions before anyone is dropped; then as many again each time."""
CHANCE = 0.01
"""That one is dropped which would not have been behind in the end."""
_LOOKS = 4
"""Times that is asked, at most about."""


@dataclass(frozen=True, slots=True)
class Race:
    """Against the best of those that were asked everything."""

    ahead: tuple[float | None, ...] = ()
    """Its objective, question by question; None: the question has no part in choosing. Empty: nobody is ahead."""
    label: str = ""
    """Who that is."""
    lower: bool = False
    """Whether less of the objective is better."""
    ends: float = math.inf
    """In `time.time()`: what would take longer is given up."""

    def blocks(self, questions: int) -> Iterator[list[int]]:
        """Numbers of questions, those that choose first: the others drop nobody."""
        order = sorted(range(questions), key=lambda at: not self._chooses(at))
        done, size = 0, _FIRST if self.ahead else max(questions, 1)
        while done < questions:
            yield order[done : done + size]
            done, size = done + size, max(done, _FIRST)

    def lost(self, scores: NDArray[np.float64]) -> str:
        """Why it cannot win any more, by its scores so far; empty: it can, or has been asked everything."""
        choose = [at for at in range(len(self.ahead)) if self._chooses(at)]
        asked = [at for at in choose if not np.isnan(scores[at])]
        if len(asked) < _FIRST or len(asked) == len(choose) or not np.isnan(scores).any():
            return ""
        sign = -1.0 if self.lower else 1.0
        own, best = (
            sign * np.array([each[at] for at in asked], float) for each in (scores, self.ahead)
        )
        gains = own - best
        # What a question not seen could bring: as much as scores allow.
        most = max(1.0, float(np.ptp([0.0, own.min(), own.max(), best.min(), best.max()])))
        limit = float(
            upper_limits(gains[:, None], np.array([most]), np.array([CHANCE / _LOOKS]))[0]
        )
        if limit >= 0:
            return ""
        return (
            f"dropped after {counted(len(asked), 'question')}: {points(-gains.mean())} behind "
            f"{self.label} (p < 1/{thousands(1 / CHANCE)})"
        )

    def _chooses(self, at: int) -> bool:
        return at < len(self.ahead) and self.ahead[at] is not None


def best_planned(
    outcomes: Sequence[Outcome], splits: Sequence[str], objective: str
) -> list[Configuration]:
    """The best with chunks on the questions that choose, and the best that searches several sizes."""
    planned = [each for each in outcomes if not (each.error or each.configuration.varies)]
    best = [each.configuration for each in _best_first(planned, splits, objective)]
    chunked, several = (
        [each for each in best if bool(each.strategy) is has] for has in (True, False)
    )
    return [*chunked[:VARIED], *several[:1]]


def race_against(outcomes: Sequence[Outcome], splits: Sequence[str], objective: str) -> Race:
    """The best of all so far, by its scores on the questions that choose."""
    known = [each for each in outcomes if not each.error]
    for best in _best_first(known, splits, objective)[:1]:
        pairs = zip(best.scores[objective], splits, strict=True)
        ahead = tuple(score if split == "validation" else None for score, split in pairs)
        return Race(ahead, best.configuration.label, lower_is_better(objective))
    return Race()


def _best_first(
    outcomes: Sequence[Outcome], splits: Sequence[str], objective: str
) -> list[Outcome]:
    """Those with a score on the questions that choose; equal ones in their order."""
    means: list[tuple[float, Outcome]] = []
    for each in outcomes:
        scores = zip(each.scores.get(objective, ()), splits, strict=False)
        own = [score for score, split in scores if split == "validation" and score is not None]
        if own:
            means.append((sum(own) / len(own), each))
    means.sort(key=lambda pair: pair[0] if lower_is_better(objective) else -pair[0])
    return [each for _, each in means]
