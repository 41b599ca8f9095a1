"""The address of a database: its parts, checked; keys come from the environment alone."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.secrets import mask_address

DEFAULT_NAME = "chunkwise"
LOCAL = "local"
"""The variant of an address whose host is the first part of a folder."""
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_|$)){0,62}")
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """One place of a database."""

    engine: str
    """The first word, without what stands behind its +."""
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

    @property
    def folder(self) -> Path | None:
        """Of a database on this machine that needs no server; None: a server is named, or nothing."""
        if self.variant != LOCAL and (self.variant or self.host):
            return None
        return Path(self.host + self.path) if (self.host + self.path).strip("/") else None

    @property
    def hostname(self) -> str:
        return urlsplit(f"//{self.host}").hostname or ""

    @property
    def port(self) -> int | None:
        try:
            return urlsplit(f"//{self.host}").port
        except ValueError:
            raise InvalidParameter(
                f"the address is {self.shown}; expected a port up to 65535"
            ) from None

    @property
    def is_encrypted(self) -> bool:
        return self.variant == "https"

    def secret(self, variable: str) -> str | None:
        """From the environment; over an open connection it goes to this machine alone."""
        value = os.environ.get(variable, "").strip() or None
        is_near = self.folder is not None or self.hostname in LOOPBACK
        if value and not is_near and not self.is_encrypted:
            raise InvalidParameter(
                f"{variable} would be sent to {self.hostname} unencrypted; use "
                f"{self.engine}+https://…, or unset it"
            )
        return value

    def no_secrets(self, instead: str) -> None:
        """A key has no place in an address: it is shown, and kept in the history of shells."""
        if self.user:
            # Not the address itself: a key without a colon is shown as if it were a user.
            raise InvalidParameter(
                f"the {self.engine} URL contains a user or key; set {instead} instead"
            )

    def only(self, *known: str) -> None:
        """An option that nobody reads is a slip of the pen."""
        for name in self.options:
            if name not in known:
                raise InvalidParameter(
                    f"the address {self.shown} has the option {name!r}; known: "
                    f"{', '.join(known) or 'none'}"
                )


def parse_store_address(place: str) -> StoreAddress:
    """Percent signs are decoded; a name given twice counts as it is given last."""
    try:
        parts = urlsplit(place)
        host = parts.netloc.rpartition("@")
    except ValueError as error:
        raise InvalidParameter(f"the address is {mask_address(place)!r}: {error}") from None
    engine, _, variant = parts.scheme.lower().partition("+")
    return StoreAddress(
        engine,
        variant,
        host[2],
        unquote(host[0]),
        unquote(parts.path),
        dict(parse_qsl(parts.query, keep_blank_values=True)),
        mask_address(place),
    )


def checked_name(name: str, shown: str) -> str:
    """What tables and collections are called by; ours have two _ in their names."""
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            f"index name {name!r} in {shown}; allowed: up to 63 letters, digits, - and single "
            f"_, not ending in _"
        )
    return name
