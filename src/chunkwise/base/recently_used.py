"""What was made last is kept, as much of it as fits: documents, analyses, pages that were looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class RecentlyUsed(Generic[Kept]):
    """What was made last, as much of it as fits; each is made once, also where two ask for it at the same time."""

    def __init__(self, most: int, size_of: Callable[[Kept], int] = lambda made: 1) -> None:
        """`most` is what the sizes of all may add up to; one is kept, however large it is."""
        self._most, self._size_of = most, size_of
        self._lock = Lock()
        self._making: dict[Hashable, Lock] = {}
        self._found: OrderedDict[Hashable, Kept] = OrderedDict()
        self._size = 0

    def get(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """The value of this key, made unless it is still there."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
            own = self._making.setdefault(key, Lock())
        with own:
            if key in self._found:  # by another thread, meanwhile
                return self._found[key]
            made = make()
            with self._lock:
                self._found[key] = made
                self._size += self._size_of(made)
                while self._size > self._most and len(self._found) > 1:
                    gone, old = self._found.popitem(last=False)
                    self._size -= self._size_of(old)
                    self._making.pop(gone, None)
            return made
