"""What every view is: plain frozen values that go to JSON and come back; and the parts that several views share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from chunkwise.base.own_files import PAGE_FORMAT
from chunkwise.records.json import json_text

if TYPE_CHECKING:
    from chunkwise.evaluation.results import Json

PAGE_VERSION = 1
"""Of the form of a page as data."""


@dataclass(frozen=True, slots=True)
class View:
    """What one page, fragment or terminal shows."""

    page_template: ClassVar[str] = ""
    """Of the whole page; empty: it has none."""
    fragment_template: ClassVar[str] = ""
    """Of the element that a notebook shows."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: fields by their names, lists for tuples."""
        found: dict[str, Any] = json.loads(json_text(self))
        return found

    def to_page_dict(self) -> dict[str, Any]:
        """The same behind what it is, as a page is written: nobody takes such a file for a document."""
        about = {"format": PAGE_FORMAT, "version": PAGE_VERSION, "view": type(self).__name__}
        return {**about, **self.to_dict()}


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure, large, with what it is below."""

    value: str
    name: str
    metric: str = ""
    """What the name begins with, where that is a metric."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A setting, a version, a hash."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class ValueTable:
    """Settings that belong together."""

    title: str
    values: tuple[NamedValue, ...]


def value_tables(**tables: Mapping[str, Json] | Mapping[str, str]) -> tuple[ValueTable, ...]:
    """A table a title, in their order; those without a value are left out."""
    return tuple(
        ValueTable(title, tuple(NamedValue(*each) for each in _flat("", dict(values))))
        for title, values in tables.items()
        if values
    )


def _flat(name: str, value: Json) -> Iterator[tuple[str, str]]:
    """Nested values by their path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{name} › {key}" if name else str(key), inner)
    elif isinstance(value, list):
        yield name, ", ".join(shown for each in value for _, shown in _flat("", each)) or "none"
    else:
        yield name, "none" if value is None or value == "" else str(value)
