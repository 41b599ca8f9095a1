"""What was made last is kept, as much of it as fits: analyses, cuts, pages that were looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class RecentlyUsed(Generic[Kept]):
    """What was made last, as much of it as fits; each is made once, also where two ask for it at the same time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._making: dict[Hashable, Lock] = {}
        self._found: OrderedDict[Hashable, tuple[Kept, int]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Kept], size: int = 1) -> Kept:
        with self._lock:
            own = self._making.setdefault(key, Lock())
        with own:
            with self._lock:
                if key in self._found:
                    self._found.move_to_end(key)
                    return self._found[key][0]
            made = make()
            with self._lock:
                self._found[key] = made, size
                while sum(each for _, each in self._found.values()) > self._most:
                    if len(self._found) == 1:
                        break
                    gone, _ = self._found.popitem(last=False)
                    self._making.pop(gone, None)
            return made
