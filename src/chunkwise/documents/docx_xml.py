"""Names and walks that all readers of a Word document's XML share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docx.styles.style import BaseStyle
    from lxml.etree import _Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DEEPEST_STYLE = 16  # a style may be based on itself


def value(element: _Element | None, path: str) -> str:
    """`w:val` of the element at `pPr/pStyle` below this one; empty when there is none."""
    if element is None:
        return ""
    found = element.find("/".join(W + part for part in path.split("/")))
    return "" if found is None else (found.get(f"{W}val") or "")


def ancestors(style: BaseStyle) -> Iterator[BaseStyle]:
    """A style, then those it is based on."""
    ancestor: BaseStyle | None = style
    for _ in range(_DEEPEST_STYLE):
        if ancestor is None:
            return
        yield ancestor
        ancestor = getattr(ancestor, "base_style", None)
