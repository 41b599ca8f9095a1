"""What an address of the API is: its parameters and its answer are declared once; requests and OpenAPI read them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from chunkwise.studio.accounts import Role
from chunkwise.studio.read_request import read_body, read_parameters

if TYPE_CHECKING:
    from chunkwise.report.views.view import View
    from chunkwise.studio.project import Project


_IN_PATH = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class ApiEndpoint:
    """One address under /api: GET reads, POST has a body of JSON and may change something."""

    path: str
    """As OpenAPI writes it: /api/documents/{number}."""
    summary: str
    answer: Callable[[Project, Any], View]
    takes: type
    """A frozen dataclass: fields that the path names, and those of the query."""
    gives: type[View]
    method: Literal["GET", "POST"] = "GET"
    role: Role | None = None
    """Who may ask; None: readers for GET, labellers for POST."""
    units: float = 0.0
    """What it costs of the units that a caller has a minute; a search is 1."""

    @property
    def needs(self) -> Role:
        return self.role or ("reader" if self.method == "GET" else "labeller")

    @property
    def in_path(self) -> tuple[str, ...]:
        return tuple(_IN_PATH.findall(self.path))

    def read(self, path: Mapping[str, str], query: Sequence[tuple[str, str]]) -> Any:
        """The parameters of a request; what is unknown, no number, or out of bounds is an error that says so."""
        return read_parameters(self.takes, path, query)

    def read_body(self, path: Mapping[str, str], body: bytes) -> Any:
        """The same from an object of JSON, beside what the path holds."""
        return read_body(self.takes, path, body)
