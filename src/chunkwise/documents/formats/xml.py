"""XML: titles as headings, paragraphs, lists, tables and listings by their usual names, records as named fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.block_builder import Layout
from chunkwise.documents.formats.untrusted_xml import local_name, xml_root, xml_words
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source

if TYPE_CHECKING:
    from lxml.etree import _Element

_TITLES = frozenset("title head heading bridgehead article-title".split())
_NOT_TITLED = frozenset(
    "figure table informaltable example equation note tip warning important caution fig "
    "table-wrap boxed-text ref "
    "element-citation mixed-citation biblioentry series image channel-image".split()
)
"""Elements whose title is no heading: what stands behind them is not below it."""
_CODE = frozenset("programlisting screen literallayout pre codeblock synopsis listing".split())
_LISTS = frozenset("itemizedlist orderedlist variablelist list ul ol simplelist".split())
_ITEMS = frozenset("listitem li item list-item member varlistentry".split())
_ROWS = frozenset("row tr".split())
_TABLES = frozenset("table informaltable tgroup thead tbody tfoot simpletable".split())
_PARAGRAPHS = frozenset("p para simpara formalpara".split())
_BLOCKS = (
    _TITLES
    | _CODE
    | _LISTS
    | _PARAGRAPHS
    | _TABLES
    | frozenset(
        "section sec sect1 sect2 sect3 sect4 sect5 chapter div blockquote note tip warning div1 div2 div3".split()
    )
)


class XmlLoader:
    """By suffix, or by its declaration where there is none."""

    suffixes: tuple[str, ...] = (
        ".xml", ".dbk", ".docbook", ".dita", ".tei", ".nxml", ".jats", ".fb2", ".rss", ".atom", ".svg",
    )  # fmt: skip
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        if suffix:
            return suffix in self.suffixes
        return head.removeprefix(b"\xef\xbb\xbf").startswith(b"<?xml")

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        root = xml_root(source.read(options.max_bytes))
        if isinstance(root, str):
            why = f"not valid XML ({root}); pass --loader text to read it as text"
            raise UnreadableDocument(source.origin, why)
        text = _XmlText()
        text.read(root, 0)
        if not text.layout.blocks:
            why = "no text in its elements; pass --loader text to read the markup"
            raise UnreadableDocument(source.origin, why)
        yield text.layout.document(source, "xml", title=text.title)


class _XmlText:
    """`layout` and `title` are the result; the parser lets nothing nest deeper than 256."""

    def __init__(self) -> None:
        self.layout = Layout()
        self.title = ""
        self._group = 0

    def read(self, element: _Element, above: int, *, is_record: bool = False) -> None:
        """An element below so many with a title of their own; of a record even a field alone is named."""
        name = local_name(element)
        if name in _CODE:
            text = "".join(element.itertext()).strip("\n").rstrip()
            if text.strip():
                self.layout.add("code", text)
        elif name in _ROWS and local_name(_parent(element)) in _TABLES:
            self._row(element)
        elif name in _LISTS and any(local_name(child) in _ITEMS for child in element):
            self._list(element, self.layout.new_group(), 0)
        elif not _is_container(element):
            self._paragraph(xml_words(element))
        else:
            self._container(element, name, above, is_record)

    def _container(self, element: _Element, name: str, above: int, is_record: bool) -> None:
        if name in ("table", "informaltable"):
            self._group = self.layout.new_group()
        children = list(element)
        title = next((child for child in children if local_name(child) in _TITLES), None)
        if title is not None and name not in _NOT_TITLED and (words := xml_words(title)):
            above += 1
            self.title = self.title or words
            self.layout.add("heading", words, level=above)
            if title.tail and title.tail.strip():
                self._paragraph(" ".join(title.tail.split()))
            children.remove(title)
        self._paragraph(" ".join((element.text or "").split()))
        fields: list[str] = []
        named = _has_fields(children, least=1 if is_record else 2)
        # One record of a kind tells what those with a single field are.
        records = {local_name(child) for child in children if _is_record(child)}
        for child in children:
            if not local_name(child):  # an entity
                self._fields(fields)
                self._paragraph(child.text or "")
            elif named and not len(child) and (words := xml_words(child)):
                fields.append(f"{local_name(child)}: {words}")
            else:
                self._fields(fields)
                self.read(child, above, is_record=local_name(child) in records)
            if child.tail and child.tail.strip():
                self._fields(fields)
                self._paragraph(" ".join(child.tail.split()))
        self._fields(fields)

    def _fields(self, fields: list[str]) -> None:
        if fields:
            self.layout.add("paragraph", "\n".join(fields))
            fields.clear()

    def _paragraph(self, words: str) -> None:
        if words:
            self.layout.add("paragraph", words)

    def _row(self, row: _Element) -> None:
        cells = [xml_words(cell) for cell in row if local_name(cell)]
        if any(cells):
            header = local_name(_parent(row)) == "thead" or all(
                local_name(cell) == "th" for cell in row if local_name(cell)
            )
            self._group = self._group or self.layout.new_group()
            self.layout.add("header" if header else "row", " | ".join(cells), group=self._group)

    def _list(self, element: _Element, group: int, level: int) -> None:
        ordered = local_name(element) in ("orderedlist", "ol")
        number = 0
        for child in element:
            name = local_name(child)
            if name not in _ITEMS:
                if name and (words := xml_words(child)):
                    self.layout.add("paragraph", words)
                continue
            number += 1
            inner: list[_Element] = []
            words = " ".join("".join(_own_words(child, inner)).split())
            if words:
                marker = f"{number}. " if ordered else "- "
                self.layout.add_item(marker, words, level=level, group=group)
            for nested in inner:
                self._list(nested, group, level + 1)


def _parent(element: _Element) -> _Element:
    parent = element.getparent()
    return element if parent is None else parent


def _is_container(element: _Element) -> bool:
    """Whether it holds blocks: elements alone, or some that are never part of a sentence."""
    if not len(element):
        return False
    if any(local_name(child) in _BLOCKS for child in element):
        return True
    if local_name(element) in _PARAGRAPHS | _TITLES:
        return False
    # What is no element is an entity, which stays as it is written: it is text.
    mixed = (element.text or "").strip() or any(
        (child.tail or "").strip() or not local_name(child) for child in element
    )
    return not mixed


def _has_fields(children: list[_Element], least: int = 2) -> bool:
    """Whether children are fields of a record: texts of several names, none of them usual for a paragraph."""
    names = {local_name(child) for child in children if not len(child)} - {""}
    return len(names) >= least and not names & (_PARAGRAPHS | _BLOCKS)


def _is_record(element: _Element) -> bool:
    return _has_fields([child for child in element if local_name(child) not in _TITLES])


def _own_words(item: _Element, inner: list[_Element]) -> Iterator[str]:
    """The text of an item without lists in it, which are collected."""
    yield item.text or ""
    for child in item:
        if local_name(child) in _LISTS:
            inner.append(child)
        elif local_name(child):
            yield " " if local_name(child) in _BLOCKS else ""
            yield from _own_words(child, inner)
        yield child.tail or ""
