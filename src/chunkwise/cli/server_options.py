"""Options of the commands that serve: what, where they listen, who is let in, and how much may be asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from glob import has_magic
from typing import TYPE_CHECKING, Annotated

import click

from chunkwise.base.errors import ChunkwiseError, MissingExtra
from chunkwise.base.schema import Name, Option
from chunkwise.cli.options import LoadingOptions
from chunkwise.cli.streams import say
from chunkwise.options import ServerOptions

if TYPE_CHECKING:
    from chunkwise.studio.server import ServerSettings


class ServedSourceOptions(LoadingOptions):
    """An index, or documents that are indexed in memory."""

    embedder: Annotated[Name | None, Option(
        "Embedding model for documents that aren't indexed", flag="-e", metavar="NAME", default_text="none: BM25 only",
        group="Configuration", common=True,
    )] = None  # fmt: skip

    def sorted_sources(self, source: Sequence[str]) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
        """Documents, the index (empty: none), and files of results; what is not there is told."""
        from chunkwise.studio.project_sources import sort_sources

        for name in source:
            if "://" not in name and not has_magic(name) and not os.path.exists(name):
                raise ChunkwiseError(
                    f"{name} doesn't exist; expected a file, folder, glob or index"
                )
        documents, index, runs = sort_sources(tuple(source))
        if index and self.embedder:
            raise click.UsageError(
                f"{index} is an index, which stores its embedder; leave out --embedder"
            )
        return documents, index, runs


def tell_address(what: str, quiet: bool) -> Callable[[str, str], None]:
    """Prints the address of a server, and the key for this run where there is one, for people and for programs."""

    def ready(address: str, key: str) -> None:
        click.echo(address)
        if key:
            click.echo(key)
        sys.stdout.flush()
        if not quiet:
            below = ", with a key for this run below" if key else ""
            say(f"{what} at this URL{below}; stop with Ctrl-C")

    return ready


class ListeningOptions(ServerOptions):
    """How a command serves."""

    def settings(self, *, at_once: int = 4, most_bytes: int = 1 << 20) -> ServerSettings:
        """Where to serve; the first to need what the server is built on."""
        try:
            import starlette  # noqa: F401
            import uvicorn  # noqa: F401
        except ImportError:
            raise MissingExtra("the studio", "studio") from None
        from chunkwise.studio.rate_limits import RequestLimits
        from chunkwise.studio.server import ServerSettings

        limits = RequestLimits(units_a_minute=self.rate, at_once=at_once, most_bytes=most_bytes)
        settings = ServerSettings(**vars(self.part(ServerOptions)), limits=limits)
        settings.check()
        return settings
