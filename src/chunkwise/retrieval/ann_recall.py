"""What an engine that looks for vectors in its own way misses, measured against all of them compared."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted, percent
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.ranking import Ranking


class Recall(NamedTuple):
    """Share of the truly nearest chunks that the index found, over all questions."""

    share: float
    questions: int
    depth: int

    def __str__(self) -> str:
        return f"{percent(self.share)} of the {self.depth} nearest chunks found ({counted(self.questions, 'question')})"


class Nearest(Protocol):
    """An index that can be asked either way."""

    def nearest(
        self,
        vectors: NDArray[np.float32],
        depth: int,
        only: Filter = EVERYTHING,
        *,
        exact: bool | None = None,
    ) -> list[Ranking]: ...


def recall_of(index: Nearest, questions: NDArray[np.float32], depth: int) -> Recall:
    """A chunk as near as the last of the true ones counts as true: ties have no right order."""
    result = index.nearest(questions, depth, exact=False)
    truth = index.nearest(questions, depth, exact=True)
    wanted = sum(len(one.numbers) for one in truth)
    right = sum(
        int((near.scores >= true.scores[-1]).sum())
        for near, true in zip(result, truth, strict=True)
        if len(true.numbers)
    )
    return Recall(right / wanted if wanted else 1.0, len(questions), depth)


@runtime_checkable
class MeasuredRecall(Protocol):
    """An index that may look for vectors in an engine's own way."""

    @property
    def is_exact(self) -> bool:
        """Whether all chunks are compared all the same."""

    def recall(self, sample: int = 50, depth: int = 10) -> Recall:
        """Measured on chunks of the index itself."""
