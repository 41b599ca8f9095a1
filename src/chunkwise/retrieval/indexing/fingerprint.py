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

    Of names one is missing, that of the file: see `text.names_by_rules.own_file_key`.
    """
    data = _encoded(document.text)
    result = _begun(len(data))
    result.update(data)
    return _fingerprint(document, result)


class RunningFingerprint:
    """The same for a text that comes piece by piece, and of which `size` bytes of UTF-8 are expected."""

    def __init__(self, document: Document, size: int) -> None:
        self._document = document
        self._left = size
        self._hash = _begun(size)

    def over(self, text: Iterable[str]) -> Iterator[str]:
        """The pieces, each handed on when it is counted in."""
        for piece in text:
            data = _encoded(piece)
            self._left -= len(data)
            self._hash.update(data)
            yield piece

    def found(self) -> str | None:
        """At the end of the text; None: it is longer or shorter than was expected, so it is another one."""
        return None if self._left else _fingerprint(self._document, self._hash)


def _begun(length: int) -> blake2b:
    return blake2b(length.to_bytes(8, "little"), digest_size=16)


def _fingerprint(document: Document, found: blake2b) -> str:
    """With what is said of the text that was counted in."""
    layout = repr((document.blocks, document.pages))
    if document.links:
        layout += repr(document.links)
    for value in (document.title, document.format, document.language, layout):
        data = _encoded(value)
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.hexdigest()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def unfinished_fingerprint(fingerprint: str) -> str:
    """Of a document that something is still missing of: it fits no document, so that the next update looks again."""
    return bytes(255 - number for number in bytes.fromhex(fingerprint)).hex()


def fingerprint_heads(fingerprints: Iterable[str]) -> NDArray[np.uint64]:
    """The first eight bytes of each, sorted: small enough to be sent to every worker."""
    return np.sort(np.array([int(fingerprint[:16], 16) for fingerprint in fingerprints], np.uint64))


class OnlyNew(Strategy):
    """A strategy that passes over documents an index knows already, in whatever process it runs."""

    def __init__(self, strategy: Strategy, known: NDArray[np.uint64]) -> None:
        super().__init__(strategy.name, strategy.chunker)
        self._known = known

    @property
    def of_all(self) -> Strategy:
        """The strategy for any document."""
        return Strategy(self.name, self.chunker)

    def chunks(self, document: Document | Analyzed) -> Iterator[Chunk]:
        source = document.document if isinstance(document, Analyzed) else document
        return iter(()) if self.knows(document_fingerprint(source)) else super().chunks(document)

    def knows(self, fingerprint: str) -> bool:
        """Whether an index most likely has a document with it."""
        head = np.uint64(int(fingerprint[:16], 16))
        at = int(self._known.searchsorted(head))
        return at < len(self._known) and bool(self._known[at] == head)
