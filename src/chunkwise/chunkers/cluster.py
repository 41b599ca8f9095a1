"""The division of a whole document whose chunks hold together best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from chunkwise.chunkers.by_meaning import ByMeaning
from chunkwise.chunkers.segmentation import best_starts
from chunkwise.chunkers.similarity import border_similarity
from chunkwise.chunkers.sized import LARGEST
from chunkwise.core import Piece
from chunkwise.parameters import param
from chunkwise.text.analysis import Analyzed


@dataclass(frozen=True, kw_only=True)
class Cluster(ByMeaning):
    """Of all ways to divide the document into chunks within the limit, the one whose chunks hold together best.

    Use it like semantic where sizes may vary widely and no threshold is known. Needs a model.
    """

    name: ClassVar[str] = "cluster"

    max_tokens: int = param(
        400, "no chunk is larger", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )

    def split(self, document: Analyzed) -> Sequence[Piece]:
        units = self.units(document)
        vectors = self.unit_vectors(document, units)
        tokens = document.measure(self.tokenizer).starts
        sizes = np.diff(tokens.searchsorted(np.append(units, len(document.text))))
        starts = best_starts(vectors, sizes, self.max_tokens, self.least)
        pieces = self.grouped(document, units[starts])
        return self.joined(document, pieces, units, border_similarity(vectors, 0))
