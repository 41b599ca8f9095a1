"""The division of a whole document whose chunks hold together best: exact, by dynamic programming, in linear time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.sized_chunker import LARGEST
from chunkwise.chunkers.semantic import EmbeddingChunker, border_similarity
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed

LOOK_BACK = 256
"""Units in the longest run: what bounds the work where units are tiny and the limit is large."""


def best_starts(
    vectors: NDArray[np.float32], sizes: NDArray[np.int64], limit: int, least: int = 0
) -> list[int]:
    """Starts of the runs whose members are nearest to each other, all runs together.

    A run is worth the sum of its pairs' similarities, each less the mean of all pairs that could share a run.
    It holds at most `limit` by the sum of `sizes`, unless it is a single unit; below `least` it costs more
    than similarity can make up for.
    """
    count = len(vectors)
    before = np.concatenate(([0], np.cumsum(sizes)))
    end = np.arange(1, count + 1)
    reach = np.maximum(before.searchsorted(before[1:] - limit), end - LOOK_BACK)
    first = np.maximum.accumulate(np.minimum(reach, end - 1)).tolist()
    usual = _mean_similarity(vectors, first)
    best, came = np.zeros(count + 1), [0] * (count + 1)
    # inside[i]: what the run from unit i up to the present one is worth.
    inside = np.zeros(count)
    for last, low in enumerate(first):
        near = vectors[low:last] @ vectors[last] - usual
        inside[low:last] += near[::-1].cumsum()[::-1]
        value = best[low : last + 1] + inside[low : last + 1]
        if least:
            value -= (before[last + 1] - before[low : last + 1] < least) * 2.0 * LOOK_BACK**2
        chosen = int(value.argmax())
        best[last + 1], came[last + 1] = value[chosen], low + chosen
    starts, at = [], count
    while at > 0:
        at = came[at]
        starts.append(at)
    return starts[::-1]


def _mean_similarity(vectors: NDArray[np.float32], first: list[int]) -> float:
    """Of all pairs that could share a run."""
    window = np.zeros(vectors.shape[1])
    total, pairs, gone = 0.0, 0, 0
    for last, low in enumerate(first):
        for left in range(gone, low):
            window -= vectors[left]
        gone = max(gone, low)
        total += float(window @ vectors[last])
        pairs += last - low
        window += vectors[last]
    return total / pairs if pairs else 0.0


@dataclass(frozen=True, kw_only=True)
class ClusterChunker(EmbeddingChunker):
    """Of all ways to divide the document into chunks within the limit, the one whose chunks hold together best.

    Use it like semantic where sizes may vary widely and no threshold is known. Needs a model.
    """

    name: ClassVar[str] = "cluster"

    max_tokens: int = param(
        400, "maximum chunk size", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )

    def split(self, document: Analyzed) -> Sequence[Piece]:
        units = self.units(document)
        vectors = self.unit_vectors(document, units)
        bounds = np.append(units, len(document.text))
        sizes = np.diff(document.measure(self.tokenizer).befores(bounds))
        starts = best_starts(vectors, sizes, self.max_tokens, self.least)
        pieces = self.grouped(document, units[starts])
        return self.joined(document, pieces, units, border_similarity(vectors, 0))
