"""The errors and warnings users meet: what was wrong, the value, what is allowed and what to do next."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from types import FrameType
from urllib.parse import unquote_plus

# Each is tried at most a few times at each place of a text, however long: messages quote what others wrote.
_WORD = re.compile(r"[^\s'\"]+")
_USER = re.compile(r"(?:[\w+.-]:/+|\bpostgres\w*(?::|/+))[^:@/?]*(?=:)")
_BARE_USER = re.compile(r"[(\[{<,;=]*(?!(?:mailto|acct|sips?|xmpp):)[\w.+%-]+(?=:(?!/))")
_SECRET = re.compile("passw|pwd|secret|token|key|signature|credential|^sig$|^auth$")
_FILES_OF_KEYS = ("sslkey",)
"""Options that hold the name of a file, which is no secret."""
_OPTION = re.compile(r"[?&]([^=&?\s]*+)=")
_VALUE = re.compile(r"[^&\s'\"]*+")
_PASSWORD = re.compile(r"(\bpassword\s*+=\s*+)(?:'(?:[^'\\]|\\.)*+'|[^\s'\"&*]++)", re.IGNORECASE)
"""As PostgreSQL's own tools take one: `host=h password='p w'`."""
_SERVER = re.compile(
    r"[a-z][a-z0-9+.-]*://|postgres\w*:|postgres\w*//|[\w.+%-]+:[^/\\]*@[^@/]+(?:/|$)"
    r"|\s*(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=",
    re.IGNORECASE,
)


def names_server(place: str) -> bool:
    """Whether this is meant for the address of a server, well written or not: no file or folder is called so."""
    return _SERVER.match(place) is not None


def names_secret(option: str) -> bool:
    """Whether the value of an address's option must not be shown; its name may be written in percent signs."""
    name = unquote_plus(option).strip().lower()
    return name not in _FILES_OF_KEYS and _SECRET.search(name) is not None


def without_passwords(text: str) -> str:
    """As it may be shown: an address in it may hold a password, given where no address belongs or misspelt."""
    if "@" in text:
        text = _WORD.sub(_without_user_s, text)
    if "=" in text:
        text = _PASSWORD.sub(r"\1***", text)
        text = _without_secret_options(text)
    return text


def _without_secret_options(text: str) -> str:
    shown: list[str] = []
    behind = 0
    for option in _OPTION.finditer(text):
        if option.start() >= behind and names_secret(option[1]):
            value = _VALUE.match(text, option.end())
            shown += [text[behind : option.end()], "***"]
            behind = value.end() if value else option.end()
    return "".join(shown) + text[behind:]


def _without_user_s(word: re.Match[str]) -> str:
    before, at, after = word[0].rpartition("@")
    user = (_USER.search(before) or _BARE_USER.match(before)) if at else None
    return f"{before[: user.end()]}:***@{after}" if user else word[0]


class ChunkwiseError(Exception):
    """Base of every error raised on purpose; no message shows the password of an address."""

    def __str__(self) -> str:
        return without_passwords(super().__str__())


class InvalidParameter(ChunkwiseError, ValueError):
    """A parameter's value lies outside what is allowed."""


class InvalidOption(InvalidParameter):
    """An option's value lies outside what its declaration allows."""

    def __init__(self, field: str, value: object, reason: str) -> None:
        super().__init__(f"{field} is {value!r}; {reason}")
        self.field = field


class UnknownOption(InvalidParameter):
    """No option has this name."""

    def __init__(self, field: str, known: Sequence[str]) -> None:
        nearest = get_close_matches(field, known, 1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"known: {', '.join(known)}"
        super().__init__(f"unknown option {field!r}; {hint}")
        self.field = field


class UnknownParameter(InvalidParameter, TypeError):
    """A function has no parameter of this name: as Python has it, and told as every wrong value is."""


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
    """One source could not be turned into text; the others go on."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(source, reason)
        self.source = source
        self.reason = reason

    def __str__(self) -> str:
        return without_passwords(f"{self.source}: {self.reason}")


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
