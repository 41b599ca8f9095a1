"""A chapter of an EPUB as text, with the places its table of contents may name."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from chunkwise.documents.html_parse import html_text
from chunkwise.documents.html_text import HtmlText
from chunkwise.documents.layout import Layout

_PART = 1 << 16
_WORK_A_BYTE = 64


class _Anchored(HtmlText):
    """Keeps for each element that is asked about the block it begins."""

    def __init__(self, wanted: Collection[str]) -> None:
        super().__init__()
        self.places: dict[str, int] = {}
        self._wanted = wanted

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        super().start(tag, attributes)
        if not attributes:
            return
        for name in (attributes.get("id"), attributes.get("name") if tag == "a" else None):
            if name in self._wanted and name is not None:
                self.places.setdefault(name, len(self.layout.blocks))


def chapter_text(text: str, wanted: Collection[str]) -> tuple[Layout, dict[str, int]]:
    """The chapter's layout, and which of its blocks the wanted elements begin."""
    from lxml import etree

    if not wanted:
        return html_text(text).layout, {}
    page = _Anchored(wanted)
    parser = etree.HTMLParser(target=page, encoding="utf-8", huge_tree=True, recover=True)
    data = text.encode("utf-8", "replace")
    work = _WORK_A_BYTE * (len(data) + _PART)
    for start in range(0, len(data) or 1, _PART):
        part = data[start : start + _PART]
        # Each end tag is looked for among all open elements: a page that makes this slow names no places.
        ends = part.count(b"</")
        if work < ends * page.depth:
            return html_text(text).layout, {}
        parser.feed(part)
        work -= ends * page.deepest()
    parser.close()
    return page.layout, page.places
