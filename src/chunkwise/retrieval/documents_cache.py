"""The documents looked at last, decoded once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from chunkwise.core import Document

_CHARACTERS = 1 << 24


class DocumentsCache:
    """Holds documents up to a number of characters in all, one at least."""

    def __init__(self, read: Callable[[int], Document], characters: int = _CHARACTERS) -> None:
        self._read = read
        self._most = characters
        self._kept: OrderedDict[int, Document] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def get(self, number: int) -> Document:
        with self._lock:
            if number in self._kept:
                self._kept.move_to_end(number)
                return self._kept[number]
            document = self._kept[number] = self._read(number)
            self._size += len(document.text)
            while self._size > self._most and len(self._kept) > 1:
                _, oldest = self._kept.popitem(last=False)
                self._size -= len(oldest.text)
            return document
