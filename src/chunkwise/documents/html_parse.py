"""An HTML page read by libxml2 in linear time, whatever the markup."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from chunkwise.documents.html_flat import flattened
from chunkwise.documents.html_text import HtmlText

Page = TypeVar("Page", bound=HtmlText)
_PART = 1 << 16
_WORK = 10**8
"""Open elements that may be looked at, a third of a second; more of them for a longer page."""
_WORK_A_BYTE = 64


class _TooMuchWorkError(Exception):
    """End tags come in such numbers, and so deep, that looking for their elements would take long."""


def html_text(text: str) -> HtmlText:
    """Read a page, however malformed."""
    return html_read(text, HtmlText)


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
