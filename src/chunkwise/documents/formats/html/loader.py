"""HTML pages: read by events as they come."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.code import LANGUAGES
from chunkwise.documents.formats.html.main_text import Furniture
from chunkwise.documents.formats.html.parser import HtmlText
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source
from chunkwise.documents.walk import OWN_PAGE
from chunkwise.records.encoding import charset, decode, marked_encoding

Page = TypeVar("Page", bound=HtmlText)
_PART = 1 << 16
_MOST_WORK = 10**9
"""Open elements that are looked at, some three seconds; no page that anybody wrote comes near."""


def html_text(text: str, *, keep_boilerplate: bool = False) -> HtmlText:
    """Read a page, however malformed."""
    return html_read(text, HtmlText(None if keep_boilerplate else Furniture()))


def html_read(text: str, page: Page) -> Page:
    """Read a page into a new one of any kind."""
    from lxml import etree

    data = text.encode("utf-8", "replace")
    parser = etree.HTMLParser(target=page, encoding="utf-8", huge_tree=True, recover=True)
    work = 0
    for start in range(0, len(data) or 1, _PART):  # a parser that is fed nothing fails
        part = data[start : start + _PART]
        parser.feed(part)
        # The parser looks for the element of each end tag among all that are open.
        work += page.depth * part.count(b"</")
        if work > _MOST_WORK:
            raise RecursionError
    parser.close()
    return page


_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*-->\s*)?<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE,
)
_CHARSET = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)")
# Browsers read these two names as their superset, and so do the pages' authors.
_SUPERSETS = {"iso-8859-1": "cp1252", "us-ascii": "cp1252"}


class HtmlLoader:
    """By suffix; by its first tag when the suffix is none or says plain text."""

    suffixes: tuple[str, ...] = (".html", ".htm", ".xhtml")
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        if suffix in self.suffixes:
            return True
        if suffix in LANGUAGES or suffix in (".md", ".mdx", ".csv", ".tsv", ".json", ".jsonl"):
            return False
        encoding = marked_encoding(head) or "utf-8"
        return _START.match(head.decode(encoding, "replace").lstrip("\ufeff")) is not None

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        markup = _decode(source.read(options.max_bytes), source.origin, options.encoding)
        page = html_text(markup.removeprefix("\ufeff"), keep_boilerplate=options.keep_boilerplate)
        if page.generator == "chunkwise":
            raise UnreadableDocument(source.origin, OWN_PAGE)
        yield page.layout.document(
            source, "html", title=page.title, metadata=page.metadata, links=tuple(page.links)
        )


def _decode(data: bytes, origin: str, encoding: str | None) -> str:
    """As any text; a page that is not UTF-8 may say in its first bytes what it is."""
    try:
        return decode(data, origin)
    except UnreadableDocument:
        declared = _CHARSET.search(data[:1024])
        name = declared[1].decode("ascii").lower() if declared else ""
        if known := charset(_SUPERSETS.get(name, name)):
            try:
                text = data.decode(known)
                text.encode("utf-8")  # UTF-7 can make halves of characters
                return text
            except (LookupError, UnicodeError):
                pass
        # The user's encoding is for what does not say its own.
        if encoding is not None:
            return decode(data, origin, encoding)
        raise
