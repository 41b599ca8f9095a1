"""The elements of HTML by what they do to the text."""

from __future__ import annotations

import re
from collections.abc import Mapping

SKIPPED = frozenset({"script", "style", "template", "title"})
PREFORMATTED = frozenset({"pre", "listing", "xmp", "plaintext", "textarea"})
ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})
HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
    "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
    "frameset", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav",
    "noframes", "ol", "optgroup", "option", "p", "search", "section", "select", "summary",
    "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}) | set(HEADINGS) | PREFORMATTED  # fmt: skip
# Their text is not part of the sentence they stand in.
SET_APART = frozenset({"svg", "noscript"})
DRAWING_TEXTS = frozenset({"text", "title", "desc"})
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_NOT_DISPLAYED = re.compile(r"(?:^|;)\s*display\s*:\s*none\b", re.IGNORECASE)


def is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether a browser does not show it."""
    if tag in ("html", "body"):
        return False  # hidden until a script shows the page: nobody publishes an empty one
    if "hidden" in attributes:
        return True
    style = attributes.get("style")
    return style is not None and _NOT_DISPLAYED.search(style) is not None
