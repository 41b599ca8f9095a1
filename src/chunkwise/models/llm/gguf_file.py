"""The head of a GGUF file: that it is one, how much text its model was made to hold, which words steer it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from chunkwise.errors import ChunkwiseError

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_KINDS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
"""The plain kinds of value, as `struct` names them."""
_STRING, _LIST = 8, 9
_MOST_FIELDS = 100_000
_TOKENS, _TOKEN_KINDS = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
_CONTROL, _ADDED = 3, 4
"""Kinds of token: what ends turns and begins roles; what the maker added, which may be roles, tags, white space."""


class _Broken(Exception):
    """Lengths or kinds that cannot be."""


def context_length(path: Path) -> int | None:
    """Tokens the model was made for, where the file tells; one that is no GGUF file is an error."""
    for name, value in _fields(path, lambda name: name.endswith(".context_length")):
        if isinstance(value, int) and value > 0 and name:
            return value
    return None


def steering_words(path: Path) -> tuple[str, ...]:
    """What ends a turn or begins a role when it stands in a prompt; the longest first."""
    found = dict(_fields(path, lambda name: name in (_TOKENS, _TOKEN_KINDS)))
    tokens, kinds = found.get(_TOKENS, []), found.get(_TOKEN_KINDS, [])
    words = {
        token.decode("utf-8", "replace")
        for token, kind in zip(tokens, kinds, strict=False)
        if kind == _CONTROL or (kind == _ADDED and token.startswith(b"<|"))
    }
    return tuple(sorted((word for word in words if len(word) > 1), key=len, reverse=True))


def _fields(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Any]]:
    """The wanted fields in the order of the file."""
    if path.is_dir():
        raise ChunkwiseError(f"{path} is a folder; name the GGUF file inside it")
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            magic = file.read(4)
            if magic != _MAGIC:
                what = f"it begins with {magic!r}, not {_MAGIC!r}" if magic else "it is empty"
                raise ChunkwiseError(
                    f"{path} is no GGUF file: {what}; name the GGUF file of a language model"
                )
            version, _, count = _unpack(file, "IQQ")
            if version not in _VERSIONS or count > _MOST_FIELDS:
                raise _Broken
            for _ in range(count):
                name = _string(file, size).decode("utf-8", "replace")
                (kind,) = _unpack(file, "I")
                value = _value(file, kind, size)
                if wanted(name):
                    yield name, value
    except FileNotFoundError:
        raise ChunkwiseError(f"{path} does not exist; name a GGUF file") from None
    except OSError as error:
        raise ChunkwiseError(f"{path} cannot be read: {error.strerror or error}") from error
    except (struct.error, _Broken):
        raise ChunkwiseError(
            f"{path} is no whole GGUF file: its head is damaged or breaks off ({size:,} bytes); fetch it again"
        ) from None


def _value(file: BinaryIO, kind: int, size: int) -> Any:
    if kind == _STRING:
        return _string(file, size)
    if kind == _LIST:
        kind, count = _unpack(file, "IQ")
        if count > size or not (kind == _STRING or kind in _KINDS):
            raise _Broken  # lists of lists are written by nobody
        if kind == _STRING:
            return [_string(file, size) for _ in range(count)]
        return _unpack(file, f"{count}{_KINDS[kind]}")
    if kind not in _KINDS:
        raise _Broken
    return _unpack(file, _KINDS[kind])[0]


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))


def _string(file: BinaryIO, size: int) -> bytes:
    (length,) = _unpack(file, "Q")
    if length > size or len(found := file.read(length)) < length:
        raise _Broken
    return found
