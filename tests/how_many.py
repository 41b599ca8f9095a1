"""How many examples a property is tried on: few every time, many with `make thorough`."""

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

THOROUGH = "thorough"
_MORE, _LESS = 4, 0.5
_Case = TypeVar("_Case")


def examples(some: int) -> int:
    """Somewhat fewer where tests run all day, many times as many where somebody asks for it."""
    return int(some * (_MORE if _is_thorough() else _LESS))


def some_of(cases: Sequence[_Case], step: int) -> Sequence[_Case]:
    """The last and every `step`-th before it; all of them where somebody asks for it."""
    return cases if _is_thorough() else cases[::-1][::step][::-1]


def _is_thorough() -> bool:
    return settings.get_current_profile_name() == THOROUGH
