"""The SDK's server with the tools, resources and prompts of an index: over stdio or streamable HTTP."""

from __future__ import annotations

import inspect
import json
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import anyio
import mcp_types as types
from anyio.from_thread import run as run_in_loop
from anyio.to_thread import run_sync
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from pydantic import ConfigDict

from chunkwise.base.allow_hosts_and_code_from_files import PARTS, check_allowed
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.limits import Limits, limits_of
from chunkwise.base.schema import json_schema, schema
from chunkwise.base.version import __version__
from chunkwise.mcp_server.evaluation_tools import compare, evaluate, lint, update_index
from chunkwise.mcp_server.fenced_text import NOTICE, ToolAnswer, as_data
from chunkwise.mcp_server.resources_and_prompts import (
    add_document_resources,
    add_prompts,
    add_run_resources,
)
from chunkwise.mcp_server.search_tools import chunk, read, search
from chunkwise.mcp_server.workspace import INDEXING_SECONDS, Stopped, ToolCall, Workspace
from chunkwise.options import SERVED_SEARCH_OPTIONS, SearchOptions
from chunkwise.records.json import json_text
from chunkwise.studio.access_control import Guard, KeyAccess
from chunkwise.studio.accounts import Account, Accounts, accounts_in, hashed_key, new_key
from chunkwise.studio.limited_requests import limited
from chunkwise.studio.rate_limits import RequestLimits
from chunkwise.studio.server import ServerSettings, bound_socket

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Scope

PATH = "/mcp"
_CONCURRENT_CALLS = 4
_MAX_REQUEST_BYTES = 4 << 20
_MAX_ERROR_CHARACTERS = 2_000
_CALL_SECONDS = 600.0
"""Wall-clock time of one call; one that indexes has `INDEXING_SECONDS`."""
T = TypeVar("T")

TOOLS: tuple[Callable[..., ToolAnswer[Any]], ...] = (search, read, chunk, lint, evaluate, compare)
WRITING_TOOLS: tuple[Callable[..., ToolAnswer[Any]], ...] = (update_index,)


@dataclass(frozen=True)
class RunningCalls:
    """The calls at work, each in a thread with a bound on its time and memory."""

    workspace: Workspace
    on_fault: Callable[[str], None] = lambda message: None
    running: set[ToolCall] = field(default_factory=set)
    limiter: anyio.CapacityLimiter = field(
        default_factory=partial(anyio.CapacityLimiter, _CONCURRENT_CALLS)
    )

    async def run(
        self,
        context: Context[Any, Any] | None,
        work: Callable[[ToolCall], T],
        *,
        indexes: bool = False,
    ) -> T:
        """Call `work` in a thread; cancelling, or running out of time, stops it at its next step."""
        indexes = indexes or self.workspace.must_index
        seconds = INDEXING_SECONDS if indexes else _CALL_SECONDS
        limits = Limits(limits_of(None).memory, seconds) if indexes else None

        def report(done: float, total: float | None, note: str) -> None:
            if context is None:
                return
            with suppress(RuntimeError):  # the loop has ended meanwhile
                run_in_loop(context.report_progress, done, total, note)

        call = ToolCall(report)
        self.running.add(call)

        def run_limited() -> T:
            try:
                return limited(lambda: work(call), limits)
            finally:
                self.running.discard(call)

        try:
            with anyio.fail_after(seconds):
                return await run_sync(run_limited, abandon_on_cancel=True, limiter=self.limiter)
        finally:
            call.stop()

    async def run_or_refuse(
        self, context: Context[Any, Any] | None, work: Callable[[ToolCall], T]
    ) -> T:
        """The same for resources and prompts, whose errors are errors of the protocol."""
        try:
            return await self.run(context, work)
        except MCPError:
            raise
        except Exception as error:
            code = (
                types.INVALID_PARAMS if isinstance(error, ChunkwiseError) else types.INTERNAL_ERROR
            )
            raise MCPError(code, self.message(error)) from None

    def message(self, error: BaseException) -> str:
        """The message a client gets: never a traceback, and no path outside the project."""
        if isinstance(error, ChunkwiseError):
            return self.workspace.shown(as_data(str(error))[:_MAX_ERROR_CHARACTERS])
        if isinstance(error, MemoryError):
            return "not enough memory; request less at once"
        if isinstance(error, TimeoutError):
            return "timed out; request less at once"
        kind = type(error).__name__
        self.on_fault(f"internal error in chunkwise: {kind}: {error}")
        return f"internal error in chunkwise ({kind}); see the server's stderr"

    def stop(self) -> None:
        for call in list(self.running):
            call.stop()


