"""Charts drawn into a page as SVG: only shapes and words, each saying what it stands for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from typing import Any

# Only ever given what the library wrote, in which all that is anybody's text is escaped.
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from chunkwise.base.errors import MissingExtra
from chunkwise.report.charts.style import CONFIG, Chart
from chunkwise.report.plain_text import one_line

_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
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


def drawn(chart: Chart) -> str:
    """The chart as HTML; empty where the library is not installed, a line where it fails: the page is made."""
    if not can_draw():
        return ""
    try:
        shown = "".join(
            _fit_for_a_page(_svg(_whole(spec)), chart.caption, name, hints=name == "wide")
            for name, spec in (("wide", chart.wide), ("narrow", chart.narrow))
        )
    except ValueError:  # all that the library raises
        return '<p class="none">This chart could not be drawn; its table says the same.</p>'
    return f'<figure class="chart{" half" if chart.is_half else ""}">{shown}</figure>'


def can_draw() -> bool:
    """Whether the library is there; to load it takes milliseconds, its engine starts with the first chart."""
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        return False
    return True


def missing_library() -> str:
    """One line that says what is missing, and the command for it; empty where nothing is."""
    return "" if can_draw() else str(MissingExtra("Drawing charts", "charts"))


def _whole(spec: Mapping[str, Any]) -> str:
    return json.dumps(_shown({"config": CONFIG, **spec}), sort_keys=True)


def _shown(value: Any) -> Any:
    """Every text inside without what XML cannot hold: the engine measures letters as XML, and such a one ends all."""
    if isinstance(value, str):
        return _NO_XML.sub("\ufffd", value)
    if isinstance(value, dict):
        return {name: _shown(own) for name, own in value.items()}
    return [_shown(own) for own in value] if isinstance(value, list) else value


@lru_cache(maxsize=64)
def _svg(spec: str) -> str:
    """The same specification gives the same bytes; notebooks show one fragment again and again."""
    import vl_convert

    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def _fit_for_a_page(svg: str, caption: str, style: str, *, hints: bool) -> str:
    """`caption` is what the whole of it shows; with `hints` every mark says its own values to who points at it."""
    root = ElementTree.fromstring(_SPACE.sub("", svg, count=2))
    shown = _cleaned(root, hints=hints)
    assert shown is not None
    inner = "".join(ElementTree.tostring(child, encoding="unicode") for child in shown)
    box = _attribute(root.get("viewBox", ""))
    return (
        f'<svg class="{style}" viewBox="{box}" role="img" aria-label="{_attribute(caption, 400)}">'
        f"{inner}</svg>"
    )


def _cleaned(element: Element, *, hints: bool) -> Element | None:
    """A copy with what is shown; None: nothing is."""
    if element.tag not in _SHOWN or element.get("display") == "none":
        return None
    painted = element.get("fill") or element.get("stroke")
    if element.tag in ("path", "line", "rect") and not painted:
        return None
    kept = Element(element.tag, {
        name: _LONG.sub(_rounded, value)
        for name, value in element.attrib.items()
        if name in _KEPT and _USUAL.get(name) != value
    })  # fmt: skip
    kept.text = element.text
    if hints and element.get("role") == "graphics-symbol" and element.tag != "g":
        kept.append(_title(element.get("aria-label", "")))
    for child in element:
        own = _cleaned(child, hints=hints)
        if own is None:
            continue
        # A group that says nothing about those inside is only length.
        kept.extend(own if own.tag == "g" and not own.attrib else [own])
    return kept if element.tag != "g" or len(kept) else None


def _title(text: str) -> Element:
    title = Element("title")
    title.text = text
    return title


def _rounded(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 1):g}"


def _attribute(text: str, most: int = 0) -> str:
    return escape(one_line(text, most))
