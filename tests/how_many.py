"""How many examples a property is tried on: few every time, many with `make thorough`."""

from hypothesis import settings

THOROUGH = "thorough"
_MORE, _LESS = 40, 0.75


def examples(some: int) -> int:
    """Somewhat fewer where tests run all day, many times as many where somebody asks for it."""
    thorough = settings.get_current_profile_name() == THOROUGH
    return int(some * (_MORE if thorough else _LESS))
