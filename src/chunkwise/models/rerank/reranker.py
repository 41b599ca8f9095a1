"""What a reranker has to offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


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
