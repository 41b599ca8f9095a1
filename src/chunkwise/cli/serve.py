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
        "Requests worked on at the same time", metavar="N", group="Server"
    )] = 4  # fmt: skip
    max_body: Annotated[Annotated[int, Meta(ge=1, le=1000)], Option(
        "Size limit of a request", metavar="MB", group="Server"
    )] = 4  # fmt: skip


@dataclass_command("serve", ServeOptions)
def serve_index(options: ServeOptions) -> None:
    """Answer programs over HTTP: chunk, search, ask and evaluate, with keys, limits and metrics; no pages.

    SOURCE is an index that `chunkwise index` made (a folder, or an address), or documents, which are indexed in
    memory. Every request needs a key; one for this run is printed where neither --users nor CHUNKWISE_KEYS has any.

    Examples:
      chunkwise serve kb
      CHUNKWISE_KEYS="wiki=$KEY" chunkwise serve kb --port 8420
      chunkwise serve users key users.json wiki
      chunkwise serve kb --llm local --rate 120

    Addresses: /api/search, /api/ask, /api/chunk, /api/evaluate, /api/documents …, described at /api/openapi.json;
    /metrics for Prometheus. Ctrl-C ends it.
    """
    settings = options.settings(at_once=options.at_once, most_bytes=options.max_body * 1_000_000)
    from chunkwise.studio.project_sources import ProjectSources
    from chunkwise.studio.server import serve

    documents, index, runs = options.sorted_sources(options.source)
    if runs:
        raise click.UsageError(
            f"{runs[0]} is a file of results; the studio shows it, serve does not"
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
            say("the server has ended")


command = DefaultGroup(serve_index, (users,))
