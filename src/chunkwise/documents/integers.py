"""Integers written in documents, which are not trusted to be small or to be integers."""

from __future__ import annotations

from typing import TypeVar

_Default = TypeVar("_Default", int, int | None)

_MOST_DIGITS = 8  # a longer one is no count of anything, and may be a million digits


def small_integer(value: str | None, default: _Default) -> int | _Default:
    """The integer of ASCII digits a value is, else the default."""
    if value and len(value) <= _MOST_DIGITS and value.isascii() and value.isdigit():
        return int(value)
    return default
