"""Any cross-encoder of the sentence-transformers library, by its hub name or from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.models.embed.sentence_transformers import load, model_hash
from chunkwise.text.characters import SURROGATE


class SentenceTransformersReranker:
    """Loaded at first use; the score is the model's own, of two classes the second."""

    def __init__(self, name: str, *, device: str | None = None, batch: int = 32) -> None:
        if not name:
            raise InvalidParameter("sentence-transformers needs a model: a hub name or a folder")
        self.name = name
        self.device = device
        self.batch = batch

    def __repr__(self) -> str:
        return f"SentenceTransformersReranker({self.name!r})"

    @cached_property
    def _model(self) -> Any:
        return load("CrossEncoder", self.name, self.device)

    @cached_property
    def identity(self) -> str:
        """The model's hash, and how much of a pair is read."""
        window = getattr(self._model, "max_length", None)
        return (
            f"sentence-transformers-reranker:{self.name}@{model_hash(self._model)} window={window}"
        )

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One score a text, the higher the more relevant."""
        if not texts:
            return np.zeros(0, np.float32)
        pairs = [(SURROGATE.sub("\ufffd", query), SURROGATE.sub("\ufffd", text)) for text in texts]
        given = self._model.predict(pairs, batch_size=self.batch, show_progress_bar=False)
        found = np.asarray(given, np.float32)
        if found.ndim == 2 and found.shape[1] in (1, 2):
            found = found[:, -1] - (found[:, 0] if found.shape[1] == 2 else 0)
        if found.shape != (len(texts),):
            raise InvalidParameter(
                f"{self.name!r} gives {found.shape} numbers for {len(texts)} pairs;"
                " a reranker gives one score or two classes a pair"
            )
        return found
