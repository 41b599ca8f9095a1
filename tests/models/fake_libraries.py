"""Small stand-ins for sentence-transformers, torch and fastembed, with the parts of them that we use."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray


def vector(text: str) -> NDArray[np.float32]:
    return np.random.default_rng(crc32(text.encode())).normal(size=8).astype(np.float32)


class Tensor:
    """What is asked of a tensor on its way to bytes."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self._numbers = np.array(numbers, np.float32)

    def detach(self) -> Tensor:
        return self

    cpu = contiguous = detach

    def reshape(self, size: int) -> Tensor:
        return self

    def numel(self) -> int:
        return self._numbers.size

    def view(self, kind: str) -> Tensor:
        return self

    def numpy(self) -> NDArray[np.uint8]:
        return self._numbers.view(np.uint8)


class Module:
    def __init__(self, settings: dict[str, Any] | None) -> None:
        if settings is not None:
            self.get_config_dict = lambda: settings


class Tokenizer:
    """As the quick ones: all of it as JSON, with what the last call has set."""

    def __init__(self, words: Sequence[str], *, lower: bool) -> None:
        self.padding: Any = None
        self.whole = {"model": {"vocab": list(words)}, "normalizer": {"lowercase": lower}}
        self.backend_tokenizer = self

    def to_str(self) -> str:
        return json.dumps({**self.whole, "padding": self.padding, "truncation": None})


class Model:
    """Read from a folder with one JSON file; `encode_query` is there where the file says so."""

    def __init__(self, name: str, *, device: str | None, trust_remote_code: bool) -> None:
        assert trust_remote_code is False
        self.told = json.loads((Path(name) / "model.json").read_text())
        self.device = device or self.told.get("device", "cpu")
        self.prompts = self.told.get("prompts", {})
        self.max_seq_length = self.max_length = self.told.get("window", 64)
        self.tokenizer = Tokenizer(
            self.told.get("words", ["a"]), lower=self.told.get("lower", False)
        )
        self.calls: list[tuple[str, list[str], dict[str, Any]]] = []
        if self.told.get("both"):
            self.encode_query = lambda texts, **settings: self._given("query", texts, settings)
            self.encode_document = lambda texts, **settings: self._given("doc", texts, settings)

    def state_dict(self) -> dict[str, Tensor]:
        return {"weights": Tensor(self.told.get("weights", [1, 2])), "none": Tensor([])}

    def named_modules(self) -> Iterator[tuple[str, Module]]:
        yield "", Module({"root": object()})
        yield "0", Module({"do_lower_case": self.told.get("lower", False)})
        yield "0.layers", Module(None)
        yield "1", Module({"pooling": self.told.get("pooling", "mean"), "made by": object()})
        yield "2", Module(None)

    def encode(self, texts: list[str], **settings: Any) -> NDArray[np.float32]:
        return self._given("plain", texts, settings)

    def _given(self, way: str, texts: list[str], settings: dict[str, Any]) -> NDArray[np.float32]:
        self.calls.append((way, texts, settings))
        self.tokenizer.padding = {"length": len(texts)}
        rows = np.stack([vector(text) for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def predict(self, pairs: list[tuple[str, str]], **settings: Any) -> NDArray[np.float32]:
        classes = self.told.get("classes", 1)
        rows = np.array([[len(text) * (at + 1) for at in range(classes)] for _, text in pairs])
        return (rows[:, 0] if classes == 1 else rows).astype(np.float32)


class TextEmbedding:
    """Of fastembed: vectors that are not of length 1, one a text."""

    def __init__(self, name: str, specific_model_path: str | None = None) -> None:
        if name.startswith("no/"):
            raise ValueError(f"Model {name} is not supported\nsecond line")
        self.calls: list[tuple[str, list[str], int]] = []

    def query_embed(self, texts: list[str], batch_size: int) -> Iterator[NDArray[np.float32]]:
        self.calls.append(("query", texts, batch_size))
        return (vector(f"query: {text}") for text in texts)

    def passage_embed(self, texts: list[str], batch_size: int) -> Iterator[NDArray[np.float32]]:
        self.calls.append(("passage", texts, batch_size))
        return (vector(text) for text in texts)


def modules() -> dict[str, ModuleType]:
    """By the names they are imported by."""
    made = {name: ModuleType(name) for name in ("sentence_transformers", "torch", "fastembed")}
    vars(made["sentence_transformers"]).update(SentenceTransformer=Model, CrossEncoder=Model)
    vars(made["torch"]).update(uint8="uint8")
    vars(made["fastembed"]).update(TextEmbedding=TextEmbedding)
    return made
