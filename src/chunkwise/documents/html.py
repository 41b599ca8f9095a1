"""HTML pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkwise.core import Document
from chunkwise.documents.code import LANGUAGES
from chunkwise.documents.encoding import decode, marked_encoding
from chunkwise.documents.html_parse import html_text
from chunkwise.documents.loader import OnSkip, suffix_of
from chunkwise.documents.options import LoadOptions
from chunkwise.documents.source import Source
from chunkwise.errors import UnreadableDocument

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

    def load(self, source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
        markup = _decode(source.read(options.max_bytes), source.origin, options.encoding)
        page = html_text(markup.removeprefix("\ufeff"))
        if page.generator == "chunkwise":
            raise UnreadableDocument(source.origin, "a page written by chunkwise, not a document")
        yield Document(
            source.id,
            page.layout.text,
            title=page.title,
            source=source.origin,
            format="html",
            blocks=tuple(page.layout.blocks),
        )


def _decode(data: bytes, origin: str, encoding: str | None) -> str:
    """As any text; a page that is not UTF-8 may say in its first bytes what it is."""
    try:
        return decode(data, origin)
    except UnreadableDocument:
        declared = _CHARSET.search(data[:1024])
        name = declared[1].decode("ascii").lower() if declared else ""
        if name:
            try:
                return data.decode(_SUPERSETS.get(name, name))
            except (LookupError, UnicodeError):
                pass
        # The user's encoding is for what does not say its own.
        if encoding is not None:
            return decode(data, origin, encoding)
        raise
