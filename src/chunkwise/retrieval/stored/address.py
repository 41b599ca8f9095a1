"""The address of an index: `engine://…?kb=name`, with what may be shown of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from chunkwise.base.errors import InvalidParameter
from chunkwise.retrieval.postgres.connection import masked

DEFAULT_NAME = "chunkwise"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """One index with an engine."""

    variant: str
    """What stands behind the + of the first word; empty: nothing."""
    host: str
    """With its port, and without a user."""
    user: str = field(repr=False)
    """What stands before the @; empty: nothing."""
    path: str
    """As it is spelt behind the host, with its slash."""
    options: dict[str, str] = field(repr=False)
    shown: str
    """The address as it may be printed."""

    def only(self, *known: str) -> None:
        """An option that nobody reads is a slip of the pen."""
        for name in self.options:
            if name not in known:
                raise InvalidParameter(
                    f"the address {self.shown} has the option {name!r}; known: {', '.join(known)}"
                )


def parse_store_address(place: str) -> StoreAddress:
    """Percent signs are decoded; a name given twice counts as it is given last."""
    try:
        parts = urlsplit(place)
        host = parts.netloc.rpartition("@")
    except ValueError as error:
        raise InvalidParameter(f"the address is {masked(place)!r}: {error}") from None
    return StoreAddress(
        parts.scheme.partition("+")[2].lower(),
        host[2],
        unquote(host[0]),
        unquote(parts.path),
        dict(parse_qsl(parts.query, keep_blank_values=True)),
        masked(place),
    )


def checked_name(name: str, shown: str) -> str:
    """What tables and collections are called by."""
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            f"the index of {shown} is named {name!r}; letters, digits, - and _ make a name, 63 at most"
        )
    return name
