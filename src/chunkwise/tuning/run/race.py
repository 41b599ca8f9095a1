"""Dear configurations are asked a few questions at a time, and dropped when they cannot win any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted
from chunkwise.stats.intervals import upper_limits

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
            f"dropped after {counted(len(asked), 'question')}: {-100 * gains.mean():.1f} points behind {self.label}, "
            f"by chance once in {1 / CHANCE:,.0f} times"
        )

    def _chooses(self, at: int) -> bool:
        return at < len(self.ahead) and self.ahead[at] is not None
