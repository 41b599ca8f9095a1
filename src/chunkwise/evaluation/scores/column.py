"""The scores of all questions by one metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Score


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A value a question; where it is NaN the question is unscored, and `reasons` says why."""

    values: NDArray[np.float64]
    reasons: tuple[str, ...]

    @classmethod
    def of(cls, scores: Sequence[Score]) -> Column:
        """From single scores, in the order of the questions."""
        values = [np.nan if score.value is None else score.value for score in scores]
        return cls(np.array(values, np.float64), tuple(score.reason for score in scores))

    @classmethod
    def with_reason(cls, values: NDArray[np.float64], reason: str) -> Column:
        """All that is unscored is so for one reason."""
        return cls(values, tuple(reason if missing else "" for missing in np.isnan(values)))
