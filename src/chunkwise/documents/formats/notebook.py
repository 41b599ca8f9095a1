"""Jupyter notebooks (.ipynb): text cells as Markdown, code cells as fenced code, printed results; no pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.markdown import markdown_title
from chunkwise.documents.loader import LoadOptions, OnUnreadable, SuffixLoader, text_in
from chunkwise.documents.source import Source
from chunkwise.records.json import json_problem, parse_json, without_half_characters

_LONGEST_RESULT = 2_000
"""Characters; a longer result is a log or a table of numbers, and is passed over."""
_PICTURE = re.compile(r"\((?:data:[^()\s]*|attachment:[^()\s]*)\)")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_BACKTICKS = re.compile(r"`{3,}")
_DEEPEST_HEADING = 6


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
            notebook = parse_json(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            why = f"not valid JSON ({json_problem(error)}), so no notebook"
            raise UnreadableDocument(source.origin, why) from error
        cells = _cells(notebook)
        if cells is None:
            raise UnreadableDocument(source.origin, "no notebook: there are no cells in it")
        language = _language(notebook)
        parts = [part for cell in cells for part in _parts(cell, language)]
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


def _cells(notebook: object) -> list[Mapping[str, object]] | None:
    """Of version 4, or of all sheets of an older one."""
    if not isinstance(notebook, Mapping):
        return None
    sheets = notebook.get("worksheets")
    holders = sheets if isinstance(sheets, list) else [notebook]
    found: list[Mapping[str, object]] = []
    any_cells = False
    for holder in holders:
        cells = holder.get("cells") if isinstance(holder, Mapping) else None
        if isinstance(cells, list):
            any_cells = True
            found += [cell for cell in cells if isinstance(cell, Mapping)]
    return found if any_cells else None


def _language(notebook: object) -> str:
    value: object = notebook
    for key in ("metadata", "language_info", "name"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) and re.fullmatch(r"[\w+#.-]{1,30}", value) else ""


def _parts(cell: Mapping[str, object], language: str) -> Iterator[str]:
    kind = cell.get("cell_type")
    text = _joined(cell.get("source", cell.get("input"))).strip("\n")
    if kind == "code":
        if text.strip():
            yield _fenced(text, language)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            result = _COLOUR.sub("", _printed(output)).strip("\n")
            if result.strip() and len(result) <= _LONGEST_RESULT:
                yield _fenced(result, "")
    elif kind == "heading":  # before version 4
        level = cell.get("level")
        signs = "#" * (level if isinstance(level, int) and 0 < level <= _DEEPEST_HEADING else 1)
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


def _printed(output: object) -> str:
    """The text of a result; that of a picture only names the picture."""
    if not isinstance(output, Mapping):
        return ""
    if output.get("output_type") in ("stream", "pyout", "display_data", "execute_result"):
        data = output.get("data", output)
        if not isinstance(data, Mapping) or any(_is_picture(key) for key in data):
            return ""
        return _joined(data.get("text/plain", data.get("text")))
    return ""


def _is_picture(key: object) -> bool:
    return isinstance(key, str) and (
        key.startswith(("image/", "video/", "audio/")) or key in ("png", "jpeg", "svg")
    )
