"""`chunkwise mcp`."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkwise.cli.dataclass_options import argument, dataclass_command, is_typed, option
from chunkwise.cli.options import AllowOption, json_flag
from chunkwise.cli.server_options import ServedSourceOptions, tell_address
from chunkwise.cli.streams import print_json, say

if TYPE_CHECKING:
    from chunkwise.mcp_server.server import RunningCalls
    from chunkwise.mcp_server.workspace import Workspace, WorkspaceSources

_EXAMPLES = """
\b
Examples:
  chunkwise mcp kb                                         # started by an assistant, over stdin and stdout
  chunkwise mcp kb --project .                             # tools may open files of this folder
  chunkwise mcp kb --project . --allow-write               # runs may be kept, the index brought up to date
  chunkwise mcp kb --http                                  # the address and a key for this run are printed
  CHUNKWISE_KEYS="laptop=$KEY" chunkwise mcp kb --http --port 8420
  chunkwise mcp kb --call search --arguments '{"query": "who approves leave?"}'   # what an assistant gets
\b
Tools: search, read, chunk, lint, evaluate, compare. docs/mcp.md says how assistants are told of it. Ctrl-C ends it.
"""


@dataclass(frozen=True, kw_only=True)
class McpOptions(AllowOption, ServedSourceOptions):
    """The options of `chunkwise mcp`."""

    source: tuple[str, ...] = argument("SOURCE...", nargs=-1, required=True)
    project: Path | None = option(
        "--project", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="FOLDER",
        show_default="none", help="The only folder whose files tools may open, and whose history they see.",
    )  # fmt: skip
    history: str | None = option(
        "--history", metavar="PLACE", envvar="CHUNKWISE_HISTORY", show_envvar=True,
        show_default=".chunkwise/history.db of the project folder",
        help="The history: a file, or postgresql://user@host/database for a team.",
    )  # fmt: skip
    allow_write: bool = option(
        "--allow-write", is_flag=True,
        help="Let tools write: keep a run in the history, bring the index up to date.",
    )  # fmt: skip
    http: bool = option(
        "--http", is_flag=True, help="Answer over streamable HTTP instead of stdin and stdout."
    )
    port: int | None = option(
        "--port", type=click.IntRange(1, 65535), metavar="N", show_default="8420, or the next that is free",
        help="With --http: port on this machine.",
    )  # fmt: skip
    host: str = option(
        "--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
        help="With --http: 127.0.0.1, ::1 or localhost; no other is taken.",
    )  # fmt: skip
    call: str | None = option(
        "--call", metavar="TOOL", help="Call one tool, print what an assistant would read, and end."
    )
    arguments: str = option(
        "--arguments", default="{}", metavar="JSON", show_default=True,
        help="With --call: what the tool is asked for, an object of JSON.",
    )  # fmt: skip
    as_json: bool = json_flag("With --call: print the structured answer as JSON.")


@dataclass_command("mcp", McpOptions, examples=_EXAMPLES)
def command(options: McpOptions) -> None:
    """Give assistants tools for an index, by the Model Context Protocol: search, read, chunk, lint, evaluate, compare.

    SOURCE is an index that `chunkwise index` made (a folder, or an address), or documents, which are indexed in
    memory. Nothing is written without --allow-write, and no file outside of --project is opened.
    """
    from chunkwise.base.errors import MissingExtra

    try:
        import mcp.server.mcpserver  # noqa: F401
        import mcp_types  # noqa: F401
    except ImportError:
        raise MissingExtra("chunkwise mcp", "mcp") from None
    from chunkwise.mcp_server.server import RunningCalls, serve_http, serve_stdio
    from chunkwise.mcp_server.workspace import Workspace

    for name in ("port", "host"):
        if not options.http and is_typed(name):
            raise click.UsageError(
                f"--{name} says where HTTP is answered, and stdin and stdout are; add --http"
            )
    workspace = Workspace(_sources(options))
    calls = RunningCalls(workspace, say)
    if options.call is not None:
        _call(workspace, calls, options)
        return

    ready = tell_address("assistants are answered", options.quiet)
    try:
        if options.http:
            serve_http(workspace, calls, host=options.host, port=options.port, on_ready=ready)
        else:
            serve_stdio(workspace, calls)
    except KeyboardInterrupt:
        if not options.quiet:
            say("the server has ended")
    if calls.running:
        # A call that cannot be stopped would keep the process alive that nobody talks to any more.
        sys.stderr.flush()
        os._exit(0)


def _sources(options: McpOptions) -> WorkspaceSources:
    from chunkwise.mcp_server.workspace import WorkspaceSources

    documents, index, runs = options.sorted_sources(options.source)
    if runs:
        raise click.UsageError(
            f"{runs[0]} is a file of results; name an index or documents, and the folder of the file by --project"
        )
    return WorkspaceSources(
        index=index, documents=documents, embedder=options.embedder or "", project=options.project,
        history=options.history, allow_write=options.allow_write, loading=options.loading(),
    )  # fmt: skip


def _call(workspace: Workspace, calls: RunningCalls, options: McpOptions) -> None:
    import json

    from chunkwise.base.errors import ChunkwiseError, InvalidParameter
    from chunkwise.mcp_server.server import call_once

    try:
        given = json.loads(options.arguments)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise InvalidParameter(
            f"arguments is {options.arguments!r:.80}; an object of JSON is needed, such as "
            '\'{"query": "leave"}\''
        )
    answer = call_once(workspace, calls, options.call or "", given)
    text = "\n\n".join(each.text for each in answer.content if each.type == "text")
    if answer.is_error:
        raise ChunkwiseError(text)
    if options.as_json:
        print_json(answer.structured_content)
    else:
        click.echo(text)
