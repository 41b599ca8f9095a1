"""`chunkwise mcp`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.base.schema import Name, Option, Port, argument
from chunkwise.cli.dataclass_options import dataclass_command, is_typed
from chunkwise.cli.keep_run import HistoryOption
from chunkwise.cli.options import AllowOption
from chunkwise.cli.server_options import ServedSourceOptions, tell_address
from chunkwise.cli.streams import print_json, say

if TYPE_CHECKING:
    from chunkwise.mcp_server.server import RunningCalls
    from chunkwise.mcp_server.workspace import Workspace, WorkspaceSources


class McpOptions(AllowOption, ServedSourceOptions, HistoryOption, group="Server"):
    """The options of `chunkwise mcp`."""

    source: Annotated[tuple[str, ...], argument("SOURCE...")]
    project: Annotated[Path | None, Option(
        "Folder whose files and history the tools can access", metavar="FOLDER", default_text="none", common=True
    )] = None  # fmt: skip
    allow_write: Annotated[bool, Option(
        "Allow tools to save runs and update the index", common=True
    )] = False  # fmt: skip
    http: Annotated[bool, Option(
        "Use HTTP instead of stdin and stdout", common=True
    )] = False  # fmt: skip
    port: Annotated[Port | None, Option(
        "Port, with --http", metavar="N", default_text="8420, or the next free one"
    )] = None  # fmt: skip
    host: Annotated[Name, Option(
        "Host, with --http: 127.0.0.1, ::1 or localhost", metavar="ADDRESS"
    )] = "127.0.0.1"  # fmt: skip
    call: Annotated[Name | None, Option(
        "Call one tool, print its result, and exit", metavar="TOOL", group="Try out", common=True
    )] = None  # fmt: skip
    arguments: Annotated[str, Option(
        "Arguments of the tool as JSON, with --call", metavar="JSON", group="Try out", common=True
    )] = "{}"  # fmt: skip
    as_json: Annotated[bool, Option(
        "Print structured JSON, with --call", long_flag="--json", group="Try out"
    )] = False  # fmt: skip


@dataclass_command("mcp", McpOptions)
def command(options: McpOptions) -> None:
    """Serve an index to AI assistants over the Model Context Protocol.

    SOURCE is an index, or documents, which are indexed in memory. Nothing is written without --allow-write, and only
    files in --project are opened.

    Examples:
      chunkwise mcp kb
      chunkwise mcp kb --project .
      chunkwise mcp kb --project . --allow-write
      chunkwise mcp kb --http

    Tools: search, read, chunk, lint, evaluate, compare. To configure an assistant, see docs/how-to/mcp.md. Stop with
    Ctrl-C.
    """
    try:
        import mcp.server.mcpserver  # noqa: F401
        import mcp_types  # noqa: F401
    except ImportError:
        raise MissingExtra("chunkwise mcp", "mcp") from None
    from chunkwise.mcp_server.server import RunningCalls, serve_http, serve_stdio
    from chunkwise.mcp_server.workspace import Workspace

    for name in ("port", "host"):
        if not options.http and is_typed(name):
            raise click.UsageError(f"--{name} needs --http")
    workspace = Workspace(_sources(options))
    calls = RunningCalls(workspace, say)
    if options.call is not None:
        _call(workspace, calls, options)
        return

    ready = tell_address("the MCP server is running", options.quiet)
    try:
        if options.http:
            serve_http(workspace, calls, host=options.host, port=options.port, on_ready=ready)
        else:
            serve_stdio(workspace, calls)
    except KeyboardInterrupt:
        if not options.quiet:
            say("the server has stopped")
    if calls.running:
        # A call that cannot be stopped would keep the process alive that nobody talks to any more.
        sys.stderr.flush()
        os._exit(0)


def _sources(options: McpOptions) -> WorkspaceSources:
    from chunkwise.mcp_server.workspace import WorkspaceSources

    documents, index, runs = options.sorted_sources(options.source)
    if runs:
        raise click.UsageError(
            f"{runs[0]} is a result file; give an index or documents, and its folder with --project"
        )
    return WorkspaceSources(
        index=index, documents=documents, embedder=options.embedder or "", project=options.project,
        history=options.history, allow_write=options.allow_write, loading=options.loading(),
    )  # fmt: skip


def _call(workspace: Workspace, calls: RunningCalls, options: McpOptions) -> None:
    import json

    from chunkwise.mcp_server.server import call_once

    try:
        given = json.loads(options.arguments)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise InvalidParameter(
            f"arguments is {options.arguments!r:.80}; expected a JSON object such as "
            '\'{"query": "leave"}\''
        )
    answer = call_once(workspace, calls, options.call or "", given)
    text = "\n\n".join(item.text for item in answer.content if item.type == "text")
    if answer.is_error:
        raise ChunkwiseError(text)
    if options.as_json:
        print_json(answer.structured_content)
    else:
        click.echo(text)
