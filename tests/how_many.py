"""How many examples a property is tried on: few every time, many with `make thorough`."""

from hypothesis import settings

THOROUGH = "thorough"
_MORE = 40


def examples(few: int) -> int:
    """`few` where tests run all day, many times that where somebody asks for it."""
    return few * _MORE if settings.get_current_profile_name() == THOROUGH else few
