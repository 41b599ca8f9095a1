"""The callback by which long work says how far it is."""

from __future__ import annotations

from typing import Protocol


class OnProgress(Protocol):
    """Takes note of work done: how much since the last call, and what is being done."""

    def __call__(self, amount: int, note: str) -> None: ...
