"""The styles of a Word document's paragraphs, each with those it is based on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from chunkwise.documents.docx_xml import W, value

if TYPE_CHECKING:
    from docx.document import Document as DocxDocument
    from lxml.etree import _Element

_PARAGRAPH = "paragraph"
_DEEPEST = 16  # a style may be based on itself


class Style(NamedTuple):
    """What its name and its properties say."""

    name: str
    element: _Element


def lineages(document: DocxDocument) -> dict[str, list[Style]]:
    """By style id: a style, then those it is based on, the nearest first."""
    # Looked up here: the library goes through all styles to find one by its id.
    elements: dict[str, _Element] = {}
    for element in document.styles.element.iterfind(f"{W}style"):
        id = element.get(f"{W}styleId")
        # Without an id it is nobody's; that of characters may share its id with that of paragraphs.
        if id and element.get(f"{W}type", _PARAGRAPH) == _PARAGRAPH:
            elements.setdefault(id, element)
    return {id: _lineage(id, elements) for id in elements}


def _lineage(id: str, elements: dict[str, _Element]) -> list[Style]:
    found: list[Style] = []
    while id in elements and len(found) < _DEEPEST:
        element = elements[id]
        found.append(Style(value(element, "name").strip(), element))
        id = value(element, "basedOn")
    return found
