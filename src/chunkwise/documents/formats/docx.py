"""Word documents (.docx): paragraphs, headings, lists and tables in the order they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from chunkwise.core import Document
from chunkwise.documents.formats.block_builder import Layout, small_integer
from chunkwise.documents.formats.untrusted_xml import ZipLoader, ZipParts, xml_text
from chunkwise.documents.loader import OnUnreadable
from chunkwise.documents.source import Source

if TYPE_CHECKING:
    from lxml.etree import _Element

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_MAIN = "word/document.xml"
_PARTS = ("styles", "numbering", "footnotes", "endnotes")
_CHARACTERS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "\u2011"}
# Deleted or moved text, properties, and the old form of a text box that is there twice.
_SKIPPED = frozenset({f"{_W}del", f"{_W}moveFrom", f"{_W}pPr", f"{_W}rPr", _FALLBACK})
_NOTES = {f"{_W}footnoteReference": "footnote", f"{_W}endnoteReference": "endnote"}
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_LIST = re.compile(r"list (bullet|number)(?: (\d))?", re.IGNORECASE)
_NO_TITLE = re.compile(
    r"|microsoft word\b.*|(?:word )?document "
    r"?\d*|untitled.*|title|\S*\.(?:docx?|docm|dotx?|rtf|odt)",
    re.IGNORECASE,
)
_BODY_TEXT = 9  # as an outline level
_DEEPEST_STYLE = 16  # a style may be based on itself


class DocxLoader(ZipLoader):
    """A zip with `word/` in it."""

    suffixes = (".docx", ".docm")
    signs = (b"word/",)
    what = "Word document"

    def read(self, parts: ZipParts, source: Source, on_unreadable: OnUnreadable) -> Document:
        text = _DocxText(parts)
        own = parts.title("docProps/core.xml")
        title = text.title if _NO_TITLE.fullmatch(own) else own
        return text.layout.document(source, "docx", title=title)


def _value(element: _Element | None, path: str) -> str:
    """`w:val` of the element at `pPr/pStyle` below this one; empty when there is none."""
    inner = (
        None if element is None else element.find("/".join(_W + part for part in path.split("/")))
    )
    return "" if inner is None else inner.get(f"{_W}val") or ""


class _Style(NamedTuple):
    """A paragraph style, or one it is based on."""

    name: str
    element: _Element

    @property
    def heading(self) -> int | None:
        """Level of its paragraphs as headings, 0 of a title; `_BODY_TEXT + 1` says that they are none."""
        if self.name.lower() == "title":
            return 0
        if named := _HEADING.fullmatch(self.name):
            return int(named[1])
        outline = small_integer(_value(self.element, "pPr/outlineLvl"), None)
        return None if outline is None else outline + 1


class _ListStyle(NamedTuple):
    """What a paragraph or its style says of it as an item."""

    number: str = ""
    """Id of its numbering."""
    depth: str = ""
    level: int = 0
    """Nesting by the name of the style: `List Bullet 2` is 1."""
    is_numbered: bool = False


def _lineages(root: _Element | None) -> Iterator[tuple[str, list[_Style]]]:
    """Ids of paragraph styles, each with the style and those it is based on, the nearest first."""
    elements: dict[str, _Element] = {}
    for element in root.iterfind(f"{_W}style") if root is not None else ():
        # That of characters may share its id with that of paragraphs.
        if element.get(f"{_W}type", "paragraph") == "paragraph":
            elements.setdefault(element.get(f"{_W}styleId") or "", element)
    elements.pop("", None)
    for id in elements:
        lineage: list[_Style] = []
        base = id
        while base in elements and len(lineage) < _DEEPEST_STYLE:
            lineage.append(_Style(_value(elements[base], "name").strip(), elements[base]))
            base = _value(elements[base], "basedOn")
        yield id, lineage


def _list_style(lineage: Iterable[_Style]) -> _ListStyle | None:
    for style in lineage:
        named = _LIST.fullmatch(style.name)
        number = _value(style.element, "pPr/numPr/numId")
        if named or number:
            level = max(int(named[2] or 1) - 1, 0) if named else 0
            is_numbered = named is not None and named[1].lower() == "number"
            return _ListStyle(number, _value(style.element, "pPr/numPr/ilvl"), level, is_numbered)
    return None


class _Numbering:
    """The numbers of items, counted as Word does: those of one numbering go on behind other text."""

    def __init__(self, root: _Element | None) -> None:
        self._starts = {} if root is None else dict(_starts(root))
        self._counts: dict[str, dict[int, int]] = {}

    def marker(self, item: _ListStyle) -> str:
        depth = small_integer(item.depth, 0)
        counts = self._counts.setdefault(item.number, {})
        for deeper in [at for at in counts if at > depth]:
            del counts[deeper]
        first = self._starts.get((item.number, depth), 1 if item.is_numbered else None)
        if first is None:
            return "- "
        counts[depth] = counts.get(depth, first - 1) + 1
        return f"{counts[depth]}. "


def _starts(root: _Element) -> Iterator[tuple[tuple[str, int], int | None]]:
    """By numbering and depth: the first number of decimal ones, None for bullets and all others."""
    kinds = {
        kind.get(f"{_W}abstractNumId"): _levels(kind) for kind in root.iter(f"{_W}abstractNum")
    }
    for number in root.iter(f"{_W}num"):
        levels = dict(kinds.get(_value(number, "abstractNumId"), {}))
        for override in number.iter(f"{_W}lvlOverride"):
            levels.update(_levels(override))
            depth = small_integer(override.get(f"{_W}ilvl"), 0)
            if levels.get(depth) is not None:
                levels[depth] = small_integer(_value(override, "startOverride"), levels[depth])
        for depth, first in levels.items():
            yield (number.get(f"{_W}numId") or "", depth), first


def _levels(kind: _Element) -> dict[int, int | None]:
    return {
        small_integer(level.get(f"{_W}ilvl"), 0): small_integer(_value(level, "start"), 1)
        if _value(level, "numFmt") in ("decimal", "decimalZero")
        else None
        for level in kind.iterchildren(f"{_W}lvl")
    }


class _DocxText:
    """`layout` and `title` are the result."""

    def __init__(self, parts: ZipParts) -> None:
        self.layout = Layout()
        self.title = ""
        linked = {link.kind: link.path for link in parts.links("").values()}
        path = linked.get("officeDocument", _MAIN)
        body = parts.xml(path).find(f"{_W}body")
        if body is None:
            raise parts.damaged(f"no Word text in {path!r}")
        linked = {link.kind: link.path for link in parts.links(path).values()}
        roots = {kind: parts.xml(linked[kind]) for kind in _PARTS if linked.get(kind, "") in parts}
        self._headings: dict[str, int] = {}
        self._lists: dict[str, _ListStyle] = {}
        for id, lineage in _lineages(roots.get("styles")):
            level = next((style.heading for style in lineage if style.heading is not None), None)
            if level is not None and level <= _BODY_TEXT:
                self._headings[id] = level
            if of_list := _list_style(lineage):
                self._lists[id] = of_list
        self._numbering = _Numbering(roots.get("numbering"))
        self._group = 0
        """That of the open list, 0 where none is."""
        self._base = ""
        """The numbering that began it."""
        self._noted = 0
        self._waiting: list[str] = []
        """Notes that were referred to in the block that is read."""
        self._notes: dict[tuple[str, str], str] = {}
        self._notes = {
            (kind, note.get(f"{_W}id") or ""): self._cell(note)
            for kind in _NOTES.values()
            if f"{kind}s" in roots
            for note in roots[f"{kind}s"].iterchildren(f"{_W}{kind}")
            if note.get(f"{_W}type", "normal") == "normal"  # others are the lines above notes
        }
        self._read(body)

    def _read(self, body: _Element) -> None:
        """Blocks below `body`, in order; wrappers such as content controls are looked into."""
        pending = list(reversed(body))
        while pending:
            element = pending.pop()
            if element.tag == f"{_W}p":
                for box in reversed(self._paragraph(element)):
                    pending.extend(reversed(box))
            elif element.tag == f"{_W}tbl":
                self._group = 0
                self.layout.add_table(
                    [self._cell(cell) for cell in row.iterchildren(f"{_W}tc", f"{_W}sdt")]
                    for row in element.iterchildren(f"{_W}tr")
                )
            elif element.tag not in _SKIPPED:
                pending.extend(reversed(element))
            for note in self._waiting:
                self.layout.add("paragraph", note)
            self._waiting = []
        if self.title:  # level 0 so far: it is the parent of all headings
            self.layout.blocks = [
                block._replace(level=block.level + 1) if block.kind == "heading" else block
                for block in self.layout.blocks
            ]

    def _paragraph(self, element: _Element) -> list[_Element]:
        """Add a paragraph; the text boxes anchored in it are what is left to read."""
        style = _value(element, "pPr/pStyle")
        level = self._headings.get(style)
        text, boxes = self._text(element, marked=level is None)
        text = text.strip()
        number = _value(element, "pPr/numPr/numId")
        of_style = self._lists.get(style)
        if not text:
            return boxes
        if level is not None:
            self._group = 0
            text = text.replace("\n", " ")
            self.title = self.title or ("" if level else text)
            self.layout.add("heading", text, level=level)
        elif number != "0" and (number or of_style):
            item = of_style or _ListStyle()
            depth = _value(element, "pPr/numPr/ilvl")
            item = item._replace(number=number or item.number, depth=depth or item.depth)
            self._item(item, depth, text)
        else:
            self._group = 0
            self.layout.add("paragraph", text)
        return boxes

    def _item(self, item: _ListStyle, depth: str, text: str) -> None:
        level = small_integer(depth, item.level)
        if not self._group or (not level and item.number != self._base):
            self._group, self._base = self.layout.new_group(), item.number
        marker = self._numbering.marker(item)
        self.layout.add_item(marker, text, level=level, group=self._group)

    def _cell(self, cell: _Element) -> str:
        """All text of a cell or a note, nested tables included, on one line."""
        texts = (self._text(paragraph)[0] for paragraph in cell.iter(f"{_W}p"))
        return " ".join(" ".join(texts).split())

    def _text(self, paragraph: _Element, *, marked: bool = True) -> tuple[str, list[_Element]]:
        """The text of a paragraph, with numbers of notes if `marked`, and the text boxes anchored in it."""
        texts: list[str] = []
        boxes: list[_Element] = []
        pending = list(reversed(paragraph))
        while pending:
            element = pending.pop()
            tag = element.tag
            if tag == f"{_W}t":
                texts.append(xml_text(element))
            elif tag in _CHARACTERS:
                texts.append(_CHARACTERS[str(tag)])
            elif tag == f"{_W}txbxContent":
                boxes.append(element)
            elif tag in _NOTES:
                if note := self._notes.get((_NOTES[str(tag)], element.get(f"{_W}id") or "")):
                    self._noted += 1
                    self._waiting.append(f"[{self._noted}] {note}")
                    texts.append(f"[{self._noted}]" if marked else "")
            elif tag not in _SKIPPED:
                pending.extend(reversed(element))
        return "".join(texts), boxes
