"""Long work in stages, each with a bar of its own where somebody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from chunkwise.core import OnProgress

Stages = Callable[[str, int], AbstractContextManager[OnProgress]]
"""Opens a stage by its name and the number of its steps; 0: not known."""


@contextmanager
def unwatched(name: str, total: int) -> Iterator[OnProgress]:
    """Nobody watches."""

    def advance(amount: int, note: str) -> None:
        pass

    yield advance
