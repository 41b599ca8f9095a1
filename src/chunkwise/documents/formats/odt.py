"""OpenDocument: texts (.odt), sheets (.ods) and slides (.odp); no pictures, no deleted text, no remarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.block_builder import Layout, SheetRows, small_integer
from chunkwise.documents.formats.untrusted_xml import (
    ZipLoader,
    ZipParts,
    local_name,
    own_attribute,
    xml_words,
)
from chunkwise.documents.loader import OnUnreadable, suffix_of
from chunkwise.documents.source import Source

if TYPE_CHECKING:
    from lxml.etree import _Element

_CONTENT = "content.xml"
_STYLES = "styles.xml"
_MANIFEST = "META-INF/manifest.xml"
_SKIPPED = frozenset(
    "tracked-changes annotation annotation-end table-of-content alphabetical-index user-index "
    "sequence-decls forms "
    "header footer event-listeners script image plugin ruby-text table-column".split()
)
_MOST_SPACES = 100
_MOST_REPEATED = 100
"""Times a filled cell is written that stands for many."""


class OdtLoader(ZipLoader):
    """A zip whose `mimetype` says OpenDocument."""

    suffixes = (".odt", ".ott", ".ods", ".odp")
    signs = (b"application/vnd.oasis.opendocument",)
    what = "OpenDocument file"

    def read(self, parts: ZipParts, source: Source, on_unreadable: OnUnreadable) -> Document:
        if _MANIFEST in parts and b"encryption-data" in parts.read(_MANIFEST):
            raise UnreadableDocument(source.origin, "encrypted; save it without a password")
        roots = [
            parts.xml(path) for path in (_CONTENT, _STYLES) if path == _CONTENT or path in parts
        ]
        text = _OdtText(roots)
        suffix = suffix_of(source.name)
        return text.layout.document(
            source,
            suffix.removeprefix(".") if suffix in self.suffixes else "odt",
            title=parts.title("meta.xml") or text.title,
            pages=tuple(text.pages),
        )


class _OdtText:
    """`layout`, `title` and `pages` are the result."""

    def __init__(self, roots: Sequence[_Element]) -> None:
        self.layout = Layout()
        self.title = ""
        self.pages: list[int] = []
        self._numbered = {
            (own_attribute(style, "name"), small_integer(own_attribute(level, "level"), 1) - 1)
            for root in roots
            for style in root.iter("{*}list-style")
            for level in style.iterchildren("{*}list-level-style-number")
        }
        """Names and levels, from 0, of the lists that have numbers."""
        for body in roots[0].iterchildren("{*}body"):
            self._read(body)

    def _read(self, body: _Element) -> None:
        """Blocks below `body`, in order; wrappers such as sections are looked into."""
        pending = list(reversed(body))
        while pending:
            element = pending.pop()
            name = local_name(element)
            if name in ("h", "p"):
                for box in reversed(self._block(element)):
                    pending.extend(reversed(box))
            elif name == "list":
                self._list(element)
            elif name == "table":
                self._table(element)
            elif name == "page":
                titles = [each for each in element if own_attribute(each, "class") == "title"]
                words = " ".join(filter(None, map(_words, titles)))
                self.title = self.title or words
                self.layout.add("heading", words or f"Slide {len(self.pages) + 1}", level=1)
                self.pages.append(self.layout.blocks[-1].start)
                pending.extend(each for each in reversed(element) if each not in titles)
            elif name == "notes":
                if _words(element):
                    self.layout.add("heading", "Notes", level=2)
                    pending.extend(reversed(element))
            elif name not in _SKIPPED:
                pending.extend(reversed(element))

    def _block(self, element: _Element) -> list[_Element]:
        """Add a heading or a paragraph; the text boxes anchored in it are what is left to read."""
        text, boxes = paragraph_text(element)
        line = " ".join(text.split())
        if line and local_name(element) == "h":
            level = small_integer(own_attribute(element, "outline-level"), 1) or 1
            self.layout.add("heading", line, level=level)
        elif line:
            if own_attribute(element, "style-name") == "Title":
                self.title = self.title or line
            self.layout.add("paragraph", text.strip())
        return boxes

    def _list(self, outer: _Element) -> None:
        """A list with those in it, of any depth."""
        group = self.layout.new_group()
        pending = [(outer, 0, "", own_attribute(outer, "style-name"))]
        while pending:
            element, level, marker, style = pending.pop()
            name = local_name(element)
            inner: list[tuple[_Element, int, str, str]] = []
            if name == "list":
                style = own_attribute(element, "style-name") or style
                numbered = (style, level) in self._numbered
                for number, item in enumerate(_children(element, "list-item", "list-header"), 1):
                    inner.append((item, level, f"{number}. " if numbered else "- ", style))
            elif name in ("list-item", "list-header"):
                for at, part in enumerate(_children(element, "p", "h", "list")):
                    deeper = local_name(part) == "list"
                    inner.append((part, level + deeper, "" if at or deeper else marker, style))
            elif name == "h":
                self._block(element)
            elif text := paragraph_text(element)[0].strip():
                self.layout.add_item(marker, text, level=level, group=group)
            pending += reversed(inner)

    def _table(self, table: _Element) -> None:
        sheet = local_name(table.getparent()) == "spreadsheet"
        rows = SheetRows(self.layout, own_attribute(table, "name") if sheet else "")
        number = 0
        for row in table.iter("{*}table-row"):
            if next(row.iterancestors("{*}table")) is not table:
                continue  # of a table in a cell, whose words are those of the cell
            number += small_integer(own_attribute(row, "number-rows-repeated"), 1) or 1
            cells: dict[int, str] = {}
            column = 0
            for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
                times = small_integer(own_attribute(cell, "number-columns-repeated"), 1) or 1
                if words := _words(cell):
                    for at in range(column, column + min(times, _MOST_REPEATED)):
                        cells[at] = words
                column += times
            rows.add(number, cells)
        rows.end()


def _children(element: _Element, *names: str) -> Iterator[_Element]:
    return element.iterchildren(*(f"{{*}}{name}" for name in names))


def _words(element: _Element) -> str:
    """The texts of all paragraphs below it on one line."""
    return " ".join(" ".join(paragraph_text(each)[0] for each in element.iter("{*}p")).split())


def paragraph_text(paragraph: _Element) -> tuple[str, list[_Element]]:
    """The text of a paragraph, its notes in brackets, and the text boxes anchored in it."""
    parts: list[str] = [paragraph.text or ""]
    boxes: list[_Element] = []
    pending: list[_Element | str] = _with_tails(paragraph)
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            parts.append(each)
            continue
        name = local_name(each)
        if name == "s":
            parts.append(" " * min(small_integer(own_attribute(each, "c"), 1), _MOST_SPACES))
        elif name == "tab":
            parts.append("\t")
        elif name == "line-break":
            parts.append("\n")
        elif name == "note":
            parts.append(f" [{' '.join(map(xml_words, each.iter('{*}note-body')))}]")
        elif name == "text-box":
            boxes.append(each)
        elif name not in _SKIPPED:
            parts.append(each.text or "")  # that of an entity is as it is written
            pending.extend(_with_tails(each))
    # White space of the file is layout of the file; that of the text is written as elements.
    return "".join(parts).replace("\r", ""), boxes


def _with_tails(element: _Element) -> list[_Element | str]:
    """Children and the texts behind them, the last first."""
    tails: list[_Element | str] = []
    for child in element:
        tails += (child, child.tail or "")
    tails.reverse()
    return tails
