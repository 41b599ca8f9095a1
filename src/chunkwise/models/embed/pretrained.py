"""Embedders by name: weights of the catalog, on this machine, read as the record beside them says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.embed.embedder import Kind, TokenVectors
from chunkwise.models.embed.onnx import Long, OnnxEmbedder, check_reading, identity_of
from chunkwise.models.embed.universal_sentence_encoder import SentenceEncoder
from chunkwise.models.weights.catalog import MINILM, TextEncoding, Weights, weights_of
from chunkwise.models.weights.installed import ensure, model_status


class PretrainedEmbedder:
    """Fetches its weights when first used; until then it only knows what they are."""

    def __init__(
        self,
        name: str,
        window: int | None = None,
        long: Long = "windows",
        threads: int | None = None,
    ) -> None:
        self._weights: Weights = weights_of(name, "embedder")
        assert self._weights.encoding is not None
        self._encoding: TextEncoding = self._weights.encoding
        self.window = self._encoding.window if window is None else window
        check_reading(self.window, long, threads)
        self.long = long
        self._threads = threads

    def __reduce__(self) -> tuple[object, ...]:
        given = (self._weights.name, self.window, self.long, self._threads)
        return PretrainedEmbedder, given

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._weights.name!r})"

    @property
    def dimensions(self) -> int:
        return self._encoding.dimensions

    @property
    def languages(self) -> tuple[str, ...]:
        return self._encoding.languages

    @property
    def suits_late(self) -> bool:
        return self._encoding.suits_late

    @property
    def identity(self) -> str:
        # A model may have its tokenizer inside: then one hash tells both.
        model, tokenizer = self._weights.files[0].sha256, self._weights.files[-1].sha256
        read = self._encoding
        return identity_of(
            self._weights.name, model, tokenizer, read.pooling, self.window, self.long,
            read.query_prefix, read.passage_prefix,
        )  # fmt: skip

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        return self._model.embed(texts, kind)

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return self._model.token_starts(text)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        return self._model.token_vectors(texts)

    def count_long(self, texts: Sequence[str]) -> int:
        """None where the weights are not here: the vectors were kept, and nothing is fetched for a note."""
        is_here = "_model" in self.__dict__ or model_status(self._weights).state == "here"
        return self._model.count_long(texts) if is_here else 0

    @cached_property
    def _model(self) -> OnnxEmbedder | SentenceEncoder:
        files = ensure(self._weights)
        model = files[self._weights.files[0].name]
        if self._encoding.pooling == "sentences":
            return SentenceEncoder(model, self.window, self.long, self._threads)
        return OnnxEmbedder(
            model,
            files["tokenizer.json"],
            pooling=self._encoding.pooling,
            window=self.window,
            long=self.long,
            threads=self._threads,
            query_prefix=self._encoding.query_prefix,
            passage_prefix=self._encoding.passage_prefix,
        )


minilm = partial(PretrainedEmbedder, MINILM.name)
bge_small = partial(PretrainedEmbedder, "bge-small")
arctic_s = partial(PretrainedEmbedder, "arctic-s")
e5_small = partial(PretrainedEmbedder, "e5-small")
gte_small = partial(PretrainedEmbedder, "gte-small")
use_multilingual = partial(PretrainedEmbedder, "use-multi")