def assistant_server(workspace: Workspace, calls: RunningCalls | None = None) -> MCPServer[Any]:
    """Build the server; it answers one client or many."""
    calls = calls or RunningCalls(workspace)
    functions = TOOLS + WRITING_TOOLS if workspace.allow_write else TOOLS
    server: MCPServer[Any] = MCPServer(
        "chunkwise", title="chunkwise", version=__version__, log_level="CRITICAL",
        description="Search, read and measure an index of documents.", instructions=_instructions(workspace),
        tools=[_sdk_tool(function, workspace, calls) for function in functions],
    )  # fmt: skip
    add_document_resources(server, workspace, calls.run_or_refuse)
    add_run_resources(server, workspace, calls.run_or_refuse)
    add_prompts(server, workspace, calls.run_or_refuse)
    return server


def _sdk_tool(
    function: Callable[..., ToolAnswer[Any]], workspace: Workspace, calls: RunningCalls
) -> Tool:
    """The tool of a function: schemas come from its annotations, the description from its docstring."""
    writes = function in WRITING_TOOLS

    async def tool(context: Context[Any, Any], **arguments: Any) -> types.CallToolResult:
        try:
            # A model that reads documents may have written the arguments: they name no code, file or server to follow.
            parts = [arguments[name] for name in PARTS if name in arguments]
            check_allowed(parts, f"the tool {function.__name__}")
            if options is not None:
                given = {name: arguments.pop(name) for name in SERVED_SEARCH_OPTIONS}
                arguments[options] = SearchOptions.read(_without_unset(given))
            answer = await calls.run(
                context, lambda call: function(workspace, call, **arguments), indexes=writes
            )
            values = json.loads(json_text(answer.values))
        except Stopped:
            raise MCPError(types.INTERNAL_ERROR, "the call was canceled") from None
        except Exception as error:
            content = types.TextContent(text=calls.message(error))
            return types.CallToolResult(content=[content], is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)], structured_content=values
        )

    signature = inspect.signature(function, eval_str=True)
    _, _, *parameters = signature.parameters.values()
    options = next(
        (parameter.name for parameter in parameters if parameter.annotation is SearchOptions), None
    )
    if options is not None:
        parameters = [parameter for parameter in parameters if parameter.name != options]
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
            for name in SERVED_SEARCH_OPTIONS
        ]
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=Context)
    (values_type,) = get_args(signature.return_annotation)
    tool.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*parameters, context],
        return_annotation=Annotated[types.CallToolResult, values_type],
    )
    hints = types.ToolAnnotations(
        # `evaluate` stores its run only where that is allowed and asked for.
        read_only_hint=not writes, destructive_hint=False, idempotent_hint=True, open_world_hint=False,
    )  # fmt: skip
    made = Tool.from_function(
        tool,
        function.__name__,
        description=inspect.getdoc(function),
        annotations=hints,
        structured_output=True,
    )
    # By default the SDK ignores unknown arguments: a misspelled filter would be a search without one.
    declared = made.fn_metadata.arg_model
    strict: Any = type(declared.__name__, (declared,), {"model_config": ConfigDict(extra="forbid")})
    made.fn_metadata.arg_model = strict
    made.parameters = strict.model_json_schema()
    if options is not None:
        described = json_schema(SearchOptions)["properties"]
        made.parameters["properties"] |= {name: described[name] for name in SERVED_SEARCH_OPTIONS}
    return made


def _without_unset(given: Mapping[str, Any]) -> dict[str, Any]:
    """Assistants often write one string instead of a list of one, or an empty one for the default."""
    lists = {field.name for field in schema(SearchOptions) if field.repeated}
    return {
        name: [value] if isinstance(value, str) and name in lists else value
        for name, value in given.items()
        if value not in (None, "", [])
    }


