"""A report: what a verb found, as plain values; four renderers show the same one.

A verb's report is built by one function from its result. Numbers stay numbers here: how they are written is decided by
the kind of their column (`format_values`), the same in terminal, page, Markdown and JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from chunkwise.base.wording import Kind

Level: TypeAlias = Literal["good", "tie", "bad", ""]


class _Value(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """Base of all values of a report; its JSON names its kind in `type`."""


class Estimate(_Value, frozen=True, tag="estimate"):
    """A mean with its 95% confidence interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


class Badge(_Value, frozen=True, tag="badge"):
    """A short verdict with a sign and a color."""

    text: str
    level: Level = ""


Value: TypeAlias = str | int | float | Estimate | Badge | tuple[str, ...] | None
"""Of a cell; a tuple holds tags, such as the types of a question."""


class Column(_Value, frozen=True, tag="column"):
    """A table column."""

    title: str
    kind: Kind = "text"
    is_drawn: bool = False
    """A page draws it on a line from 0 to 1, with its interval."""
    is_filter: bool = False
    """A page filters by its values."""
    detail: bool = False
    """A terminal has no room for it."""


class Headline(_Value, frozen=True, tag="headline"):
    """What came out, in a sentence."""

    text: str
    level: Level = ""


class Note(_Value, frozen=True, tag="note"):
    """A caveat, hint or explanation."""

    text: str
    is_warning: bool = False
    detail: bool = False


class KeyFigure(_Value, frozen=True, tag="figure"):
    """One of the key metrics."""

    title: str
    value: Value
    kind: Kind = "text"
    note: str = ""


class KeyFigures(_Value, frozen=True, tag="figures"):
    """A few key metrics."""

    figures: tuple[KeyFigure, ...]
    detail: bool = False


class ValueTable(_Value, frozen=True, tag="table"):
    """A table with typed columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    title: str = ""
    noun: str = ""
    """What a row is; a page with many of them can be searched, sorted and filtered."""
    details: tuple[tuple[ReportPart, ...], ...] = ()
    """What a row opens to on a page: as many as there are rows, or none."""
    brief_rows: int = 10
    """Rows that a terminal shows unless all are asked for."""
    detail: bool = False


class TextRun(_Value, frozen=True, tag="run"):
    """A part of a passage with its kind of mark."""

    text: str
    mark: Literal["", "gold", "match", "repeated", "cut"] = ""


class Excerpt(_Value, frozen=True, tag="excerpt"):
    """Text of a document, with marked spans."""

    runs: tuple[TextRun, ...]
    title: str = ""
    place: str = ""
    """Where it lies, and what is said of it."""
    level: Level = ""
    detail: bool = False


class Code(_Value, frozen=True, tag="code"):
    """Code to copy."""

    text: str
    title: str = ""
    detail: bool = False


class Point(_Value, frozen=True, tag="point"):
    """A point of a chart; `x` is a number or a category."""

    x: float | str
    y: Estimate
    label: str = ""
    """Written beside it."""
    level: Level = ""


class Series(_Value, frozen=True, tag="series"):
    """A series of points."""

    name: str
    points: tuple[Point, ...]
    is_line: bool = False
    """Its marks are joined."""
    is_faint: bool = False
    """Many small marks, behind the others."""


class Axis(_Value, frozen=True, tag="axis"):
    """An axis of a chart."""

    title: str
    kind: Kind = "text"


class Edge(_Value, frozen=True, tag="edge"):
    """Two categories that belong together, and how strongly."""

    one: str
    other: str
    value: float


class Chart(_Value, frozen=True, tag="chart"):
    """A chart.

    `columns` are drawn per category, `rows` beside them with their intervals, `lines` join marks over categories or
    numbers, `points` lie over numbers, a `network` joins categories that are linked.
    """

    title: str
    shape: Literal["columns", "rows", "lines", "points", "network"]
    x: Axis
    """Of the categories where there are any."""
    y: Axis
    series: tuple[Series, ...]
    links: tuple[Edge, ...] = ()
    """Of a network, the strongest first; its series has the categories."""
    is_half: bool = False
    """Half as wide as a page."""
    detail: bool = True


class Section(_Value, frozen=True, tag="section"):
    """Parts under a heading."""

    title: str
    parts: tuple[ReportPart, ...]
    lead: str = ""
    is_folded: bool = False
    """A page shows its title alone until it is opened."""
    is_beside: bool = False
    """Its parts stand beside each other where there is room."""
    detail: bool = False


class Next(_Value, frozen=True, tag="next"):
    """The next command."""

    command: str


ReportPart: TypeAlias = (
    Headline | Note | KeyFigures | ValueTable | Excerpt | Code | Chart | Section | Next
)


class Report(_Value, frozen=True, tag="report"):
    """The report of a verb."""

    title: str
    parts: tuple[ReportPart, ...]
    kind: str = "report"
    """The verb."""
    subtitle: str = ""


def all_parts(parts: Iterable[ReportPart]) -> Iterator[ReportPart]:
    """Every part, those inside sections and behind rows as well."""
    for part in parts:
        yield part
        if isinstance(part, Section):
            yield from all_parts(part.parts)
        elif isinstance(part, ValueTable):
            for details in part.details:
                yield from all_parts(details)


def settings_table(title: str, settings: Mapping[str, Any]) -> ValueTable:
    """Names and values that belong together, nested ones by their path."""
    rows = tuple((name, value) for name, value in _flat("", settings))
    return ValueTable((Column(""), Column("", "code")), rows, title, detail=True)


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name} › {key}" if name else str(key), inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield name, ", ".join(text for each in value for _, text in _flat("", each)) or "none"
    else:
        yield name, "none" if value in (None, "") else str(value)
