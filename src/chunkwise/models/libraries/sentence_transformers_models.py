"""What the two kinds of models of the sentence-transformers library share: loading one, and a hash of it."""

from __future__ import annotations

import hashlib
import importlib
import json
from typing import Any

from chunkwise.errors import ChunkwiseError, MissingExtra

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
            f"sentence-transformers cannot load {name!r}: {type(error).__name__}: {first};"
            " give a hub name, or a folder with the model, which needs no network"
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
    found = []
    for name, module in model.named_modules():
        settings = getattr(module, "get_config_dict", None)
        if name and (callable(settings) or "." not in name):
            found.append([name, _kind(module), settings() if callable(settings) else None])
    return found


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
