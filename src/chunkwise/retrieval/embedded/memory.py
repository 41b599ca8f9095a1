"""An index that lives as long as the program: the same arrays as in a folder, in memory."""

from __future__ import annotations

import numpy as np

from chunkwise.retrieval.embedded.layout import Array, Arrays


class MemorySink:
    """Keeps what it is given and joins it at the end."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Array]] = {}

    def append(self, name: str, values: Array) -> None:
        self._parts.setdefault(name, []).append(values)

    def take(self, name: str) -> Array:
        return np.concatenate(self._parts.pop(name))

    def finish(self) -> Arrays:
        # One column after the other, so that no more than one is there twice.
        return {name: self.take(name) for name in list(self._parts)}
