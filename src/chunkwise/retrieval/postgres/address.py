"""Where a knowledge base lives: a server, a database, and a schema in it; the password is never shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote_plus, urlencode, urlsplit, urlunsplit

from chunkwise.errors import InvalidParameter

SCHEMES = ("postgresql", "postgres")
DEFAULT_NAME = "chunkwise"
LONGEST_NAME = 63
"""Bytes; PostgreSQL cuts longer names off without a word."""


@dataclass(frozen=True, slots=True)
class Address:
    """One knowledge base on a server."""

    url: str = field(repr=False)
    """What the client library takes, with the password."""
    name: str
    """The schema that holds the tables: one a knowledge base."""
    shown: str
    """The address as it may be printed."""


def is_postgres(into: object) -> bool:
    """Whether this names a server rather than a folder."""
    return isinstance(into, str) and into.split("://", 1)[0].lower() in SCHEMES and "://" in into


def address(url: str) -> Address:
    """`postgresql://user:password@host:port/database?kb=name`; other options go to the server's client."""
    if not is_postgres(url):
        raise InvalidParameter(
            f"into is {masked(url)!r}; a server's address starts with postgresql://"
        )
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidParameter(f"into is {masked(url)!r}: {error}") from None
    options = parse_qsl(parts.query, keep_blank_values=True)
    names = [value for key, value in options if key == "kb"]
    name = names[-1] if names else DEFAULT_NAME
    _check_name(name)
    rest = urlencode([pair for pair in options if pair[0] != "kb"], quote_via=quote)
    plain = urlunsplit(("postgresql", parts.netloc, parts.path, rest, ""))
    return Address(plain, name, masked(url))


def masked(url: str) -> str:
    """The same address with *** for its password, however oddly it is spelt."""
    return _replaced(url, ":***", "***")


def without_password(url: str) -> str:
    """The same address for whom the password comes from somewhere else (PGPASSWORD, ~/.pgpass)."""
    return _replaced(url, "", None)


def _replaced(url: str, user: str, option: str | None) -> str:
    """With other words for the passwords; None: without the option."""
    place, mark, query = url.partition("?")
    options = []
    for given in query.split("&"):
        name = given.partition("=")[0]
        if not _is_secret(name):
            options.append(given)
        elif option is not None:
            options.append(f"{name}={option}")
    url = place + mark * bool(options) + "&".join(options)
    # The last of several @ counts, so this comes when none is left in a password among the options.
    return re.sub(r"^([^:/]*://[^:@/?]*):.*@", rf"\1{user}@", url, flags=re.DOTALL)


def _is_secret(name: str) -> bool:
    """Whether an option of an address must not be shown; its name may be written in percent signs."""
    return unquote_plus(name).strip().lower().endswith(("password", "secret"))


def secrets(url: str) -> list[str]:
    """What must not show up in a message of somebody else's."""
    parts = urlsplit(url)
    found = [value for key, value in parse_qsl(parts.query) if _is_secret(key)]
    spelt = re.match(r"^[^:/]*://[^:@/?]*:(.*)@", url, flags=re.DOTALL)
    return [secret for secret in (parts.password, spelt and spelt[1], *found) if secret]


def _check_name(name: str) -> None:
    # The client library takes a percent sign for the start of a parameter, even in a quoted name.
    if not name or set("\0%") & set(name) or len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        raise InvalidParameter(
            f"kb is {name!r}; a knowledge base's name has 1 to {LONGEST_NAME} bytes, no NUL and no %"
        )
    if name.startswith("pg_") or name == "information_schema":
        raise InvalidParameter(f"kb is {name!r}; PostgreSQL keeps this name for itself")
