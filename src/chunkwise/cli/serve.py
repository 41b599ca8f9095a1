"""`chunkwise serve`."""

from __future__ import annotations

from typing import Annotated

import click
from msgspec import Meta

from chunkwise.base.schema import Option, argument
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.groups import DefaultGroup
from chunkwise.cli.llm import llm_client
from chunkwise.cli.serve_users import command as users
from chunkwise.cli.server_options import ListeningOptions, ServedSourceOptions, tell_address
from chunkwise.cli.streams import say
from chunkwise.options import LlmOptions


class ServeOptions(ListeningOptions, LlmOptions, ServedSourceOptions):
    """The options of `chunkwise serve`."""

    source: Annotated[tuple[str, ...], argument("SOURCE...")]
    at_once: Annotated[Annotated[int, Meta(ge=1, le=64)], Option(
        "Maximum concurrent requests", metavar="N", group="Server"
    )] = 4  # fmt: skip
    max_body: Annotated[Annotated[int, Meta(ge=1, le=1000)], Option(
        "Maximum request size", metavar="MB", group="Server"
    )] = 4  # fmt: skip


@dataclass_command("serve", ServeOptions)
def serve_index(options: ServeOptions) -> None:
    """Serve an index over HTTP: chunk, search, ask and evaluate.

    SOURCE is an index, or documents, which are indexed in memory. Every request needs a key. Without --users and
    CHUNKWISE_KEYS, a key for this run is printed.

    Examples:
      chunkwise serve kb
      CHUNKWISE_KEYS="wiki=$KEY" chunkwise serve kb --port 8420
      chunkwise serve users key users.json wiki
      chunkwise serve kb --llm local --rate 120

    Endpoints: /api/search, /api/ask, /api/chunk, /api/evaluate, /api/documents …, described at /api/openapi.json;
    Prometheus metrics at /metrics. Stop with Ctrl-C.
    """
    settings = options.settings(at_once=options.at_once, most_bytes=options.max_body * 1_000_000)
    from chunkwise.studio.project_sources import ProjectSources
    from chunkwise.studio.server import serve

    documents, index, runs = options.sorted_sources(options.source)
    if runs:
        raise click.UsageError(
            f"{runs[0]} is a result file; open it with: chunkwise studio {runs[0]}"
        )
    sources = ProjectSources(
        documents=documents, index=index, embedder=options.embedder or "", loading=options.loading,
        counts_issues=False, llm=llm_client(options, options.quiet), llm_name=options.llm_name or "",
    )  # fmt: skip
    ready = tell_address("the API is", options.quiet)
    try:
        serve(sources, settings, has_pages=False, on_ready=ready)
    except KeyboardInterrupt:
        if not options.quiet:
            say("the server has stopped")


command = DefaultGroup(serve_index, (users,))
