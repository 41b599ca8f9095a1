"""Word documents (.docx): paragraphs, headings, lists and tables in the order they are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.block_builder import Layout, small_integer
from chunkwise.documents.formats.untrusted_xml import PartLink, ZipParts, own_text
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source

if TYPE_CHECKING:
    from lxml.etree import _Element


W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def xml_value(element: _Element | None, path: str) -> str:
    """`w:val` of the element at `pPr/pStyle` below this one; empty when there is none."""
    if element is None:
        return ""
    found = element.find("/".join(W + part for part in path.split("/")))
    return "" if found is None else (found.get(f"{W}val") or "")


_PARAGRAPH = "paragraph"
_DEEPEST = 16  # a style may be based on itself


class DocxStyle(NamedTuple):
    """What its name and its properties say."""

    name: str
    element: _Element


def style_lineages(styles: _Element | None) -> dict[str, list[DocxStyle]]:
    """By style id: a style, then those it is based on, the nearest first."""
    elements: dict[str, _Element] = {}
    for element in styles.iterfind(f"{W}style") if styles is not None else ():
        id = element.get(f"{W}styleId")
        # Without an id it is nobody's; that of characters may share its id with that of paragraphs.
        if id and element.get(f"{W}type", _PARAGRAPH) == _PARAGRAPH:
            elements.setdefault(id, element)
    return {id: _lineage(id, elements) for id in elements}


def _lineage(id: str, elements: dict[str, _Element]) -> list[DocxStyle]:
    found: list[DocxStyle] = []
    while id in elements and len(found) < _DEEPEST:
        element = elements[id]
        found.append(DocxStyle(xml_value(element, "name").strip(), element))
        id = xml_value(element, "basedOn")
    return found


_LIST = re.compile(r"list (bullet|number)(?: (\d))?", re.IGNORECASE)


class DocxListStyle(NamedTuple):
    """What a paragraph style says about its paragraphs as items."""

    level: int
    """Nesting: `List Bullet 2` is 1."""
    numbering: str
    depth: str
    numbered: bool
    """By its name, for when the numbering itself cannot be told."""


class DocxLists:
    """The list styles by style id, and the numbers items start with."""

    def __init__(
        self, numbering: _Element | None, styles: Mapping[str, Sequence[DocxStyle]]
    ) -> None:
        self.styles = _styles(styles)
        self._starts = {} if numbering is None else _starts(numbering)

    def first_number(self, numbering: str, depth: str, style: str) -> int | None:
        """What the first item is numbered; None: it has a bullet, or nobody can tell."""
        of = self.styles.get(style)
        if not numbering and of is not None:
            numbering, depth = of.numbering, depth or of.depth
        key = numbering, depth or "0"
        if key in self._starts:
            return self._starts[key]
        return 1 if of is not None and of.numbered else None


def _styles(styles: Mapping[str, Sequence[DocxStyle]]) -> dict[str, DocxListStyle]:
    found: dict[str, DocxListStyle] = {}
    for id, lineage in styles.items():
        for ancestor in lineage:
            named = _LIST.fullmatch(ancestor.name)
            numbering = ancestor.element.find(f"{W}pPr/{W}numPr")
            if named or numbering is not None:
                level = max(int(named[2] or 1) - 1, 0) if named else 0
                number, depth = xml_value(numbering, "numId"), xml_value(numbering, "ilvl")
                is_numbered = named is not None and named[1].lower() == "number"
                found[id] = DocxListStyle(level, number, depth, is_numbered)
                break
    return found


def _starts(root: _Element) -> dict[tuple[str, str], int | None]:
    """By numbering and depth: the first number of decimal ones, None for all others."""
    kinds = {kind.get(f"{W}abstractNumId"): _levels(kind) for kind in root.iter(f"{W}abstractNum")}
    starts: dict[tuple[str, str], int | None] = {}
    for number in root.iter(f"{W}num"):
        levels = dict(kinds.get(xml_value(number, "abstractNumId"), {}))
        for override in number.iter(f"{W}lvlOverride"):
            levels.update(_levels(override))
            depth, start = override.get(f"{W}ilvl") or "0", xml_value(override, "startOverride")
            if levels.get(depth) is not None:
                levels[depth] = small_integer(start, levels[depth])
        for depth, first in levels.items():
            starts[number.get(f"{W}numId") or "", depth] = first
    return starts


def _levels(kind: _Element) -> dict[str, int | None]:
    return {
        level.get(f"{W}ilvl") or "0": (
            small_integer(xml_value(level, "start"), 1)
            if xml_value(level, "numFmt") in ("decimal", "decimalZero")
            else None
        )
        for level in kind.iterchildren(f"{W}lvl")
    }


_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_CHARACTERS = {
    f"{W}tab": "\t",
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "\u2011",
}
_DEEPEST_ITEM = 8  # Word has nine levels; a hostile file may claim more
# Deleted or moved text, properties, and the old form of a text box that is there twice.
_SKIPPED = frozenset({f"{W}del", f"{W}moveFrom", f"{W}pPr", f"{W}rPr", _FALLBACK})


_NOTES = {f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote"}


class DocxNotes:
    """Foot- and endnotes, numbered together in the order they are referred to."""

    def __init__(self, roots: Mapping[str, _Element]) -> None:
        self._texts: dict[tuple[str, str], str] = {}
        for kind, root in roots.items():
            for note in root.iterchildren(f"{W}{kind}"):
                # Those of a type are the lines above notes.
                if note.get(f"{W}type", "normal") == "normal":
                    self._texts[kind, note.get(f"{W}id") or ""] = _cell(note)
        self._numbers: dict[tuple[str, str], int] = {}
        self._waiting: list[str] = []

    def mark(self, reference: _Element) -> str:
        """What stands for a reference in the text; the note waits for the end of its block."""
        key = _NOTES[reference.tag], reference.get(f"{W}id") or ""
        text = self._texts.get(key)
        if not text:
            return ""
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers) + 1
            self._waiting.append(f"[{self._numbers[key]}] {text}")
        return f"[{self._numbers[key]}]"

    def taken(self) -> list[str]:
        """The notes that were referred to since this was last asked."""
        taken, self._waiting = self._waiting, []
        return taken


@dataclass(slots=True)
class _OpenList:
    """A list that a next item of its level continues."""

    family: str
    next_number: int | None
    """None: its items have bullets."""

    def marker(self) -> str:
        if self.next_number is None:
            return "- "
        self.next_number += 1
        return f"{self.next_number - 1}. "


class DocxText:
    """`layout` and `title` are the result."""

    def __init__(self, headings: Mapping[str, int], lists: DocxLists, notes: DocxNotes) -> None:
        self.layout = Layout()
        self._notes = notes
        self.title = ""
        self._headings = headings
        self._lists = lists
        self._open: dict[int, _OpenList] = {}
        self._family = ""
        self._group = 0

    def read(self, body: _Element) -> None:
        """Blocks below `body`, in order; wrappers such as content controls are looked into."""
        pending = list(reversed(body))
        while pending:
            element = pending.pop()
            if element.tag == f"{W}p":
                # A section's name has no number of a note in it.
                heading = xml_value(element, "pPr/pStyle") in self._headings
                text, boxes = _text(element, self._notes, marked=not heading)
                self._paragraph(element, text)
                for box in reversed(boxes):
                    pending.extend(reversed(box))
            elif element.tag == f"{W}tbl":
                self._table(element)
            elif element.tag not in _SKIPPED:
                pending.extend(reversed(element))
            for note in self._notes.taken():
                self.layout.add("paragraph", note)
        self._raise_title()

    def _raise_title(self) -> None:
        """A title, level 0 so far, is the parent of all headings."""
        if self.title:
            self.layout.blocks = [
                block._replace(level=block.level + 1) if block.kind == "heading" else block
                for block in self.layout.blocks
            ]

    def _end_lists(self) -> None:
        self._open.clear()
        self._family = ""

    def _paragraph(self, element: _Element, text: str) -> None:
        text = text.strip()
        if not text:
            return
        style = xml_value(element, "pPr/pStyle")
        level = self._headings.get(style)
        if level is not None:
            if level == 0 and not self.title:
                self.title = text.replace("\n", " ")
            self._end_lists()
            self.layout.add("heading", text.replace("\n", " "), level=level)
            return
        number = xml_value(element, "pPr/numPr/numId")
        if (number and number != "0") or (style in self._lists.styles and number != "0"):
            depth = xml_value(element, "pPr/numPr/ilvl")
            self._item(text, number, depth, style)
            return
        self._end_lists()
        self.layout.add("paragraph", text)

    def _item(self, text: str, number: str, depth: str, style: str) -> None:
        of = number or style
        family = of.rstrip("0123456789") or of  # ListBullet2 continues ListBullet
        named = self._lists.styles.get(style)
        level = min(small_integer(depth, named.level if named else 0), _DEEPEST_ITEM)
        self._open = {at: it for at, it in self._open.items() if at <= level}
        open_list = self._open.get(level)
        if open_list is None or open_list.family != family:
            # What stands deeper than an open list is part of it, whatever its own kind.
            if family != self._family and not any(at < level for at in self._open):
                self._group = self.layout.new_group()
            first = self._lists.first_number(number, depth, style)
            open_list = self._open[level] = _OpenList(family, first)
        self._family = family
        indent = "  " * level
        marker = open_list.marker()
        hanging = f"\n{indent}{' ' * len(marker)}".join(text.split("\n"))
        self.layout.add("item", marker + hanging, level=level, group=self._group, indent=indent)

    def _table(self, table: _Element) -> None:
        self._end_lists()
        group = self.layout.new_group()
        rows = [
            " | ".join(_cell(cell, self._notes) for cell in row.iterchildren(f"{W}tc", f"{W}sdt"))
            for row in table.iterchildren(f"{W}tr")
        ]
        for number, line in enumerate(rows):
            if line.replace("|", "").strip():
                header = number == 0 and len(rows) > 1
                self.layout.add("header" if header else "row", line, group=group)


def _cell(cell: _Element, notes: DocxNotes | None = None) -> str:
    """All text of a cell or a note, nested tables included, on one line."""
    words: list[str] = []
    for paragraph in cell.iter(f"{W}p"):
        words += _text(paragraph, notes)[0].split()
    return " ".join(words)


def _text(
    paragraph: _Element, notes: DocxNotes | None = None, *, marked: bool = True
) -> tuple[str, list[_Element]]:
    """The text of a paragraph, and the text boxes anchored in it."""
    parts: list[str] = []
    boxes: list[_Element] = []
    pending = list(reversed(paragraph))
    while pending:
        element = pending.pop()
        tag = element.tag
        if tag == f"{W}t":
            parts.append(own_text(element))
        elif tag in _CHARACTERS:
            parts.append(_CHARACTERS[str(tag)])
        elif tag == f"{W}txbxContent":
            boxes.append(element)
        elif tag in _NOTES:
            mark = notes.mark(element) if notes is not None else ""
            parts.append(mark if marked else "")
        elif tag not in _SKIPPED:
            pending.extend(reversed(element))
    return "".join(parts), boxes


_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_NO_TITLE = re.compile(
    r"microsoft word\b.*|(?:word )?document ?\d*|untitled.*|title|\S*\.(?:docx?|docm|dotx?|rtf|odt)",
    re.IGNORECASE,
)
_BODY_TEXT = 9  # as an outline level


class DocxLoader:
    """A zip with `word/` in it."""

    suffixes: tuple[str, ...] = (".docx", ".docm")
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        if not head.startswith(b"PK\x03\x04"):
            return False
        return suffix_of(name) in self.suffixes or b"word/" in head

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        parts = ZipParts(source.read(options.max_bytes), source.origin, "Word document")
        title, layout = _read(parts)
        yield Document(
            source.id,
            layout.text,
            title=title,
            source=source.origin,
            format="docx",
            blocks=tuple(layout.blocks),
        )


_MAIN = "word/document.xml"


def _read(parts: ZipParts) -> tuple[str, Layout]:
    main = next((link for link in parts.links("").values() if link.kind == "officeDocument"), None)
    path = main.path if main else _MAIN
    body = parts.xml(path).find(f"{W}body")
    if body is None:
        raise parts.damaged(f"no text of Word in {path!r}")
    linked = {link.kind: link for link in parts.links(path).values() if link.path in parts}
    styles = style_lineages(_part(parts, linked.get("styles")))
    notes = {}
    for kind in _NOTES.values():
        with suppress(UnreadableDocument):  # damaged notes do not lose the text
            root = _part(parts, linked.get(f"{kind}s"))
            if root is not None:
                notes[kind] = root
    lists = DocxLists(_part(parts, linked.get("numbering")), styles)
    text = DocxText(heading_levels(styles), lists, DocxNotes(notes))
    text.read(body)
    title = parts.title("docProps/core.xml")
    is_own = title and not _NO_TITLE.fullmatch(title)
    return title if is_own else text.title, text.layout


def _part(parts: ZipParts, link: PartLink | None) -> _Element | None:
    return parts.xml(link.path) if link else None


def heading_levels(styles: Mapping[str, Sequence[DocxStyle]]) -> dict[str, int]:
    """Level of each heading style by style id; 0 is the title."""
    levels: dict[str, int] = {}
    for id, lineage in styles.items():
        for ancestor in lineage:
            heading = _HEADING.fullmatch(ancestor.name)
            if heading or ancestor.name.lower() == "title":
                levels[id] = int(heading[1]) if heading else 0
                break
            outline = small_integer(xml_value(ancestor.element, "pPr/outlineLvl"), None)
            if outline is not None:
                if outline < _BODY_TEXT:
                    levels[id] = outline + 1
                break
    return levels
