"""Pictures: their text by the user's own OCR; without it a line that says how."""

from __future__ import annotations

from collections.abc import Iterator

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.ocr import EXAMPLE, recognized
from chunkwise.documents.source import Source

_MAGIC = (
    b"\x89PNG\r\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"II*\0",
    b"MM\0*",
    b"\0\0\0\x0cjP  ",
)


class PictureLoader:
    """By its first bytes, whatever the name."""

    suffixes: tuple[str, ...] = (
        ".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".bmp", ".webp", ".jp2",
    )  # fmt: skip
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        if head.isascii() and b"\0" not in head:  # a note about GIF89a is no picture
            return False
        if head.startswith(_MAGIC) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
            return True
        return head.startswith(b"BM") and suffix_of(name) == ".bmp"

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        if options.ocr is None:
            raise UnreadableDocument(source.origin, f"an image; use OCR: {EXAMPLE}")
        suffix = suffix_of(source.name)
        suffix = suffix if suffix in self.suffixes else ".png"
        picture = source.read(options.max_bytes)
        text = recognized(picture, suffix, options.ocr, source.origin)
        yield Document(source.id, text, source=source.origin, format="picture")
