"""Who goes on: the finalists and the best so far; a dear configuration is dropped when it cannot win any more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted, points, thousands
from chunkwise.metrics.registry import lower_is_better
from chunkwise.stats.intervals import upper_limits
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
            f"{self.label}, by chance once in {thousands(1 / CHANCE)} times"
        )

    def _chooses(self, at: int) -> bool:
        return at < len(self.ahead) and self.ahead[at] is not None


def finalists(
    outcomes: Sequence[Outcome], splits: Sequence[str], objective: str, most: int = 5
) -> list[Configuration]:
    """The best `most` on the validation questions, and the common defaults, each with every chunk embedded by itself.

    Several sizes at once have no chunks to embed: they are not among them.
    """
    late = [each for each in outcomes if _is_late(each)]
    means = [_mean(each, splits, objective) for each in late]
    scored = [at for at, mean in enumerate(means) if mean is not None]
    sign = 1 if lower_is_better(objective) else -1
    best = sorted(scored, key=lambda at: (sign * (means[at] or 0.0), at))[:most]
    chosen = [late[at].configuration for at in best]
    if chosen:
        chosen += [
            each.configuration
            for each in late
            if each.configuration.baseline and each.configuration not in chosen
        ]
    return [replace(each, vectors="own") for each in chosen]


def best_chunkings(
    outcomes: Sequence[Outcome], splits: Sequence[str], objective: str, most: int = 5
) -> list[Configuration]:
    """The best `most` with chunks on the questions that choose."""
    means = {
        at: found
        for at, each in enumerate(outcomes)
        if each.configuration.strategy and not each.error and not each.configuration.varies
        for found in [_mean(each, splits, objective)]
        if found is not None
    }
    sign = 1 if lower_is_better(objective) else -1
    best = sorted(means, key=lambda at: (sign * means[at], at))[:most]
    return [outcomes[at].configuration for at in best]


def best_of_several(
    outcomes: Sequence[Outcome], splits: Sequence[str], objective: str
) -> list[Configuration]:
    """The best that searches several sizes, where one does: its windows have no chunks."""
    means = {
        at: found
        for at, each in enumerate(outcomes)
        if not each.configuration.strategy and not each.error and not each.configuration.varies
        for found in [_mean(each, splits, objective)]
        if found is not None
    }
    sign = 1 if lower_is_better(objective) else -1
    return [
        outcomes[at].configuration
        for at in sorted(means, key=lambda at: (sign * means[at], at))[:1]
    ]


def race_against(outcomes: Sequence[Outcome], splits: Sequence[str], objective: str) -> Race:
    """The best of all so far, by its scores on the questions that choose."""
    lower = lower_is_better(objective)
    sign = 1 if lower else -1
    means = {
        at: _mean(each, splits, objective) for at, each in enumerate(outcomes) if not each.error
    }
    known = {at: found for at, found in means.items() if found is not None}
    if not known:
        return Race()
    best = outcomes[min(known, key=lambda at: (sign * known[at], at))]
    pairs = zip(best.scores[objective], splits, strict=True)
    ahead = tuple(score if split == "validation" else None for score, split in pairs)
    return Race(ahead, best.configuration.label, lower)


def _is_late(outcome: Outcome) -> bool:
    configuration = outcome.configuration
    return bool(configuration.strategy) and configuration.vectors == "late" and not outcome.error


def _mean(outcome: Outcome, splits: Sequence[str], objective: str) -> float | None:
    scores = zip(outcome.scores.get(objective, ()), splits, strict=False)
    chosen = [score for score, split in scores if split == "validation" and score is not None]
    return sum(chosen) / len(chosen) if chosen else None
