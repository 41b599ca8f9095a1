"""What a grid holds and a sweep does not try, with the reason."""

from __future__ import annotations

from typing import NamedTuple


class NotTried(NamedTuple):
    """One line of the plan: the values as they were written, and why they are left out."""

    what: str
    why: str


class LeftOut:
    """Lines in the order they came up, each once."""

    def __init__(self) -> None:
        self._lines: dict[NotTried, None] = {}

    def add(self, what: str, why: str) -> None:
        self._lines[NotTried(what, why)] = None

    @property
    def lines(self) -> tuple[NotTried, ...]:
        return tuple(self._lines)
