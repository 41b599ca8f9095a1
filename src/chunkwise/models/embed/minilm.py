"""all-MiniLM-L6-v2 in 8 bits: the embedder that is used where none is named."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import OnProgress
from chunkwise.models.embed.embedder import Kind, TokenVectors
from chunkwise.models.embed.onnx import Long, OnnxEmbedder, check_reading, identity_of
from chunkwise.models.weights.catalogue import MINILM
from chunkwise.models.weights.installed import ensure, model_status


class MiniLM:
    """Fetches its weights when first used; until then it only knows what they are."""

    dimensions = 384

    def __init__(
        self,
        window: int = 256,
        long: Long = "windows",
        threads: int | None = None,
        advance: OnProgress | None = None,
    ) -> None:
        check_reading(window, long, threads)
        self.window = window
        self.long = long
        self._threads = threads
        self._advance = advance

    def __reduce__(self) -> tuple[object, ...]:
        return MiniLM, (self.window, self.long, self._threads)

    @property
    def identity(self) -> str:
        model, tokenizer = (MINILM.file(name).sha256 for name in ("model.onnx", "tokenizer.json"))
        return identity_of(MINILM.name, model, tokenizer, "mean", self.window, self.long)

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        return self._model.embed(texts, kind)

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return self._model.token_starts(text)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        return self._model.token_vectors(texts)

    def windows(self, texts: Sequence[str]) -> list[int]:
        """How many windows each text takes; with `long="truncate"` only the first is read."""
        return self._model.windows(texts)

    def count_long(self, texts: Sequence[str]) -> int:
        """None where the weights are not here: the vectors were kept, and nothing is fetched for a note."""
        is_here = "_model" in self.__dict__ or model_status(MINILM).state == "here"
        return self._model.count_long(texts) if is_here else 0

    @cached_property
    def _model(self) -> OnnxEmbedder:
        files = ensure(MINILM, advance=self._advance)
        return OnnxEmbedder(
            files["model.onnx"],
            files["tokenizer.json"],
            pooling="mean",
            window=self.window,
            long=self.long,
            threads=self._threads,
        )
