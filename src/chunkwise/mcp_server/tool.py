"""What a tool is: arguments and answer are declared once, as dataclasses; schemas and checks are made of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from chunkwise.base.parameters import param
from chunkwise.mcp_server.workspace import ToolCall, Workspace
from chunkwise.records.json import json_text
from chunkwise.studio.limited_requests import limited
from chunkwise.studio.openapi import answer_schema, arguments_schema
from chunkwise.studio.read_request import read_arguments


class ToolAnswer(NamedTuple):
    """For the model that reads, and for the program around it."""

    text: str
    values: object
    """A dataclass, of the class that the tool declares."""

    @property
    def structured(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(json_text(self.values))
        return found


@dataclass(frozen=True, slots=True)
class AssistantTool:
    """Something an assistant may do."""

    name: str
    title: str
    description: str
    takes: type
    """A frozen dataclass of `param` fields."""
    gives: type
    work: Callable[[Workspace, Any, ToolCall], ToolAnswer]
    writes: bool = False
    """Whether it is there only where writing is allowed."""

    @property
    def input_schema(self) -> dict[str, Any]:
        return arguments_schema(self.takes)

    @property
    def output_schema(self) -> dict[str, Any]:
        return answer_schema(self.gives)

    def run(self, workspace: Workspace, arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
        """An error says what is wrong with the arguments, and what is allowed."""
        # Whoever calls may be a model that reads documents: texts of the request are marked, so that no code, file or
        # server that they name is followed.
        request = read_arguments(self.takes, arguments, f"the tool {self.name}")
        if (
            self.writes
        ):  # an index is brought up to date as the command does it, however long that takes
            return self.work(workspace, request, call)
        return limited(lambda: self.work(workspace, request, call))


def strategy_param() -> Any:
    return param(
        "", 'how texts are cut, as "name(parameter=value)", such as sentences(max_tokens=200)'
    )


def retriever_param() -> Any:
    return param(
        "",
        "bm25, dense, hybrid, multiscale, graph or communities; empty: what suits the index and the budget",
    )


WHERE = (
    "conditions on the metadata of documents, all of which hold: year=2024, lang in de,en, price>=10, draft exists, "
    "year>=2023 and (lang=de or not draft=true)"
)