def _instructions(workspace: Workspace) -> str:
    writing = (
        "Tools can write runs to the history and documents to the index."
        if workspace.allow_write
        else "Tools are read-only."
    )
    files = (
        "Paths are relative to the project folder; other files aren't accessible."
        if workspace.project
        else "Files are unavailable: the server was started without a project folder."
    )
    return (
        f"Access to one index of documents. `search` before you answer, `read` the text around "
        f"a passage, and cite document and characters. {files} {writing} {NOTICE}"
    )


def serve_stdio(workspace: Workspace, calls: RunningCalls) -> None:
    """Serve until the client closes stdin, reads no more, or a signal comes."""
    server = assistant_server(workspace, calls)

    def end(number: int, frame: object = None) -> None:
        """A thread waits for the next line of stdin, which may never come: the process itself is ended."""
        calls.stop()
        deadline = time.monotonic() + 1.0
        while calls.running and time.monotonic() < deadline:
            time.sleep(0.01)
        os._exit(0 if number in (0, signal.SIGINT) else 128 + number)

    def end_when_unread(stdout: int) -> None:
        poll = select.poll()
        poll.register(stdout, 0)  # an error, as a pipe without a reader is, is always reported
        poll.poll()
        end(0)

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), end)
    if hasattr(select, "poll"):
        threading.Thread(target=end_when_unread, args=(os.dup(1),), daemon=True).start()
    try:
        anyio.run(server.run_stdio_async)
    finally:
        calls.stop()


def http_app(workspace: Workspace, calls: RunningCalls, port: int, accounts: Accounts) -> ASGIApp:
    """Answer at /mcp under an address of this machine: only with a key, and to no page of another site."""
    server = assistant_server(workspace, calls)
    app = server.streamable_http_app(
        streamable_http_path=PATH, max_request_body_size=_MAX_REQUEST_BYTES
    )

    def refuse(scope: Scope, status: int, sentence: str) -> Response:
        from starlette.responses import JSONResponse

        headers = {"www-authenticate": "Bearer"} if status == 401 else {}
        return JSONResponse({"error": sentence}, status, headers=headers)

    limits = RequestLimits(most_bytes=_MAX_REQUEST_BYTES)
    return Guard(app, access=KeyAccess(accounts), port=port, refuse=refuse, limits=limits)


def serve_http(
    workspace: Workspace,
    calls: RunningCalls,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    on_ready: Callable[[str, str], None],
) -> None:
    """Serve until Ctrl-C.

    Args:
        workspace: What is served.
        calls: Its calls.
        host: An address of this machine only.
        port: None: 8420, or the next free one.
        on_ready: Gets the address, and a key for this run unless CHUNKWISE_KEYS has one.
    """
    settings = ServerSettings(host=host, port=port)
    if not settings.is_local:
        raise InvalidParameter(
            f"host is {host!r}; allowed: 127.0.0.1, localhost, ::1, to protect your documents. "
            f"From another machine, use a tunnel: ssh -L 8420:127.0.0.1:8420 HOST"
        )
    address = settings.check()
    from chunkwise.studio.connections import server_of

    key, accounts = "", accounts_in(os.environ)
    if not accounts:
        key = new_key()
        accounts = [Account("you", "reader", keys=(hashed_key(key),))]
    with bound_socket(address, port) as bound:
        bound_port = bound.getsockname()[1]
        app = http_app(workspace, calls, bound_port, Accounts(None, accounts))
        server = server_of(app, lifespan="on")
        shown = f"[{address}]" if ":" in address else address
        on_ready(f"http://{shown}:{bound_port}{PATH}", key)
        try:
            server.run(sockets=[bound])
        finally:
            calls.stop()


def call_once(
    workspace: Workspace, calls: RunningCalls, name: str, arguments: dict[str, Any]
) -> types.CallToolResult:
    """One call by the SDK's client, as an assistant would make it."""

    async def run() -> types.CallToolResult:
        async with Client(assistant_server(workspace, calls)) as client:
            return await client.call_tool(name, arguments)

    return anyio.run(run)
