"""Any embedder or cross-encoder of the sentence-transformers library, by its hub name or from a folder."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.models.embed.embedder import Kind, LibraryEmbedder, made_on
from chunkwise.text.characters import SURROGATE

_STATE = ("truncation", "padding")
"""Parts of a tokenizer that are set anew for every call, and so tell nothing about the model."""


def load(kind: str, name: str, device: str | None) -> Any:
    """A model of the library; whatever goes wrong in it is said with the model's name."""
    try:
        library = importlib.import_module("sentence_transformers")
    except ImportError:
        raise MissingExtra(f"the model {name!r}", "sentence-transformers") from None
    try:
        return getattr(library, kind)(name, device=device, trust_remote_code=False)
    except Exception as error:  # hub, network, files: the library has no errors of its own
        first = (str(error).splitlines() or [""])[0][:300]
        raise ChunkwiseError(
            f"sentence-transformers cannot load {name!r}: {type(error).__name__}: {first}; "
            "expected a hub name, or a model folder for offline use"
        ) from error


def model_hash(model: Any) -> str:
    """Of the weights, the modules' settings and the tokenizer: the same from the hub or a folder."""
    torch = importlib.import_module("torch")  # there whenever a model of the library is

    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        plain = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(plain.view(torch.uint8).numpy().data if plain.numel() else b"")
    for part in (_modules(model), _tokenizer(getattr(model, "tokenizer", None))):
        digest.update(json.dumps(part, sort_keys=True, default=_kind).encode())
    return digest.hexdigest()[:32]


def _modules(model: Any) -> list[Any]:
    """Kinds and settings: pooling, lower case, which has no weights and yet makes other vectors."""
    modules = []
    for name, module in model.named_modules():
        settings = getattr(module, "get_config_dict", None)
        if name and (callable(settings) or "." not in name):
            modules.append([name, _kind(module), settings() if callable(settings) else None])
    return modules


def _tokenizer(tokenizer: Any) -> object:
    """All that a quick tokenizer is made of; of a slow one its words and marks."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        whole: dict[str, Any] = json.loads(backend.to_str())
        return {name: part for name, part in whole.items() if name not in _STATE}
    words: dict[str, int] = getattr(tokenizer, "get_vocab", dict)()
    lower = getattr(tokenizer, "do_lower_case", None)
    marks = getattr(tokenizer, "special_tokens_map", None)
    return [_kind(tokenizer), sorted(words.items()), lower, marks]


def _kind(value: object) -> str:
    return type(value).__qualname__


_PROMPTS = {"query": ("query",), "passage": ("document", "passage", "corpus")}
_PROCESSOR, _ACCELERATOR = 32, 256
"""Texts read at once; an accelerator is idle with fewer."""


class _LibraryModel:
    """Loaded at first use, on an accelerator where the library finds one; code that comes with a model is never run."""

    kind: ClassVar[str]
    """The library's class."""

    def __init__(self, name: str, *, device: str | None = None, batch: int | None = None) -> None:
        if not name:
            raise InvalidParameter("sentence-transformers needs a model: a hub name or a folder")
        self.name = name
        self.device = device
        self._batch = batch

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def runs_on(self) -> str:
        """The kind of device: cpu, cuda, mps …"""
        return str(getattr(self._model, "device", "cpu")).partition(":")[0]

    @property
    def batch(self) -> int:
        """How many texts are read at once."""
        return self._batch or (_PROCESSOR if self.runs_on == "cpu" else _ACCELERATOR)

    @cached_property
    def _model(self) -> Any:
        return load(self.kind, self.name, self.device)


class SentenceTransformersEmbedder(LibraryEmbedder, _LibraryModel):
    """One vector a text, of length 1."""

    kind = "SentenceTransformer"

    @cached_property
    def identity(self) -> str:
        """The model's hash, how much of a text is read, the prompts put before it, and an accelerator that reads it."""
        model = self._model
        prompts = sorted((name, text) for name, text in (model.prompts or {}).items() if text)
        plain = (
            f"sentence-transformers:{self.name}@{model_hash(model)}"
            f" window={model.max_seq_length} prompts={prompts}"
        )
        return made_on(plain, self.runs_on)

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


class SentenceTransformersReranker(_LibraryModel):
    """The score is the model's own, of two classes the second."""

    kind = "CrossEncoder"

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
        result = np.asarray(given, np.float32)
        if result.ndim == 2 and result.shape[1] in (1, 2):
            result = result[:, -1] - (result[:, 0] if result.shape[1] == 2 else 0)
        if result.shape != (len(texts),):
            raise InvalidParameter(
                f"{self.name!r} gives {result.shape} numbers for {len(texts)} pairs; a reranker "
                "returns one score or two classes per pair"
            )
        return result
