"""Options of the commands that serve: where they listen, who is let in, and how much may be asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkwise.cli.dataclass_options import option

if TYPE_CHECKING:
    from chunkwise.studio.server import Listening

_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, kw_only=True)
class ListeningOptions:
    """Where a server listens, and who is let in there."""

    port: int | None = option(
        "--port", type=click.IntRange(1, 65535), metavar="N", show_default="8420, or the next that is free",
        help="Port on this machine.",
    )  # fmt: skip
    host: str = option(
        "--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
        help="Address on this machine: 127.0.0.1, ::1 or localhost; any other with --users alone.",
    )  # fmt: skip
    users: Path | None = option(
        "--users", type=_FILE, metavar="FILE",
        help="Who may come in, with which role: `chunkwise users add FILE NAME` makes it.",
    )  # fmt: skip
    tls_cert: Path | None = option(
        "--tls-cert", type=_FILE, metavar="FILE", help="Certificate (PEM), for https."
    )
    tls_key: Path | None = option(
        "--tls-key", type=_FILE, metavar="FILE", help="Private key of the certificate (PEM)."
    )
    proxy: str = option(
        "--proxy", default="", metavar="ADDRESS", show_default="none",
        help="Answer this address alone: that of a proxy which speaks TLS with everybody else.",
    )  # fmt: skip
    user_header: str = option(
        "--user-header", default="", metavar="NAME", show_default="none",
        help="Header in which the proxy says who asks, such as X-Remote-User; --users has the roles.",
    )  # fmt: skip
    rate: int = option(
        "--rate", type=click.IntRange(1, 1_000_000), default=1200, show_default=True, metavar="N",
        help="Units that a user or a key has a minute: a search is 1, an answer 5, an evaluation 30.",
    )  # fmt: skip

    def listening(self, *, at_once: int = 4, most_bytes: int = 1 << 20) -> Listening:
        from chunkwise.studio.limits import RequestLimits
        from chunkwise.studio.server import Listening

        limits = RequestLimits(units_a_minute=self.rate, at_once=at_once, most_bytes=most_bytes)
        return Listening(
            host=self.host, port=self.port, users=self.users, certificate=self.tls_cert, private_key=self.tls_key,
            proxy=self.proxy, user_header=self.user_header, limits=limits,
        )  # fmt: skip
