"""The callback by which long work says how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class OnProgress(Protocol):
    """Takes note of work done: how much since the last call, and what is being done."""

    def __call__(self, amount: int, note: str) -> None: ...


Stages = Callable[[str, int], AbstractContextManager[OnProgress]]
"""Opens a stage by its name and the number of its steps; 0: not known."""


@contextmanager
def unwatched(name: str, total: int) -> Iterator[OnProgress]:
    """Nobody watches."""

    def advance(amount: int, note: str) -> None:
        pass

    yield advance


_watcher: Stages = unwatched


def watch_models(stages: Stages) -> None:
    """Show each download and each long reading of a model as a stage, from here on."""
    global _watcher
    _watcher = stages


def model_stage(name: str, total: int) -> AbstractContextManager[OnProgress]:
    """Open a stage that whoever called `watch_models` shows."""
    return _watcher(name, total)


class Stopwatch:
    """Seconds by stage, in the order the stages began."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            spent = time.monotonic() - began
            self.seconds[stage] = round(self.seconds.get(stage, 0.0) + spent, 3)
