"""Values as the server keeps them: texts exactly, whatever characters they hold, and arrays as bytes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def exact(text: str) -> bytes:
    """UTF-8: PostgreSQL's own type for text has no NUL and no half surrogate pairs."""
    return text.encode("utf-8", "surrogatepass")


def text_of(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogatepass")


def readable(text: str) -> str:
    """For columns that people and patterns read: one stand-in for each character the server cannot hold."""
    return _UNSTORABLE.sub("\ufffd", text)


def packed(values: NDArray[Any], kind: str) -> bytes:
    """Little-endian, whatever the machine: `kind` is NumPy's name, such as `<i8`."""
    return np.ascontiguousarray(values, dtype=kind).tobytes()


def unpacked(stored: bytes, kind: str) -> NDArray[Any]:
    return np.frombuffer(stored, dtype=kind)
