"""Workbooks (.xlsx): a section a sheet, its cells as tables; what a cell shows, not how it is computed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from chunkwise.core import Document
from chunkwise.documents.formats.block_builder import Layout, SheetRows, small_integer
from chunkwise.documents.formats.untrusted_xml import (
    ZipLoader,
    ZipParts,
    local_name,
    relation_id,
    xml_text,
)
from chunkwise.documents.loader import OnUnreadable
from chunkwise.documents.source import Source

if TYPE_CHECKING:
    from lxml.etree import _Element

_WORKBOOK = "xl/workbook.xml"
_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
"""Numbers of the formats for dates and times that every workbook has."""
_LONGEST_FORMAT = 500
_PERCENT = frozenset({9, 10})
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')
_COLUMN = re.compile(r"([A-Za-z]{1,3})\d*")
_LAST_DAY = 2_958_466
"""Of the year 9999; a larger number is no date."""


class XlsxLoader(ZipLoader):
    """A zip with `xl/` in it."""

    suffixes = (".xlsx", ".xlsm")
    signs = (b"xl/worksheets",)
    what = "workbook"

    def read(self, parts: ZipParts, source: Source, on_unreadable: OnUnreadable) -> Document:
        layout = Layout()
        cells = _Cells(parts)
        for name, path in _sheets(parts):
            rows = SheetRows(layout, name)
            for row in parts.elements(path, "row"):
                rows.add(small_integer(row.get("r"), None), dict(cells.of(row)))
            rows.end()
        return layout.document(source, "xlsx", title=parts.title("docProps/core.xml"))


def _sheets(parts: ZipParts) -> Iterator[tuple[str, str]]:
    """Names and paths, without those only a program can show."""
    links = parts.links(_WORKBOOK)
    for sheet in parts.xml(_WORKBOOK).iter("{*}sheet"):
        link = links.get(relation_id(sheet))
        shown = sheet.get("state") != "veryHidden"
        if shown and link is not None and link.kind == "worksheet" and link.path in parts:
            yield " ".join((sheet.get("name") or "").split()), link.path


class _Cells:
    """What cells show, by the workbook's texts and formats."""

    def __init__(self, parts: ZipParts) -> None:
        links = {link.kind: link.path for link in parts.links(_WORKBOOK).values()}
        texts = links.get("sharedStrings", "")
        self._texts = (
            [_text(element) for element in parts.elements(texts, "si")] if texts in parts else []
        )
        styles = links.get("styles", "")
        self._formats = _formats(parts.xml(styles)) if styles in parts else []
        properties = next(parts.xml(_WORKBOOK).iter("{*}workbookPr"), None)
        from_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self._first_day = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30)

    def of(self, row: _Element) -> Iterator[tuple[int, str]]:
        """Columns, from 0, and their texts, of cells that have one."""
        column = -1
        for cell in row.iterchildren("{*}c"):
            place = _COLUMN.match(cell.get("r") or "")
            column = _number(place[1]) if place else column + 1
            text = self._shown(cell)
            if text:
                yield column, text

    def _shown(self, cell: _Element) -> str:
        kind = cell.get("t") or "n"
        if kind == "inlineStr":
            return " ".join(_text(cell).split())
        value = next((xml_text(each) for each in cell.iterchildren("{*}v")), "")
        if kind == "s":
            number = small_integer(value, None)
            known = number is not None and number < len(self._texts)
            return " ".join(self._texts[number].split()) if known and number is not None else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind != "n" or not value:
            return " ".join(value.split())
        style = small_integer(cell.get("s"), 0)
        return self._figure(value, self._formats[style] if style < len(self._formats) else "")

    def _figure(self, value: str, shown_as: str) -> str:
        try:
            number = float(value)
        except ValueError:
            return value.strip()
        if shown_as == "%":
            return f"{number * 100:.10g}%"
        moment = self._moment(number) if shown_as else None
        if moment is not None:
            if number < 1:
                return f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
            return (
                f"{moment:%Y-%m-%d %H:%M}" if moment.hour or moment.minute else f"{moment:%Y-%m-%d}"
            )
        return f"{number:.15g}" if len(value) > 15 or "e" in value.lower() else value.strip()

    def _moment(self, number: float) -> datetime | None:
        """None of what is no date that a calendar has."""
        if not 0 <= number < _LAST_DAY:
            return None
        try:
            return self._first_day + timedelta(seconds=round(number * 86_400))
        except OverflowError:  # days from 1904 on, and the last second of all
            return None


def _number(letters: str) -> int:
    """0 of A, 26 of AA."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def _text(element: _Element) -> str:
    """Of a shared or inline text: its runs, without the hints how it is pronounced."""
    words: list[str] = []
    pending = list(reversed(element))
    while pending:
        each = pending.pop()
        name = local_name(each)
        if name == "t":
            words.append(xml_text(each))
        elif name != "rPh":
            pending.extend(reversed(each))
    return "".join(words)


def _formats(styles: _Element) -> list[str]:
    """Of each style of cells: "date", "%", or nothing of the kind."""
    own = {
        small_integer(each.get("numFmtId"), -1): each.get("formatCode") or ""
        for each in styles.iter("{*}numFmt")
    }
    formats: list[str] = []
    for kinds in styles.iter("{*}cellXfs"):
        for style in kinds.iterchildren("{*}xf"):
            id = small_integer(style.get("numFmtId"), 0)
            code = _QUOTED.sub("", own.get(id, "")[:_LONGEST_FORMAT])
            if id in _DATES or re.search(r"[dyhs]", code, re.IGNORECASE):
                formats.append("date")
            else:
                formats.append("%" if id in _PERCENT or "%" in code else "")
        break
    return formats
