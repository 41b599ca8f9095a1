"""OpenDocument: texts (.odt), sheets (.ods) and slides (.odp); no pictures, no deleted text, no remarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.block_builder import Layout, SheetRows, small_integer
from chunkwise.documents.formats.untrusted_xml import ZipParts, local_name, own_attribute
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source

if TYPE_CHECKING:
    from lxml.etree import _Element

_CONTENT = "content.xml"
_MANIFEST = "META-INF/manifest.xml"
_SKIPPED = frozenset(
    "tracked-changes annotation annotation-end table-of-content alphabetical-index user-index sequence-decls forms "
    "header footer event-listeners script image plugin ruby-text table-column".split()
)
_DEEPEST_ITEM = 8
_MOST_SPACES = 100
_MOST_REPEATED = 100
"""Times a filled cell is written that stands for many."""


class OdtLoader:
    """A zip whose `mimetype` says OpenDocument."""

    suffixes: tuple[str, ...] = (".odt", ".ott", ".ods", ".odp")
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        if not head.startswith(b"PK\x03\x04"):
            return False
        return (
            suffix_of(name) in self.suffixes or b"application/vnd.oasis.opendocument" in head[:200]
        )

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        parts = ZipParts(source.read(options.max_bytes), source.origin, "OpenDocument file")
        if _MANIFEST in parts and b"encryption-data" in parts.read(_MANIFEST):
            raise UnreadableDocument(source.origin, "encrypted; save it without its password")
        root = parts.xml(_CONTENT)
        text = _OdtText(_numbered_styles(root) | _styles_of(parts))
        for body in root.iterchildren("{*}body"):
            text.read(body)
        own = parts.title("meta.xml")
        yield Document(
            source.id,
            text.layout.text,
            title=own or text.title,
            source=source.origin,
            format=suffix_of(source.name).lstrip(".")
            if suffix_of(source.name) in self.suffixes
            else "odt",
            blocks=tuple(text.layout.blocks),
            pages=tuple(text.pages),
        )


def _styles_of(parts: ZipParts) -> set[tuple[str, int]]:
    return _numbered_styles(parts.xml("styles.xml")) if "styles.xml" in parts else set()


def _numbered_styles(root: _Element) -> set[tuple[str, int]]:
    """Names and levels, from 0, of the lists that have numbers."""
    return {
        (own_attribute(style, "name"), small_integer(own_attribute(level, "level"), 1) - 1)
        for style in root.iter("{*}list-style")
        for level in style.iterchildren("{*}list-level-style-number")
    }


class _OdtText:
    """`layout`, `title` and `pages` are the result."""

    def __init__(self, numbered: set[tuple[str, int]]) -> None:
        self.layout = Layout()
        self.title = ""
        self.pages: list[int] = []
        self._numbered = numbered

    def read(self, body: _Element) -> None:
        """Blocks below `body`, in order; wrappers such as sections are looked into."""
        pending = list(reversed(body))
        while pending:
            element = pending.pop()
            name = local_name(element)
            if name == "h":
                level = small_integer(own_attribute(element, "outline-level"), 1) or 1
                self._block(element, "heading", level)
            elif name == "p":
                for box in reversed(self._block(element, "paragraph")):
                    pending.extend(reversed(box))
            elif name == "list":
                self._list(element)
            elif name == "table":
                self._table(element)
            elif name == "page":
                self._page(element)
                pending.extend(
                    each for each in reversed(element) if own_attribute(each, "class") != "title"
                )
            elif name == "notes":
                if any(paragraph_text(each)[0].strip() for each in element.iter("{*}p")):
                    self.layout.add("heading", "Notes", level=2)
                    pending.extend(reversed(element))
            elif name not in _SKIPPED:
                pending.extend(reversed(element))

    def _page(self, page: _Element) -> None:
        titles = [each for each in page if own_attribute(each, "class") == "title"]
        words = " ".join(
            " ".join(paragraph_text(each)[0].split())
            for title in titles
            for each in title.iter("{*}p")
        ).strip()
        self.title = self.title or words
        self.layout.add("heading", words or f"Slide {len(self.pages) + 1}", level=1)
        self.pages.append(self.layout.blocks[-1].start)

    def _block(self, element: _Element, kind: str, level: int = 0) -> list[_Element]:
        text, boxes = paragraph_text(element)
        text = text.strip()
        if text and kind == "heading":
            self.layout.add("heading", " ".join(text.split()), level=level)
        elif text:
            if own_attribute(element, "style-name") == "Title" and not self.title:
                self.title = " ".join(text.split())
            self.layout.add("paragraph", text)
        return boxes

    def _list(self, outer: _Element) -> None:
        """A list with those in it, of any depth."""
        group = self.layout.new_group()
        style = own_attribute(outer, "style-name")
        pending: list[tuple[_Element, int, str]] = [(outer, 0, "")]
        while pending:
            element, level, marker = pending.pop()
            name = local_name(element)
            if name == "list":
                style = own_attribute(element, "style-name") or style
                numbered = (style, level) in self._numbered
                items = [
                    each for each in element if local_name(each) in ("list-item", "list-header")
                ]
                for number, item in reversed(list(enumerate(items, 1))):
                    sign = f"{number}. " if numbered else "- "
                    pending.append((item, level, sign))
            elif name in ("list-item", "list-header"):
                parts = [each for each in element if local_name(each) in ("p", "h", "list")]
                for at, part in reversed(list(enumerate(parts))):
                    deeper = local_name(part) == "list"
                    pending.append((part, level + deeper, "" if at or deeper else marker))
            elif name == "h":
                self._block(
                    element,
                    "heading",
                    small_integer(own_attribute(element, "outline-level"), 1) or 1,
                )
            elif text := paragraph_text(element)[0].strip():
                depth = min(level, _DEEPEST_ITEM)
                indent = "  " * depth + ("" if marker else "  ")
                hanging = "\n" + indent + " " * len(marker)
                self.layout.add(
                    "item",
                    marker + hanging.join(text.split("\n")),
                    level=depth,
                    group=group,
                    indent=indent,
                )

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
                words = " ".join(
                    " ".join(paragraph_text(each)[0].split()) for each in cell.iter("{*}p")
                ).strip()
                if words:
                    for at in range(column, column + min(times, _MOST_REPEATED)):
                        cells[at] = words
                column += times
            rows.add(number, cells)
        rows.end()


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
            notes = [
                " ".join("".join(body.itertext()).split()) for body in each.iter("{*}note-body")
            ]
            parts.append(f" [{' '.join(notes)}]")
        elif name == "text-box":
            boxes.append(each)
        elif name not in _SKIPPED:
            parts.append(each.text or "")  # that of an entity is as it is written
            pending.extend(_with_tails(each))
    # White space of the file is layout of the file; that of the text is written as elements.
    return "".join(parts).replace("\r", ""), boxes


def _with_tails(element: _Element) -> list[_Element | str]:
    """Children and the texts behind them, the last first."""
    found: list[_Element | str] = []
    for child in element:
        found += (child, child.tail or "")
    found.reverse()
    return found
