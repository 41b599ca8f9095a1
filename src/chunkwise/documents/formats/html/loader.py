"""HTML pages: read by events as they come.

libxml2 looks for the element of an end tag among all that are open: where many are open and many end tags end none of
them, a page is read without its nesting (`flattened`), blocks are only told apart, and every word stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.code import LANGUAGES
from chunkwise.documents.formats.html.elements import BLOCKS, DRAWING_TEXTS, SET_APART, SKIPPED
from chunkwise.documents.formats.html.main_text import Furniture
from chunkwise.documents.formats.html.parser import HtmlText
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source
from chunkwise.documents.walk import OWN_PAGE
from chunkwise.records.encoding import charset, decode, marked_encoding

Page = TypeVar("Page", bound=HtmlText)
_PART = 1 << 16
_WORK = 10**8
"""Open elements that may be looked at, a third of a second; more of them for a longer page."""
_WORK_A_BYTE = 64


class _TooMuchWorkError(Exception):
    """End tags come in such numbers, and so deep, that looking for their elements would take long."""


def html_text(text: str, *, keep_boilerplate: bool = False) -> HtmlText:
    """Read a page, however malformed."""
    return html_read(text, lambda: HtmlText(None if keep_boilerplate else Furniture()))


def html_read(text: str, new: Callable[[], Page]) -> Page:
    """Read a page into a new one of any kind."""
    data = text.encode("utf-8", "replace")
    try:
        return _parsed(data, new(), _WORK + _WORK_A_BYTE * len(data))
    except _TooMuchWorkError:
        flat = flattened(data)
        return _parsed(flat, new(), _WORK + _WORK_A_BYTE * len(flat))


def _parsed(data: bytes, page: Page, work: int) -> Page:
    from lxml import etree

    parser = etree.HTMLParser(target=page, encoding="utf-8", huge_tree=True, recover=True)
    for start in range(0, len(data) or 1, _PART):  # a parser that is fed nothing fails
        part = data[start : start + _PART]
        # The parser looks for the element of each end tag among all that are open: those that are
        # now, known before the work is done, and those that the part itself opens.
        ends = part.count(b"</")
        if work < ends * page.depth:
            raise _TooMuchWorkError
        parser.feed(part)
        work -= ends * page.deepest()
        if work < 0:
            raise _TooMuchWorkError
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
        yield Document(
            source.id,
            page.layout.text,
            title=page.title,
            source=source.origin,
            format="html",
            metadata=page.metadata,
            blocks=tuple(page.layout.blocks),
            links=tuple(page.links),
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


# Quotes count behind an equals sign only; possessive, so that no hostile tag is tried twice.
_TAG = re.compile(rb"</?([a-z][^\s/>]*+)(?:=\s*+(?:\"[^\"]*+\"|'[^']*+')|[^>])*+>", re.IGNORECASE)
_RAW = frozenset({"textarea", "xmp", "iframe", "noembed", "noframes"}) | SKIPPED - {"template"}
_KEPT = frozenset({"br", "img", "meta"})  # the parser ends each of these itself
_APART = SET_APART | DRAWING_TEXTS
_PLAIN_TAGS = re.compile(
    b"(?:</?(?:" + "|".join(sorted(BLOCKS - _RAW, reverse=True)).encode() + b")>)++", re.IGNORECASE
)
"""Tags of blocks one behind the other: a page may have a million of them, and two rules say as much as many."""


def flattened(data: bytes) -> bytes:
    """The page with a rule in place of each block's tags; scripts and their like stay whole."""
    out: list[bytes] = []
    lowered = data.lower()
    done = 0
    while (start := data.find(b"<", done)) >= 0:
        out.append(data[done:start])
        if tags := _PLAIN_TAGS.match(data, start):
            # Behind a tag that was cut open by what is left out, the first rule is taken for a part of it.
            kept, done = b"<hr><hr>" if tags[0].count(b"<") > 1 else b"<hr>", tags.end()
        else:
            kept, done = _markup(data, lowered, start)
        out.append(kept)
    out.append(data[done:])
    return b"".join(out)


def _markup(data: bytes, lowered: bytes, start: int) -> tuple[bytes, int]:
    """What stands for the markup that begins here, and where it ends."""
    follows = data[start + 1 : start + 3]
    if not (follows[:1].isalpha() or (follows[:1] == b"/" and follows[1:].isalpha())):
        if follows[:1] not in (b"!", b"?", b"/"):
            return b"<", start + 1
        mark = b"-->" if data.startswith(b"<!--", start) else b">"
        return b"", _behind(data, mark, start)
    tag = _TAG.match(data, start)
    if tag is None:  # it never ends, and hides all that follows
        return b"", len(data)
    name = tag[1].lower().decode("utf-8", "replace")
    starts = follows[:1] != b"/"
    if starts and name in _RAW:
        end = _behind(data, b">", _behind(lowered, f"</{name}".encode(), tag.end()))
        return data[start:end], end
    if name in BLOCKS:
        return b"<hr>", tag.end()
    if starts and name in _KEPT:
        return tag[0], tag.end()
    return b" " if name in _APART else b"", tag.end()


def _behind(data: bytes, mark: bytes, start: int) -> int:
    found = data.find(mark, start)
    return found + len(mark) if found >= 0 else len(data)
