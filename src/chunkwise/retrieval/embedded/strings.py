"""Many texts as two arrays: their bytes in a row, and where each begins."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.damage import Damaged

# Text from outside may hold half a surrogate pair, which strict UTF-8 refuses.
_ERRORS = "surrogatepass"


class Strings:
    """Texts that are decoded when asked for; the arrays may lie in a file."""

    def __init__(self, first: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        self._first = first
        self._data = data

    def __len__(self) -> int:
        return len(self._first) - 1

    def __getitem__(self, number: int) -> str:
        lo, hi = self._first[number : number + 2].tolist()
        return _decoded(self._data[lo:hi].tobytes())

    def all(self) -> list[str]:
        """Every text, at one go."""
        data, bounds = self._data.tobytes(), self._first.tolist()
        return [_decoded(data[lo:hi]) for lo, hi in pairwise(bounds)]


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8", _ERRORS)
    except UnicodeDecodeError as error:
        raise Damaged("a text", error) from error


def encoded(texts: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The size of each text in bytes, and all bytes."""
    parts = [text.encode("utf-8", _ERRORS) for text in texts]
    sizes = np.fromiter(map(len, parts), np.int64, len(parts))
    return sizes, np.frombuffer(b"".join(parts), np.uint8)
