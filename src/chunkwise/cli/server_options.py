"""Options of the commands that serve: what, where they listen, who is let in, and how much may be asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkwise.cli.dataclass_options import option
from chunkwise.cli.options import LoadingOptions, QuietLoadingOptions
from chunkwise.cli.streams import say

if TYPE_CHECKING:
    from chunkwise.documents import LoadOptions
    from chunkwise.studio.server import ServerSettings

_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, kw_only=True)
class ServedSourceOptions(QuietLoadingOptions):
    """An index, or documents that are indexed in memory."""

    embedder: str | None = option(
        "--embedder", metavar="NAME", show_default="none: words alone",
        help="Embedding model for documents that are no index yet: minilm, bge-small … An index has its own.",
    )  # fmt: skip

    def sorted_sources(self, source: Sequence[str]) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
        """Documents, the index (empty: none), and files of results; what is not there is told."""
        from chunkwise.base.errors import ChunkwiseError
        from chunkwise.studio.project import sort_sources

        for name in source:
            if "://" not in name and not has_magic(name) and not os.path.exists(name):
                raise ChunkwiseError(
                    f"{name} is not there; name a file, a folder, a glob or an index"
                )
        documents, index, runs = sort_sources(tuple(source))
        if index and self.embedder:
            raise click.UsageError(
                f"{index} is an index, which has its own embedder; leave --embedder out"
            )
        return documents, index, runs

    def reading(self) -> Callable[[], LoadOptions]:
        """`loading`, made when documents are read; values that were given are checked at once."""
        if any(getattr(self, each.name) != each.default for each in fields(LoadingOptions)):
            made = self.loading()
            return lambda: made
        return self.loading


def tell_address(what: str, quiet: bool) -> Callable[[str, str], None]:
    """Prints the address of a server, and the key for this run where there is one, for people and for programs."""

    def ready(address: str, key: str) -> None:
        click.echo(address)
        if key:
            click.echo(key)
        sys.stdout.flush()
        if not quiet:
            below = "; below it stands a key for this run, which is not kept" if key else ""
            say(f"{what} at this address{below}. Ctrl-C ends it")

    return ready


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
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
        help="Who may come in, with which role: `chunkwise serve users add FILE NAME` makes it.",
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

    def settings(self, *, at_once: int = 4, most_bytes: int = 1 << 20) -> ServerSettings:
        """Where to serve; the first to need what the server is built on."""
        from chunkwise.base.errors import MissingExtra

        try:
            import starlette  # noqa: F401
            import uvicorn  # noqa: F401
        except ImportError:
            raise MissingExtra("the studio", "studio") from None
        from chunkwise.studio.rate_limits import RequestLimits
        from chunkwise.studio.server import ServerSettings

        limits = RequestLimits(units_a_minute=self.rate, at_once=at_once, most_bytes=most_bytes)
        return ServerSettings(
            host=self.host, port=self.port, users=self.users, certificate=self.tls_cert, private_key=self.tls_key,
            proxy=self.proxy, user_header=self.user_header, limits=limits,
        )  # fmt: skip
