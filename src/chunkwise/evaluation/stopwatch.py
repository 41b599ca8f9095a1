"""How long each stage takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


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
