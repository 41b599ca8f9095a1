"""Jupyter notebooks (.ipynb): text cells as Markdown, code cells as fenced code, printed results; no pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.markdown import markdown_title
from chunkwise.documents.loader import LoadOptions, OnUnreadable, SuffixLoader, text_in
from chunkwise.documents.source import Source
from chunkwise.records.json import json_problem, parse_json, without_half_characters

_LONGEST_RESULT = 2_000
"""Characters; a longer result is a log or a table of numbers, and is passed over."""
_PICTURE = re.compile(r"\((?:data:[^()\s]*|attachment:[^()\s]*)\)")
_PICTURE_TYPE = re.compile(r"(?:image|video|audio)/|(?:png|jpeg|svg)\Z")
_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_BACKTICKS = re.compile(r"`{3,}")
_DEEPEST_HEADING = 6
Lines = str | list[str]


class _Cell(msgspec.Struct):
    cell_type: str = ""
    source: Lines = ""
    input: Lines = ""
    """The source before version 4."""
    level: int = 1
    outputs: list[dict[str, Any]] = []


class _Language(msgspec.Struct):
    name: str = ""


class _Metadata(msgspec.Struct):
    language_info: _Language = msgspec.field(default_factory=_Language)


class _Notebook(msgspec.Struct):
    cells: list[_Cell] | None = None
    worksheets: list[_Notebook] = []
    """What holds the cells before version 4."""
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class NotebookLoader(SuffixLoader):
    """By suffix, of any version of the format."""

    suffixes: tuple[str, ...] = (".ipynb",)
    guarded = False

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        from chunkwise.text.analyzed import Analyzed

        text = text_in(source, options)
        try:
            notebook = msgspec.convert(parse_json(text.removeprefix("\ufeff")), _Notebook)
        except (ValueError, RecursionError) as error:
            raise UnreadableDocument(
                source.origin, f"not a notebook: {json_problem(error)}"
            ) from error
        sheets = [sheet.cells for sheet in notebook.worksheets or [notebook]]
        if all(cells is None for cells in sheets):
            raise UnreadableDocument(source.origin, "not a notebook: no cells")
        named = notebook.metadata.language_info.name
        language = named if re.fullmatch(r"[\w+#.-]{1,30}", named) else ""
        parts = [
            part for cells in sheets for cell in cells or () for part in _parts(cell, language)
        ]
        written = without_half_characters("\n\n".join(parts))
        blocks = Analyzed(Document(source.id, written, format="markdown")).blocks
        yield Document(
            source.id,
            written,
            title=markdown_title(written),
            source=source.origin,
            format="notebook",
            blocks=tuple(blocks),
        )


def _parts(cell: _Cell, language: str) -> Iterator[str]:
    text = _joined(cell.source or cell.input).strip("\n")
    if cell.cell_type == "code":
        if text.strip():
            yield _fenced(text, language)
        for output in cell.outputs:
            result = _COLOR.sub("", _printed(output)).strip("\n")
            if result.strip() and len(result) <= _LONGEST_RESULT:
                yield _fenced(result, "")
    elif cell.cell_type == "heading":  # before version 4
        signs = "#" * (cell.level if 0 < cell.level <= _DEEPEST_HEADING else 1)
        yield f"{signs} {' '.join(text.split())}"
    elif text.strip():
        yield _PICTURE.sub("()", text)


def _joined(value: object) -> str:
    """A text, or the list of its lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _fenced(text: str, language: str) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _printed(output: Mapping[str, Any]) -> str:
    """The text of a result; that of a picture only names the picture."""
    data = output.get("data", output)
    is_result = output.get("output_type") in ("stream", "pyout", "display_data", "execute_result")
    if not is_result or not isinstance(data, dict) or any(map(_PICTURE_TYPE.match, data)):
        return ""
    return _joined(data.get("text/plain", data.get("text")))
