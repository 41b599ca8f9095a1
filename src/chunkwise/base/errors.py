"""The errors and warnings users meet: what was wrong, the value, what is allowed and what to do next."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from types import FrameType

from chunkwise.base.secrets import mask


class ChunkwiseError(Exception):
    """Base class of all errors; messages never contain passwords or keys."""

    def __str__(self) -> str:
        return mask(super().__str__())


def error_words(error: Exception) -> str:
    """What an error says; of one that is not ours its kind, too."""
    if isinstance(error, ChunkwiseError):
        return str(error)
    return f"{type(error).__name__}: {error}"


class InvalidParameter(ChunkwiseError, ValueError):
    """A parameter's value lies outside what is allowed."""


class InvalidOption(InvalidParameter):
    """An option's value lies outside what its declaration allows."""

    def __init__(self, field: str, value: object, reason: str) -> None:
        super().__init__(f"{field} is {value!r:.80}; {reason}")
        self.field = field


class UnknownOption(InvalidParameter):
    """No option has this name."""

    def __init__(self, field: str, known: Sequence[str]) -> None:
        nearest = get_close_matches(field, known, 1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"known: {', '.join(known)}"
        super().__init__(f"unknown option {field!r}; {hint}")
        self.field = field


class NotAllowed(InvalidParameter):
    """A file or a table names code, a model's file or a server that only the user may name."""


class NotComparable(ChunkwiseError):
    """Two runs have nothing that could be compared with each other."""


class UnknownName(ChunkwiseError, LookupError):
    """No strategy, tokenizer or loader has this name."""


class UnknownMetric(UnknownName, KeyError):
    """No figure has this name; the message says which have one."""

    def __str__(self) -> str:
        # A KeyError would show it in quotes.
        return str(self.args[0])


class UnreadableDocument(ChunkwiseError):
    """An unreadable source."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(source, reason)
        self.source = source
        self.reason = reason

    def __str__(self) -> str:
        return mask(f"{self.source}: {self.reason}")


class BrokenContract(ChunkwiseError, AssertionError):
    """A strategy or a model does not keep what `testkit` holds it to."""


class MissingExtra(ChunkwiseError, ImportError):
    """An optional dependency is not installed; the message is the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(what, extra)

    def __str__(self) -> str:
        what, extra = self.args
        return f"{what} needs an optional dependency: pip install 'chunkwise[{extra}]'"


_PACKAGE = __name__.partition(".")[0]


def warn_user(text: str) -> None:
    """Warns at the nearest line that is neither ours nor of the standard library."""
    # A fixed stacklevel is right for one way of calling alone; generators and decorators have many.
    place = sys._getframe(1)
    while (
        _is_passed_by(place) and place.f_back is not None
    ):  # a thread of ours has no line of the user
        place = place.f_back
    names = place.f_globals
    warnings.warn_explicit(
        text, UserWarning, place.f_code.co_filename, place.f_lineno, str(names.get("__name__", "")),
        names.setdefault("__warningregistry__", {}),
    )  # fmt: skip


def _is_passed_by(frame: FrameType) -> bool:
    top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return top == _PACKAGE or top in sys.stdlib_module_names
