"""What the drawing library writes, made fit for a page: only shapes and words, each saying what it stands for."""

from __future__ import annotations

import re

# Only ever given what the library wrote, in which all that is anybody's text is escaped.
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from chunkwise.report.page_text import attribute

_SHOWN = {"svg", "g", "path", "line", "rect", "text", "tspan"}
_KEPT = {
    "viewBox", "width", "height", "transform", "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "rx", "ry",
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linejoin",
    "stroke-linecap", "opacity", "font-size", "font-weight", "text-anchor",
}  # fmt: skip
"""Letters are in the page's own font; names, roles and everything that could do something stay behind."""
_USUAL = {"opacity": "1", "fill-opacity": "1", "stroke-dasharray": "1,0", "transform": "translate(0,0)"}  # fmt: skip
_SPACE = re.compile(r' xmlns(:\w+)?="[^"]*"')
_LONG = re.compile(r"-?\d+\.\d\d+(?:e-?\d+)?")


def fit_for_a_page(svg: str, told: str, style: str, *, hints: bool) -> str:
    """`told` is what the whole of it shows; with `hints` every mark says its own values to who points at it."""
    root = ElementTree.fromstring(_SPACE.sub("", svg, count=2))
    shown = _cleaned(root, hints=hints)
    assert shown is not None
    inner = "".join(ElementTree.tostring(child, encoding="unicode") for child in shown)
    box = attribute(root.get("viewBox", ""))
    return (
        f'<svg class="{style}" viewBox="{box}" role="img" aria-label="{attribute(told, 400)}">'
        f"{inner}</svg>"
    )


def _cleaned(given: Element, *, hints: bool) -> Element | None:
    """A copy with what is shown; None: nothing is."""
    if given.tag not in _SHOWN or given.get("display") == "none":
        return None
    painted = given.get("fill") or given.get("stroke")
    if given.tag in ("path", "line", "rect") and not painted:
        return None
    kept = Element(given.tag, {
        name: _LONG.sub(_rounded, value)
        for name, value in given.attrib.items()
        if name in _KEPT and _USUAL.get(name) != value
    })  # fmt: skip
    kept.text = given.text
    if hints and given.get("role") == "graphics-symbol" and given.tag != "g":
        kept.append(_title(given.get("aria-label", "")))
    for child in given:
        own = _cleaned(child, hints=hints)
        if own is None:
            continue
        # A group that says nothing about those inside is only length.
        kept.extend(own if own.tag == "g" and not own.attrib else [own])
    return kept if given.tag != "g" or len(kept) else None


def _title(text: str) -> Element:
    title = Element("title")
    title.text = text
    return title


def _rounded(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 1):g}"
