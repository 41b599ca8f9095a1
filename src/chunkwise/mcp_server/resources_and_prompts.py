"""What assistants may attach and begin with: documents and runs as resources, prompts that ask for citations."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Annotated, Any

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.shared.exceptions import MCPError
from pydantic import Field

from chunkwise.base.wording import thousands
from chunkwise.mcp_server.fenced_text import (
    MOST_CHARACTERS,
    Quotation,
    answer_text,
    as_data,
    as_line,
    quoted,
    shown_id,
    word_end,
)
from chunkwise.mcp_server.search_tools import (
    DEFAULT_BUDGET,
    DOCUMENTS,
    document_uri,
    found_passages,
    passage_blocks,
)
from chunkwise.mcp_server.workspace import ToolCall, Workspace
from chunkwise.models.llm.prompt import fenced, load_prompt
from chunkwise.records.json import json_text
from chunkwise.report.runs_report import runs_report
from chunkwise.report.to_terminal import terminal_text
from chunkwise.tracking.run import RunSummary
from chunkwise.tracking.run_rows import list_runs

RUNS = "chunkwise://runs"
_PAGE = 100
"""Resources per page of the list."""
_MAX_RUNS = 100

RunBounded = Callable[[Context[Any, Any] | None, Callable[[ToolCall], Any]], Awaitable[Any]]
"""Calls some work in a thread, within the bounds of a call."""
Offset = Annotated[int, Field(ge=0)]
Budget = Annotated[
    int, Field(ge=1, le=20_000, description="token budget of the passages; default 1,000")
]


def add_document_resources(server: MCPServer[Any], workspace: Workspace, run: RunBounded) -> None:
    """Documents by their ids, and a list of them, page by page."""

    # Ids look like paths, and are none: only documents of the index are looked up by them.
    @server.resource(
        DOCUMENTS + "{id}{?start,end}", name="document", title="A document of the index",
        description=f"Its text, at most {thousands(MOST_CHARACTERS)} characters; use start and end to select a part.",
        security=ResourceSecurity(exempt_params={"id"}),
    )  # fmt: skip
    async def document(
        id: str, context: Context[Any, Any], start: Offset = 0, end: Offset | None = None
    ) -> str:
        def read(call: ToolCall) -> str:
            with workspace.index(call) as index:
                _, document = workspace.document(index, id)
            text = document.text
            first = min(start, len(text))
            last = min(len(text) if end is None else end, word_end(text, first + MOST_CHARACTERS))
            head = "\n".join(filter(None, (shown_id(document.id), as_line(document.title))))
            shown = quoted([Quotation(head, "document"), Quotation(text[first:last], "text")])
            place = f"Characters {thousands(first)} to {thousands(last)} of {thousands(len(text))}"
            more = f"; continue with ?start={last}" if last < len(text) else ""
            return answer_text(*shown, f"{place}{more}.")

        return str(await run(context, read))

    async def list_documents(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """The SDK lists what is declared once; the documents of an index come and go."""
        if ctx.method != "resources/list":
            return await call_next(ctx)
        cursor = str((ctx.params or {}).get("cursor") or 0)
        if not re.fullmatch("[0-9]{1,12}", cursor):
            raise MCPError(types.INVALID_PARAMS, "the cursor is invalid")

        def ids(call: ToolCall) -> list[str]:
            with workspace.index(call) as index:
                return list(index.source.ids())

        every = await run(None, ids)
        first = int(cursor)
        last = first + _PAGE
        result = types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=document_uri(id), name=shown_id(id), description="A document of the index.",
                    mime_type="text/plain",
                )
                for id in every[first:last]
            ],
            next_cursor=str(last) if last < len(every) else None,
        )  # fmt: skip
        if not first:
            result.resources[:0] = await server.list_resources()
        return result

    server.middleware.append(list_documents)


def add_run_resources(server: MCPServer[Any], workspace: Workspace, run: RunBounded) -> None:
    """The runs of the history, if there is one."""
    if workspace.history() is None:
        return

    @server.resource(
        RUNS,
        name="runs",
        title="Runs of the history",
        description="The stored runs, the latest first.",
    )
    async def runs() -> str:
        def read(call: ToolCall) -> str:
            run_list = list_runs(workspace.known_history(), last=_MAX_RUNS)
            return answer_text(*quoted([Quotation(terminal_text(runs_report(run_list)), "runs")]))

        return str(await run(None, read))

    @server.resource(
        RUNS + "/{number}", name="run", title="A run of the history",
        description="Settings and scores of one run, as JSON.", mime_type="application/json",
    )  # fmt: skip
    async def one_run(number: int, context: Context[Any, Any]) -> str:
        def read(call: ToolCall) -> str:
            run = workspace.known_history().run(number)
            names = [field.name for field in fields(RunSummary) if field.name != "source"]
            return as_data(json_text({name: getattr(run, name) for name in names}, 2))

        return str(await run(context, read))


def add_prompts(server: MCPServer[Any], workspace: Workspace, run: RunBounded) -> None:
    """Prompts with retrieved passages in them, between marks."""

    async def filled(
        context: Context[Any, Any], template: str, query: str, budget: int, **values: str
    ) -> str:
        def fill(call: ToolCall) -> str:
            with workspace.index(call) as index:
                hits = index.search(query, budget=budget)
            blocks = passage_blocks(found_passages(hits))
            system, user = load_prompt(template).filled(
                passages="\n\n".join(blocks) or "No passages found.", count=str(len(blocks)), **values
            )  # fmt: skip
            return f"{system}\n\n{user}"

        return str(await run(context, fill))

    @server.prompt(title="Answer with citations")
    async def ask(
        context: Context[Any, Any],
        question: Annotated[str, Field(min_length=1, description="the question")],
        budget: Budget = DEFAULT_BUDGET,
    ) -> str:
        """Passages retrieved for a question, and the request to cite one in every sentence of the answer."""
        return await filled(
            context, "assistant_answer", question, budget, question=as_data(question)
        )

    @server.prompt(title="Check an answer")
    async def check(
        context: Context[Any, Any],
        answer: Annotated[str, Field(min_length=1, description="the text to check")],
        budget: Budget = DEFAULT_BUDGET,
    ) -> str:
        """Passages retrieved for an answer, and the request to check it against them sentence by sentence."""
        marked = fenced(as_data(answer), "answer")
        return await filled(context, "assistant_check", answer, budget, answer=marked)
