"""Lists of a Word document: which styles make items, and which items are numbered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chunkwise.documents.docx_styles import Style
from chunkwise.documents.docx_xml import W, value
from chunkwise.documents.integers import small_integer

if TYPE_CHECKING:
    from docx.document import Document as DocxDocument
    from lxml.etree import _Element

_LIST = re.compile(r"list (bullet|number)(?: (\d))?", re.IGNORECASE)


class ListStyle(NamedTuple):
    """What a paragraph style says about its paragraphs as items."""

    level: int
    """Nesting: `List Bullet 2` is 1."""
    numbering: str
    depth: str
    numbered: bool
    """By its name, for when the numbering itself cannot be told."""


class Lists:
    """The list styles by style id, and the numbers items start with."""

    def __init__(self, document: DocxDocument, styles: Mapping[str, Sequence[Style]]) -> None:
        self.styles = _styles(styles)
        self._starts = _starts(document)

    def first_number(self, numbering: str, depth: str, style: str) -> int | None:
        """What the first item is numbered; None: it has a bullet, or nobody can tell."""
        of = self.styles.get(style)
        if not numbering and of is not None:
            numbering, depth = of.numbering, depth or of.depth
        key = numbering, depth or "0"
        if key in self._starts:
            return self._starts[key]
        return 1 if of is not None and of.numbered else None


def _styles(styles: Mapping[str, Sequence[Style]]) -> dict[str, ListStyle]:
    found: dict[str, ListStyle] = {}
    for id, lineage in styles.items():
        for ancestor in lineage:
            named = _LIST.fullmatch(ancestor.name)
            numbering = ancestor.element.find(f"{W}pPr/{W}numPr")
            if named or numbering is not None:
                level = max(int(named[2] or 1) - 1, 0) if named else 0
                number, depth = value(numbering, "numId"), value(numbering, "ilvl")
                is_numbered = named is not None and named[1].lower() == "number"
                found[id] = ListStyle(level, number, depth, is_numbered)
                break
    return found


def _starts(document: DocxDocument) -> dict[tuple[str, str], int | None]:
    """By numbering and depth: the first number of decimal ones, None for all others."""
    from docx.opc.constants import RELATIONSHIP_TYPE

    try:
        part = document.part.part_related_by(RELATIONSHIP_TYPE.NUMBERING)
    except KeyError:
        return {}
    root = getattr(part, "element", None)
    if root is None:  # a part of another type by this name
        return {}
    kinds = {kind.get(f"{W}abstractNumId"): _levels(kind) for kind in root.iter(f"{W}abstractNum")}
    starts: dict[tuple[str, str], int | None] = {}
    for number in root.iter(f"{W}num"):
        levels = dict(kinds.get(value(number, "abstractNumId"), {}))
        for override in number.iter(f"{W}lvlOverride"):
            levels.update(_levels(override))
            depth, start = override.get(f"{W}ilvl") or "0", value(override, "startOverride")
            if levels.get(depth) is not None:
                levels[depth] = small_integer(start, levels[depth])
        for depth, first in levels.items():
            starts[number.get(f"{W}numId") or "", depth] = first
    return starts


def _levels(kind: _Element) -> dict[str, int | None]:
    return {
        level.get(f"{W}ilvl") or "0": (
            small_integer(value(level, "start"), 1)
            if value(level, "numFmt") in ("decimal", "decimalZero")
            else None
        )
        for level in kind.iterchildren(f"{W}lvl")
    }
