"""Relevance by an embedder's opinion: how near a hit is to its question."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Hit, Query, Score
from chunkwise.metrics.judges.calibration import NEAR
from chunkwise.models import DEFAULT, get_embedder
from chunkwise.models.embed.embedder import Embedder, Kind

NO_WORDS = "no words to compare"
NO_VECTOR = "the model gave no vector"


class SimilarityJudge:
    """Relevant is a hit whose cosine with the question reaches the threshold; made for comparison, it is no truth."""

    name = "similarity"

    def __init__(self, embedder: str | Embedder = DEFAULT, threshold: float = 0.7) -> None:
        if not -1 <= threshold <= 1:
            raise InvalidParameter(
                f"similarity_threshold is {threshold}; a cosine is between -1 and 1, 0.7 is usual"
            )
        self.threshold = threshold
        self._embedder = embedder

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        """One score a hit, in the order of the hits; every text is embedded once, all together."""
        questions = self._vectors([query.text for query in queries], "query")
        passages = self._vectors([hit.text for own in hits for hit in own], "passage")
        sizes = [len(own) for own in hits]
        asked = questions[np.repeat(np.arange(len(sizes)), sizes)]
        cosine = np.einsum("ij,ij->i", asked, passages)
        known = (asked != 0).any(axis=1) & (passages != 0).any(axis=1)
        near = cosine >= self.threshold - NEAR
        flat = [
            _score(*each)
            for each in zip(near.tolist(), known.tolist(), np.isnan(cosine).tolist(), strict=True)
        ]
        first = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).tolist()
        return [flat[low:high] for low, high in pairwise(first)]

    def _vectors(self, texts: list[str], kind: Kind) -> NDArray[np.float32]:
        """One row a text, of length 1; zeros for a text without words, NaN where the model failed."""
        row = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        embedder = get_embedder(self._embedder)
        if not row:
            return np.zeros((0, embedder.dimensions), np.float32)
        vectors = embedder.embed(list(row), kind)
        vectors = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, np.nan)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = (vectors / np.where(length == 0, 1, length)).astype(np.float32)
        return unit[[row[text] for text in texts]]


def _score(near: bool, known: bool, failed: bool) -> Score:
    if failed:
        return Score(None, NO_VECTOR)
    return Score(float(near)) if known else Score(None, NO_WORDS)
