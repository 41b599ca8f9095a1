"""Plain text, kept to the character; also the last resort for a file nobody else accepts."""

from __future__ import annotations

from collections.abc import Iterator

from chunkwise.core import Document
from chunkwise.documents.loader import LoadOptions, OnUnreadable, text_in
from chunkwise.documents.source import Source


class TextLoader:
    """Accepts everything, so it must be asked last."""

    suffixes: tuple[str, ...] = (".txt", ".text", ".log")
    stream = False
    guarded = False

    def accepts(self, name: str, head: bytes) -> bool:
        return True

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        text = text_in(source, options)
        yield Document(source.id, text, source=source.origin)
