"""What tells whether a document is still what an index was made with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers import Strategy
from chunkwise.core import Chunk, Document
from chunkwise.text.analyzed import Analyzed


def document_fingerprint(document: Document) -> str:
    """Hash of all that chunks, terms, vectors and names are made from: not of the id, the source or the metadata.

    Of names one is missing, that of the file: see `text.names.own_file_key`.
    """
    found = blake2b(digest_size=16)
    layout = repr((document.blocks, document.pages))
    if document.links:
        layout += repr(document.links)
    for value in (document.text, document.title, document.format, document.language, layout):
        data = value.encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.hexdigest()


def unfinished_fingerprint(fingerprint: str) -> str:
    """Of a document that something is still missing of: it fits no document, so that the next update looks again."""
    return bytes(255 - each for each in bytes.fromhex(fingerprint)).hex()


def fingerprint_heads(fingerprints: Iterable[str]) -> NDArray[np.uint64]:
    """The first eight bytes of each, sorted: small enough to be sent to every worker."""
    return np.sort(np.array([int(each[:16], 16) for each in fingerprints], np.uint64))


class OnlyNew(Strategy):
    """A strategy that passes over documents an index knows already, in whatever process it runs."""

    def __init__(self, strategy: Strategy, known: NDArray[np.uint64]) -> None:
        super().__init__(strategy.name, strategy.chunker)
        self._known = known

    def chunks(self, document: Document | Analyzed) -> Iterator[Chunk]:
        source = document.document if isinstance(document, Analyzed) else document
        head = np.uint64(int(document_fingerprint(source)[:16], 16))
        at = int(self._known.searchsorted(head))
        if at < len(self._known) and self._known[at] == head:
            return iter(())
        return super().chunks(document)
