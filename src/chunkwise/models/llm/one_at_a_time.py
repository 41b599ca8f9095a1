"""The same thing asked by several threads at once is asked by the first; the others wait for what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class OneAtATime:
    """A lock for every key that somebody holds or waits for, and for no other."""

    def __init__(self) -> None:
        self._locks: dict[bytes, tuple[Lock, int]] = {}
        self._lock = Lock()

    @contextmanager
    def holding(self, key: bytes) -> Iterator[None]:
        with self._lock:
            lock, users = self._locks.get(key, (Lock(), 0))
            self._locks[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, users = self._locks.pop(key)
                if users > 1:
                    self._locks[key] = lock, users - 1
