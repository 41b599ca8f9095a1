"""Names that all readers of a Word document's XML share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def value(element: _Element | None, path: str) -> str:
    """`w:val` of the element at `pPr/pStyle` below this one; empty when there is none."""
    if element is None:
        return ""
    found = element.find("/".join(W + part for part in path.split("/")))
    return "" if found is None else (found.get(f"{W}val") or "")
