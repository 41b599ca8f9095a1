"""What a reranker has to offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted


@runtime_checkable
class Reranker(Protocol):
    """Reads a question and a passage together; slower than vectors, and better at telling them apart."""

    @property
    def identity(self) -> str: ...

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One score a text, the higher the more relevant."""


@runtime_checkable
class BlendingReranker(Reranker, Protocol):
    """One that is too weak to decide alone: its scores and those of the ranking it is given are added up."""

    @property
    def weight_of_first(self) -> float:
        """How much the scores of that ranking count; its own count 1, each as a share of their range."""


def scores_of(reranker: Reranker, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """One score a text, or an error that names the reranker."""
    scores = np.asarray(reranker.scores(query, texts), np.float32)
    if scores.shape != (len(texts),):
        raise ChunkwiseError(
            f"the reranker {reranker.identity} returned {counted(scores.size, 'score')} for "
            f"{counted(len(texts), 'text')}; expected one per text, in order"
        )
    return scores


class RememberingReranker:
    """Reads no pair twice, however often one search asks."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._known: dict[tuple[str, str], np.float32] = {}

    @property
    def identity(self) -> str:
        return self._reranker.identity

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if (query, text) not in self._known]
        if missing:
            values = scores_of(self._reranker, query, missing)
            self._known |= {(query, text): one for text, one in zip(missing, values, strict=True)}
        return np.array([self._known[query, text] for text in texts], np.float32)
