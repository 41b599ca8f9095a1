"""The server of the official SDK around tools, resources and prompts: over stdin and stdout, or streamable HTTP."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.base.version import __version__
from chunkwise.mcp_server.evaluation_tools import MEASURING
from chunkwise.mcp_server.fenced_text import NOTICE, as_data
from chunkwise.mcp_server.resources_and_prompts import (
    PROMPTS,
    TEMPLATES,
    ResourceEntry,
    filled_prompt,
    listed_resources,
    resource,
)
from chunkwise.mcp_server.search_tools import RETRIEVING
from chunkwise.mcp_server.tool import AssistantTool
from chunkwise.mcp_server.workspace import Stopped, ToolCall, Workspace
from chunkwise.studio.access_control import Guard, KeyAccess
from chunkwise.studio.accounts import Account, Accounts, accounts_in, hashed_key, new_key
from chunkwise.studio.rate_limits import RequestLimits
from chunkwise.studio.server import ServerSettings, bound_socket

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext
    from mcp_types import CallToolResult
    from starlette.responses import Response
    from starlette.types import ASGIApp, Scope

PATH = "/mcp"
_AT_ONCE = 4
_MOST_BYTES = 4 << 20
"""Of one request."""
_LONGEST_ERROR = 2_000
T = TypeVar("T")


def check_installed() -> None:
    """The exact command, before anything is read or bound."""
    try:
        import mcp.server.lowlevel  # noqa: F401
        import mcp_types  # noqa: F401
    except ImportError:
        raise MissingExtra("chunkwise mcp", "mcp") from None


@dataclass(frozen=True)
class CallsAtWork:
    """The calls that are at work now, and who is told of faults in our own code."""

    on_fault: Callable[[str], None] = lambda told: None
    running: set[ToolCall] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, call: ToolCall, work: Callable[[ToolCall], T]) -> T:
        with self.lock:
            self.running.add(call)
        try:
            return work(call)
        finally:
            with self.lock:
                self.running.discard(call)

    def sentence(self, error: BaseException) -> str:
        """What a client is told: never a traceback."""
        if isinstance(error, ChunkwiseError):
            return as_data(str(error))[:_LONGEST_ERROR]
        if isinstance(error, MemoryError):
            return "there is not enough memory for this; ask for less at once"
        kind = type(error).__name__
        self.on_fault(f"this went wrong, and it is a fault of chunkwise: {kind}: {error}")
        return f"this went wrong, and it is a fault of chunkwise ({kind}); the server's stderr says more"


def tools_of(workspace: Workspace) -> dict[str, AssistantTool]:
    """By name; what writes is there only where that is allowed."""
    every = (*RETRIEVING, *MEASURING)
    return {each.name: each for each in every if workspace.allow_write or not each.writes}


def assistant_server(workspace: Workspace, calls: CallsAtWork | None = None) -> Server[Any]:
    """Answers one client or many; every call works in a thread of its own."""
    check_installed()
    import mcp_types as types
    from anyio import CapacityLimiter
    from anyio.from_thread import run as run_in_loop
    from anyio.to_thread import run_sync
    from mcp.server import Server
    from mcp.shared.exceptions import MCPError

    known, tools = calls or CallsAtWork(), tools_of(workspace)
    limiter: list[CapacityLimiter] = []

    async def threaded(ctx: ServerRequestContext[Any], work: Callable[[ToolCall], T]) -> T:
        def report(done: float, total: float | None, note: str) -> None:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                run_in_loop(ctx.session.report_progress, done, total, note)

        if not limiter:
            limiter.append(CapacityLimiter(_AT_ONCE))
        call = ToolCall(report)
        try:
            return await run_sync(
                partial(known.run, call, work), abandon_on_cancel=True, limiter=limiter[0]
            )
        finally:
            call.stop()

    async def or_error(ctx: ServerRequestContext[Any], work: Callable[[ToolCall], T]) -> T:
        """For what has no answer of its own for errors."""
        try:
            return await threaded(ctx, work)
        except Exception as error:
            is_ours = isinstance(error, ChunkwiseError)
            code = types.INVALID_PARAMS if is_ours else types.INTERNAL_ERROR
            raise MCPError(code, workspace.shown(known.sentence(error))) from None

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_declared(each) for each in tools.values()])

    async def call_tool(
        ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, _no_tool(params.name, tools))
        arguments = params.arguments or {}
        try:
            answer = await threaded(ctx, lambda call: tool.run(workspace, arguments, call))
            structured = answer.structured
        except Stopped:
            raise MCPError(types.INTERNAL_ERROR, "the call was cancelled") from None
        except Exception as error:
            said = types.TextContent(text=workspace.shown(known.sentence(error)))
            return types.CallToolResult(content=[said], is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)], structured_content=structured
        )

    async def list_resources(
        ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        found, following = await or_error(
            ctx, lambda call: listed_resources(workspace, cursor, call)
        )
        entries = [
            types.Resource(uri=each.address, **_described(each), mime_type=each.kind)
            for each in found
        ]
        return types.ListResourcesResult(resources=entries, next_cursor=following)

    async def list_templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
        found = [
            types.ResourceTemplate(
                uri_template=each.address, **_described(each), mime_type=each.kind
            )
            for each in TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def read_resource(
        ctx: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        found = await or_error(ctx, lambda call: resource(workspace, str(params.uri), call))
        content = types.TextResourceContents(uri=params.uri, mime_type=found.kind, text=found.text)
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(ctx: Any, params: Any) -> types.ListPromptsResult:
        found = [
            types.Prompt(
                name=each.name,
                title=each.title,
                description=each.description,
                arguments=[
                    types.PromptArgument(
                        name=one.name, description=one.description, required=one.required
                    )
                    for one in each.fields
                ],
            )
            for each in PROMPTS
        ]
        return types.ListPromptsResult(prompts=found)

    async def get_prompt(
        ctx: ServerRequestContext[Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        prompt, text = await or_error(
            ctx, lambda call: filled_prompt(workspace, params.name, params.arguments or {}, call)
        )
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    return Server(
        "chunkwise",
        version=__version__,
        title="chunkwise",
        description="Search, read and measure an index of documents.",
        instructions=_instructions(workspace),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _declared(tool: AssistantTool) -> Any:
    import mcp_types as types

    hints = types.ToolAnnotations(
        title=tool.title,
        # `evaluate` keeps a run where it may and is asked to.
        read_only_hint=not tool.writes,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name, title=tool.title, description=tool.description, input_schema=tool.input_schema,
        output_schema=tool.output_schema, annotations=hints,
    )  # fmt: skip


def _described(entry: ResourceEntry) -> dict[str, Any]:
    return {"name": entry.name, "title": entry.title or None, "description": entry.description}


def _instructions(workspace: Workspace) -> str:
    writing = (
        "Tools may write: a run to the history, documents to the index."
        if workspace.allow_write
        else "Nothing is written."
    )
    files = (
        "Paths are those of the project folder; nothing outside of it is opened."
        if workspace.project
        else "No files can be named: the server was started without a project folder."
    )
    return (
        f"Documents of one index. Use `search` before you answer from them, `read` for what stands around a passage, "
        f"and cite document and characters. {files} {writing} {NOTICE}"
    )


def serve_stdio(workspace: Workspace, calls: CallsAtWork) -> None:
    """Until the client closes stdin, goes away, or Ctrl-C; nothing but the protocol goes to stdout."""
    import asyncio

    import anyio

    server = assistant_server(workspace, calls)
    came: list[int] = []
    answers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and callable(answer := signal.getsignal(number)):
                answers[number] = answer

    async def run() -> None:
        from mcp.server.stdio import stdio_server

        task = asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            came.append(number)
            task.cancel()

        for each in answers:  # between two steps, as Ctrl-C is: an exception amid one would tear what holds the others
            asyncio.get_running_loop().add_signal_handler(each, end, each)
        lines: Any = InputLines()
        try:
            async with stdio_server(stdin=lines) as (read, write):
                await server.run(read, write, server.create_initialization_options())
        finally:
            for call in list(calls.running):
                call.stop()

    try:
        anyio.run(run)
    except BaseExceptionGroup as several:
        _, others = several.split((BrokenPipeError, anyio.BrokenResourceError))
        if others is not None:
            raise
    except BrokenPipeError:
        pass  # nobody reads any more
    except asyncio.CancelledError:
        if not came:
            raise
    finally:
        for number, answer in answers.items():
            signal.signal(number, answer)
    if came:
        signal.raise_signal(came[0])


class InputLines:
    """Lines of standard input, read by a thread that nobody waits for: Ctrl-C need not wait for the next line."""

    def __init__(self) -> None:
        # Processes that are started to read documents must not read what the client says.
        self._own = os.dup(0)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)

    async def __aiter__(self) -> AsyncIterator[str]:
        import asyncio

        loop, queue = asyncio.get_running_loop(), asyncio.Queue[bytes | None](0)

        def read() -> None:
            with suppress(RuntimeError):  # the loop has ended
                rest = b""
                while found := _read(self._own):
                    *lines, rest = (
                        (rest + found).split(b"\n") if b"\n" in found else (rest + found,)
                    )
                    for line in lines:
                        loop.call_soon_threadsafe(queue.put_nowait, line)
                loop.call_soon_threadsafe(queue.put_nowait, None)

        threading.Thread(target=read, name="chunkwise-mcp-stdin", daemon=True).start()
        while (line := await queue.get()) is not None:
            yield line.decode("utf-8", "replace")


def _read(number: int) -> bytes:
    try:
        return os.read(number, 1 << 16)
    except OSError:
        return b""


def http_app(workspace: Workspace, calls: CallsAtWork, port: int, accounts: Accounts) -> ASGIApp:
    """Answers at /mcp whoever has a key, under an own address of this machine; no page of another site."""
    server = assistant_server(workspace, calls)
    app = server.streamable_http_app(streamable_http_path=PATH, max_request_body_size=_MOST_BYTES)

    def refuse(scope: Scope, status: int, sentence: str) -> Response:
        from starlette.responses import JSONResponse

        headers = {"www-authenticate": "Bearer"} if status == 401 else {}
        return JSONResponse({"error": sentence}, status, headers=headers)

    return Guard(
        app, access=KeyAccess(accounts), port=port, refuse=refuse, limits=RequestLimits(most_bytes=_MOST_BYTES)
    )  # fmt: skip


def serve_http(
    workspace: Workspace,
    calls: CallsAtWork,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    on_ready: Callable[[str, str], None],
) -> None:
    """Until Ctrl-C; `on_ready` gets the address, and a key for this run where CHUNKWISE_KEYS has none."""
    check_installed()
    settings = ServerSettings(host=host, port=port)
    if not settings.is_local:
        raise InvalidParameter(
            f"host is {host!r}; allowed: 127.0.0.1, localhost, ::1, since whoever reaches it could read your "
            "documents. From another machine go through a tunnel: ssh -L 8420:127.0.0.1:8420 HOST"
        )
    address = settings.check()
    from chunkwise.studio.connections import server_of

    own_key, accounts = "", accounts_in(os.environ)
    if not accounts:
        own_key = new_key()
        accounts = [Account("you", "reader", keys=(hashed_key(own_key),))]
    with bound_socket(address, port) as bound:
        own = bound.getsockname()[1]
        app = http_app(workspace, calls, own, Accounts(None, accounts))
        server = server_of(app, lifespan="on")
        shown = f"[{address}]" if ":" in address else address
        on_ready(f"http://{shown}:{own}{PATH}", own_key)
        try:
            server.run(sockets=[bound])
        finally:
            for call in list(calls.running):
                call.stop()


def call_once(
    workspace: Workspace, calls: CallsAtWork, name: str, arguments: dict[str, Any]
) -> CallToolResult:
    """One call by the SDK's own client, as an assistant would make it."""
    check_installed()
    import anyio
    from mcp import Client

    if name not in (tools := tools_of(workspace)):
        raise InvalidParameter(_no_tool(name, tools))

    async def run() -> CallToolResult:
        async with Client(assistant_server(workspace, calls)) as client:
            return await client.call_tool(name, arguments)

    return anyio.run(run)


def _no_tool(name: str, known: Iterable[str]) -> str:
    return f"there is no tool {as_data(name)[:60]!r}; there are: {', '.join(known)}"
