"""Cut where the text turns to something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.parameters import param
from chunkwise.chunkers.embedding_chunker import EmbeddingChunker, border_similarity
from chunkwise.chunkers.packing.cuts import ArrayCuts
from chunkwise.core import Piece
from chunkwise.text.analysis import Analyzed

_AMOUNTS = {"percentile": 85.0, "deviation": 1.0, "gradient": 85.0}
"""Two of three say how many sentences in a hundred are not cut after: 85 makes groups of six or seven."""


@dataclass(frozen=True, kw_only=True)
class SemanticChunker(EmbeddingChunker):
    """Neighbouring sentences together while their meaning is near; a cut where it falls below a threshold.

    Use it for text that changes its subject without a heading: talks, interviews, minutes, essays. Needs a model.
    """

    name: ClassVar[str] = "semantic"

    threshold: float = param(
        0.5,
        "cosine similarity below which a cut is made, with method=threshold",
        low=-1.0,
        high=1.0,
    )
    method: str = param(
        "threshold",
        "threshold, or by the document's own similarities: the lowest (percentile), those far below the mean "
        "(deviation), the deepest dips (gradient)",
        choices=("threshold", *_AMOUNTS),
    )  # fmt: skip
    amount: float | None = param(
        None, "percentile (85) and gradient (85): percent of the places left uncut; deviation (1): standard deviations",
        low=0.0, high=100.0,
    )  # fmt: skip
    buffer: int = param(
        1, "further sentences on either side of a place that are compared, too", unit="sentences",
        low=0, high=100,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.amount is not None and self.method == "threshold":
            raise InvalidParameter(
                f"amount is {self.amount} and method 'threshold', which has `threshold` instead; "
                f"amount is for {', '.join(map(repr, _AMOUNTS))}"
            )

    def split(self, document: Analyzed) -> Sequence[Piece]:
        units = self.units(document)
        if not len(units):
            return []
        similarity = border_similarity(self.unit_vectors(document, units), self.buffer)
        starts = units[np.append(True, self._cuts(similarity))]
        # A group over the limit ends at the last place within reach that is one of the weaker half.
        weak = units[1:][similarity < np.median(similarity)] if len(similarity) else units[1:]
        pieces = self.grouped(document, starts, [ArrayCuts(lambda: weak)])
        return self.joined(document, pieces, units, similarity)

    def _cuts(self, similarity: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each place between two units is cut."""
        if self.method == "threshold" or not len(similarity):
            return similarity < self.threshold
        amount = _AMOUNTS[self.method] if self.amount is None else self.amount
        fall = -similarity
        if self.method == "deviation":
            return fall > fall.mean() + amount * fall.std() + _NOISE
        if self.method == "gradient":
            around = np.pad(similarity, 1, mode="edge")
            fall = np.round(around[:-2] + around[2:] - 2 * similarity, 4)
        return fall > np.percentile(fall, amount) + _NOISE


_NOISE = 1e-9
"""Places that are equally near are all cut or none, whatever the last bit of a mean says."""
