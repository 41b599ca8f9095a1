"""What assistants may attach and begin with: documents and runs as resources, and prompts that ask for citations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.base.wording import counted, thousands
from chunkwise.core import Hit
from chunkwise.mcp_server.evaluation_tools import drawn
from chunkwise.mcp_server.fenced_text import (
    MOST_CHARACTERS,
    Quotation,
    answer_text,
    as_data,
    as_line,
    quoted,
    shown_id,
)
from chunkwise.mcp_server.search_tools import DOCUMENTS, USUAL_BUDGET, document_address
from chunkwise.mcp_server.workspace import ToolCall, Workspace
from chunkwise.models.llm.prompt import fenced, load_prompt
from chunkwise.records.json import json_text
from chunkwise.report.terminal.history import render_history
from chunkwise.report.views.history import history_view
from chunkwise.tracking.run import RunSummary

RUNS = "chunkwise://runs"
_RUN = re.compile(r"chunkwise://runs/([0-9]{1,9})")
_PAGE = 100
"""Resources in one answer."""
_MOST_RUNS = 100


class ResourceEntry(NamedTuple):
    """A resource as a list has it."""

    address: str
    name: str
    title: str
    description: str
    kind: str = "text/plain"


class ResourceText(NamedTuple):
    """What is in it."""

    text: str
    kind: str = "text/plain"


TEMPLATES = (
    ResourceEntry(
        DOCUMENTS + "{id}{?start,end}", "document", "A document of the index",
        f"Its text between marks, {counted(MOST_CHARACTERS, 'character')} at most; start and end choose a part.",
    ),
    ResourceEntry(
        RUNS + "/{number}", "run", "A run of the history", "Settings and figures of one run, as JSON.",
        "application/json",
    ),
)  # fmt: skip


def listed_resources(
    workspace: Workspace, cursor: str | None, call: ToolCall
) -> tuple[list[ResourceEntry], str | None]:
    """The runs, then the documents of the index, a page at a time; and the cursor of the next page."""
    begin = 0
    if cursor is not None:
        if not re.fullmatch("[0-9]{1,12}", cursor):
            raise InvalidParameter(
                f"the cursor is {as_line(cursor, 60)!r}; give the one that the list before it ended with"
            )
        begin = int(cursor)
    found = []
    if not begin and workspace.history() is not None:
        found.append(
            ResourceEntry(RUNS, "runs", "Runs of the history", "The runs that were kept, the latest first.")
        )  # fmt: skip
    with workspace.index(call) as index:
        ids = index.source.ids()
    found += [
        ResourceEntry(document_address(id), shown_id(id), "", "A document of the index.")
        for id in ids[begin : begin + _PAGE]
    ]
    following = begin + _PAGE
    return found, str(following) if following < len(ids) else None


def resource(workspace: Workspace, address: str, call: ToolCall) -> ResourceText:
    """The text of a document, or what is known of runs."""
    if address.startswith(DOCUMENTS):
        return _document(workspace, address.removeprefix(DOCUMENTS), call)
    if address == RUNS:
        view = history_view(workspace.known_history(), last=_MOST_RUNS)
        shown = drawn(lambda console: render_history(view, console))
        return ResourceText(answer_text(*quoted([Quotation(shown or "no runs", "runs")])))
    if found := _RUN.fullmatch(address):
        run = workspace.known_history().run(int(found[1]))
        summary = {
            each.name: getattr(run, each.name)
            for each in fields(RunSummary)
            if each.name != "source"
        }
        return ResourceText(as_data(json_text(summary, 2)), "application/json")
    known = ", ".join(each.address for each in TEMPLATES)
    raise UnknownName(f"there is no resource {as_line(address, 120)!r}; there are {known}, {RUNS}")


def _document(workspace: Workspace, rest: str, call: ToolCall) -> ResourceText:
    named, _, query = rest.partition("?")
    asked = dict(parse_qsl(query, keep_blank_values=True))
    for name, value in asked.items():
        if name not in ("start", "end") or not re.fullmatch("[0-9]{1,9}", value):
            raise InvalidParameter(
                f"{as_line(name, 60)}={as_line(value, 60)} is not taken; start and end are, in characters: "
                "?start=0&end=500"
            )
    with workspace.index(call) as index:
        _, document = workspace.document(index, unquote(named, errors="surrogatepass"))
    text = document.text
    start = min(int(asked.get("start", 0)), len(text))
    end = min(int(asked.get("end", len(text))), len(text), start + MOST_CHARACTERS)
    told = f"Characters {thousands(start)} to {thousands(end)} of {thousands(len(text))}"
    more = f"; the rest begins at ?start={end}" if end < len(text) else ""
    head = "\n".join(filter(None, (shown_id(document.id), as_line(document.title))))
    shown = quoted([Quotation(head, "document"), Quotation(text[start:end], "text")])
    return ResourceText(answer_text(*shown, f"{told}{more}."))


class PromptField(NamedTuple):
    """What a prompt is filled with."""

    name: str
    description: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class AssistantPrompt:
    """Something to begin a conversation with."""

    name: str
    title: str
    description: str
    fields: tuple[PromptField, ...]
    wording: str
    """The name of its file among the prompts of the package."""


_BUDGET = PromptField(
    "budget", f"most tokens of the passages; usually {thousands(USUAL_BUDGET)}", False
)
PROMPTS = (
    AssistantPrompt(
        "ask", "Answer with citations",
        "Passages that were found for a question, and the wish for an answer in which every sentence cites one.",
        (PromptField("question", "what you want to know"), _BUDGET), "assistant_answer",
    ),
    AssistantPrompt(
        "check", "Check an answer",
        "Passages that were found for an answer, and the wish to have it checked against them sentence by sentence.",
        (PromptField("answer", "the text that is to be checked"), _BUDGET), "assistant_check",
    ),
)  # fmt: skip


def filled_prompt(
    workspace: Workspace, name: str, values: Mapping[str, str], call: ToolCall
) -> tuple[AssistantPrompt, str]:
    """The wording with passages of the index in it, between marks."""
    prompt = next((each for each in PROMPTS if each.name == name), None)
    if prompt is None:
        raise UnknownName(
            f"no prompt is named {as_line(name, 60)!r}; there are: {', '.join(each.name for each in PROMPTS)}"
        )
    known = [each.name for each in prompt.fields]
    for given in values:
        if given not in known:
            raise InvalidParameter(
                f"the prompt {name} takes no {as_line(given, 60)!r}; it takes {', '.join(known)}"
            )
    subject = values.get(known[0], "").strip()
    if not subject:
        raise InvalidParameter(f"{known[0]} is missing; the prompt {name} needs it")
    budget = values.get("budget", "").strip() or str(USUAL_BUDGET)
    if not re.fullmatch("[0-9]{1,5}", budget) or not 1 <= int(budget) <= 20_000:
        raise InvalidParameter(
            f"budget is {as_line(budget, 60)!r}; a whole number from 1 to 20000 is needed"
        )
    with workspace.index(call) as index:
        hits = index.search(subject, budget=int(budget))
    shown = {known[0]: fenced(as_data(subject), known[0]) if name == "check" else as_data(subject)}
    system, user = load_prompt(prompt.wording).filled(
        passages=_passages(hits), count=str(len(hits)), **shown
    )
    return prompt, f"{system}\n\n{user}"


def _standing(hit: Hit) -> str:
    """Where it stands; of a summary all that it summarises."""
    places = [(shown_id(each.doc_id), f"{each.start} to {each.end}") for each in hit.places]
    if len(places) == 1:
        ((id, characters),) = places
        return f"document: {id}\ncharacters: {characters}"
    told = (f"{id}, characters {characters}" for id, characters in places)
    return "\n".join(["summary of:", *(f"- {each}" for each in told)])


def _passages(hits: Sequence[Hit]) -> str:
    if not hits:
        return "No passage was found."
    return "\n\n".join(
        fenced(
            as_data(f"{_standing(hit)}\n---\n{hit.shown}"),
            "passage", number,
        )
        for number, hit in enumerate(hits, 1)
    )  # fmt: skip
