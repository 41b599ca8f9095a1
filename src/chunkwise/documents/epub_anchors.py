"""A chapter of an EPUB as text, with the places its table of contents may name."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from chunkwise.documents.html_parse import html_read
from chunkwise.documents.html_text import HtmlText
from chunkwise.documents.layout import Layout


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
    page = html_read(text, lambda: _Anchored(wanted))
    return page.layout, page.places
