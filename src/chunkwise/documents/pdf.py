"""PDF: the text of every page, and where each page starts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chunkwise.core import Document
from chunkwise.documents.loader import OnSkip, suffix_of
from chunkwise.documents.options import LoadOptions
from chunkwise.documents.pdf_bookmarks import Bookmark, bookmarks, with_bookmarks
from chunkwise.documents.pdf_hyphens import without_hyphens
from chunkwise.documents.pdf_pages import joined_pages
from chunkwise.documents.source import Source
from chunkwise.errors import UnreadableDocument

if TYPE_CHECKING:
    import pypdfium2

_PASSWORD_ERRORS = (4, 5)
_LOCK = threading.Lock()  # PDFium may be called by one thread at a time
# NUL is a glyph without a character.
_REPAIRS = str.maketrans({"\x00": None, "\r": None})


class PdfLoader:
    """By its first bytes, whatever the name."""

    suffixes: tuple[str, ...] = (".pdf",)
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        if suffix_of(name) in self.suffixes and b"%PDF-" in head[:1024]:
            return True  # some writers put other bytes in front
        return head.lstrip().startswith(b"%PDF-")

    def load(self, source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
        data = source.read(options.max_bytes)
        with _LOCK:
            title, texts, marks = _pages(data, source.origin)
        if not any(text.strip() for text in texts):
            pages = "its only page" if len(texts) == 1 else f"any of its {len(texts)} pages"
            raise UnreadableDocument(source.origin, f"no text on {pages} (scanned?); run OCR first")
        text, starts = joined_pages(without_hyphens(texts))
        document = Document(
            source.id,
            text,
            title=title,
            source=source.origin,
            format="pdf",
            pages=starts,
        )
        yield with_bookmarks(document, marks)


def _pages(data: bytes, origin: str) -> tuple[str, list[str], list[Bookmark]]:
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in _PASSWORD_ERRORS:
            raise UnreadableDocument(origin, "encrypted; save it without its password") from error
        raise UnreadableDocument(origin, "damaged or truncated PDF") from error
    try:
        title = pdf.get_metadata_value("Title").translate(_REPAIRS).strip()
        texts = [_page_text(pdf, number, origin) for number in range(len(pdf))]
        return title, texts, bookmarks(pdf)
    finally:
        pdf.close()


def _page_text(pdf: pypdfium2.PdfDocument, number: int, origin: str) -> str:
    from pypdfium2 import PdfiumError

    try:
        page = pdf[number]
        try:
            content = page.get_textpage()
            try:
                text: str = content.get_text_range()
            finally:
                content.close()
        finally:
            page.close()
    except PdfiumError as error:
        raise UnreadableDocument(origin, f"damaged PDF: page {number + 1} is broken") from error
    return text.translate(_REPAIRS)
