"""A warning that names the line of the user, however deep in the library it is found out."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_PACKAGE = __name__.partition(".")[0]


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the nearest line that is neither ours nor of the standard library."""
    # A fixed stacklevel is right for one way of calling alone; generators and decorators have many.
    place = sys._getframe(1)
    while (
        _is_passed_by(place) and place.f_back is not None
    ):  # a thread of ours has no line of the user
        place = place.f_back
    names = place.f_globals
    warnings.warn_explicit(
        text, category, place.f_code.co_filename, place.f_lineno, str(names.get("__name__", "")),
        names.setdefault("__warningregistry__", {}),
    )  # fmt: skip


def _is_passed_by(frame: FrameType) -> bool:
    top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return top == _PACKAGE or top in sys.stdlib_module_names
