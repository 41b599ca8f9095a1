"""What HTML's elements mean for the text of a page."""

from __future__ import annotations

SKIPPED = frozenset({"script", "style", "template", "title"})
PREFORMATTED = frozenset({"pre", "listing", "xmp", "plaintext", "textarea"})
HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
    "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
    "frameset", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav",
    "noframes", "ol", "optgroup", "option", "p", "search", "section", "select", "summary",
    "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}) | set(HEADINGS) | PREFORMATTED  # fmt: skip
# What a cell of data does not hold; a table with one of these in a cell only arranges the page.
LAYOUT_SIGNS = frozenset({"table", "article", "section", "main"}) | set(HEADINGS) | PREFORMATTED
