"""Chunks that somebody else made, as a strategy: they can be indexed and searched like our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass
from hashlib import blake2b
from typing import Literal

from chunkwise.core import Piece, Span
from chunkwise.metrics.citations.position import PositionVerdict
from chunkwise.text.analysis import Analyzed

Located = Literal["claimed", "found", "found but for signs", ""]
"""How a chunk's place is known: by its offsets, by its text, by its text but for white space, quotes and dashes;
empty: it is not."""


@dataclass(frozen=True, slots=True)
class GivenChunk:
    """One row of a chunk file."""

    where: str
    """File and line, as messages name it."""
    doc_id: str
    """Of the document it was found to belong to; empty: of none."""
    place: Span | None
    located: Located
    context: str = ""
    """What is indexed beside it."""


@dataclass(frozen=True, slots=True)
class GivenChunks:
    """A chunk file, row by row."""

    path: str
    chunks: tuple[GivenChunk, ...]
    position: list[PositionVerdict]
    """Of each row, what its own offsets are worth."""

    def strategy(self) -> FileChunks:
        """What cuts the same documents as the file does."""
        pieces: dict[str, dict[Span, Piece]] = {}
        for chunk in self.chunks:
            if chunk.place is not None:
                own = pieces.setdefault(chunk.doc_id, {})
                own.setdefault(chunk.place, Piece(*chunk.place, chunk.context))
        by_start = {
            doc_id: tuple(own[place] for place in sorted(own)) for doc_id, own in pieces.items()
        }
        found = blake2b(
            repr(sorted(by_start.items())).encode("utf-8", "surrogatepass"), digest_size=6
        )
        return FileChunks(self.path, found.hexdigest(), by_start)


@dataclass(frozen=True)
class FileChunks:
    """The chunks of a file, by start, each place once; documents it does not know have none."""

    file: str
    hash: str
    """Of the places: an index made with other chunks of the same file name is told apart."""
    pieces: InitVar[Mapping[str, Sequence[Piece]]]
    """By the id of the document."""

    def __post_init__(self, pieces: Mapping[str, Sequence[Piece]]) -> None:
        object.__setattr__(self, "_pieces", pieces)

    def split(self, document: Analyzed) -> Sequence[Piece]:
        pieces: Mapping[str, Sequence[Piece]] = vars(self)["_pieces"]
        return pieces.get(document.document.id, ())
