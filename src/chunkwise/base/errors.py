"""The errors users meet; each says what was wrong, the value, what is allowed and what to do next."""

import re

_USER = re.compile(r"([A-Za-z][\w+.-]*:/+|\bpostgres\w*:)([^\s:@/?'\"]*):[^\s'\"]*@")
_OPTION = re.compile(
    r"([?&][^=&\s]*(?:passw|pwd|secret|token|key)[^=&\s]*=)[^&\s'\"]*", re.IGNORECASE
)


def without_passwords(text: str) -> str:
    """As it may be shown: an address in it may hold a password, given where no address belongs or misspelt."""
    if "@" not in text and "=" not in text:
        return text
    return _OPTION.sub(r"\1***", _USER.sub(r"\1\2:***@", text))


class ChunkwiseError(Exception):
    """Base of every error raised on purpose; no message shows the password of an address."""

    def __str__(self) -> str:
        return without_passwords(super().__str__())


class InvalidParameter(ChunkwiseError, ValueError):
    """A parameter's value lies outside what is allowed."""


class NotAllowed(InvalidParameter):
    """A file or a table names code, a model's file or a server that only the user may name."""


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
