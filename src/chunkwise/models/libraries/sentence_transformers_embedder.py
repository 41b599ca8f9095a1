"""Any embedder of the sentence-transformers library, by its hub name or from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.errors import InvalidParameter
from chunkwise.models.embedder import Kind
from chunkwise.models.libraries.sentence_transformers_models import load, model_hash
from chunkwise.text.characters import SURROGATE

_PROMPTS = {"query": ("query",), "passage": ("document", "passage", "corpus")}


class SentenceTransformersEmbedder:
    """Loaded at first use; code that comes with a model is never run."""

    def __init__(self, name: str, *, device: str | None = None, batch: int = 32) -> None:
        if not name:
            raise InvalidParameter("sentence-transformers needs a model: a hub name or a folder")
        self.name = name
        self.device = device
        self.batch = batch

    def __repr__(self) -> str:
        return f"SentenceTransformersEmbedder({self.name!r})"

    @cached_property
    def _model(self) -> Any:
        return load("SentenceTransformer", self.name, self.device)

    @cached_property
    def identity(self) -> str:
        """The model's hash, how much of a text is read, and the prompts put before it."""
        model = self._model
        prompts = sorted((name, text) for name, text in (model.prompts or {}).items() if text)
        return (
            f"sentence-transformers:{self.name}@{model_hash(model)}"
            f" window={model.max_seq_length} prompts={prompts}"
        )

    @cached_property
    def dimensions(self) -> int:
        return int(self._encode(["dimensions"], "passage").shape[1])

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """One row of length 1 a text, with the model's own prompt for questions or passages."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        worded = [place for place, text in enumerate(texts) if text.strip()]
        if worded:
            vectors[worded] = self._encode([texts[place] for place in worded], kind)
        return vectors

    def _encode(self, texts: list[str], kind: Kind) -> NDArray[np.float32]:
        model = self._model
        whole = [SURROGATE.sub("\ufffd", text) for text in texts]
        settings: dict[str, Any] = {
            "batch_size": self.batch,
            "show_progress_bar": False,
            "normalize_embeddings": True,
        }
        # Since version 5 the library has a method for either kind, which also picks a router's branch.
        encode = getattr(model, "encode_query" if kind == "query" else "encode_document", None)
        if encode is None:
            encode = model.encode
            known = [name for name in _PROMPTS[kind] if name in (model.prompts or {})]
            settings["prompt_name"] = known[0] if known else None
        return np.asarray(encode(whole, **settings), np.float32)
