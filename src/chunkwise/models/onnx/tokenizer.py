"""What lies beside an ONNX file: its tokenizer, and what is said of how to read and pool with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from chunkwise.errors import InvalidParameter, MissingExtra

Pooling = Literal["mean", "cls"]

_LONGEST_WINDOW = 32_768
"""Configurations say "without end" with numbers such as 10 ** 30."""
_POOLING_FILE = "1_Pooling/config.json"
_POOLINGS: dict[str, Pooling] = {
    "mean": "mean",
    "mean_tokens": "mean",
    "mean_sqrt_len_tokens": "mean",  # another length, the same direction
    "cls": "cls",
    "cls_token": "cls",
}


def beside(model: Path, name: str) -> Path | None:
    """In the model's folder, or in the one above as in exports that keep `onnx/model.onnx`."""
    for folder in (model.parent, model.parent.parent):
        if (folder / name).is_file():
            return folder / name
    return None


def tokenizer_beside(model: Path) -> Path:
    """The tokenizer.json that belongs to a model."""
    if not model.is_file():
        raise InvalidParameter(f"model is {str(model)!r}; no such file")
    found = beside(model, "tokenizer.json")
    if found is None:
        raise InvalidParameter(
            f"{model} has no tokenizer.json beside it, nor in the folder above; "
            "put the model's tokenizer.json beside it"
        )
    return found


def load_tokenizer(path: Path) -> Any:
    """As the file says, but never padded, and with text such as [SEP] taken for text."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtra(f"the tokenizer {path}", "search") from None
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for a malformed file
        raise InvalidParameter(f"{path} is no tokenizer.json: {error}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def said_number(path: Path | None, *names: str) -> int | None:
    """A number of tokens that a JSON file gives under these names, one inside the other."""
    value = _json(path)
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value <= _LONGEST_WINDOW else None


def said_pooling(model: Path) -> Pooling | None:
    """How the makers of a model pool, where they say so."""
    path = beside(model, _POOLING_FILE)
    told = _json(path)
    if not isinstance(told, dict):
        return None
    start = "pooling_mode_"
    modes = [key.removeprefix(start) for key, on in told.items() if key.startswith(start) and on]
    if not modes and isinstance(told.get("pooling_mode"), str):
        modes = [told["pooling_mode"]]
    if not modes:
        return None
    pooling = {_POOLINGS.get(mode) for mode in modes}
    if len(pooling) > 1 or None in pooling:
        raise InvalidParameter(
            f"{path} asks for pooling by {' and '.join(sorted(modes))}; known are mean and cls: "
            'pass pooling="mean" or "cls" if that is right, or take another model'
        )
    return pooling.pop()


def _json(path: Path | None) -> Any:
    """What a file says; nothing where it is not there or cannot be understood."""
    if path is None:
        return None
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError:
        return None
