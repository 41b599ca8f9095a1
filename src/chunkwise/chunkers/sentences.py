"""Whole sentences up to a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chunkwise.chunkers.packing.cuts import prose_levels
from chunkwise.chunkers.packing.sized_chunker import SizedChunker
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed


@dataclass(frozen=True, kw_only=True)
class SentenceChunker(SizedChunker):
    """Whole sentences up to the limit, overlap 50 tokens (at most a quarter).

    Use it for running prose whose headings do not matter: articles, letters, transcripts.
    """

    default_overlap: ClassVar[tuple[str, int]] = ("overlap", 50)

    in_segments: ClassVar[bool] = True

    def split(self, document: Analyzed) -> Sequence[Piece]:
        packer = self.packer(document, prose_levels)
        return self.join_small_chunks(document, packer.pack(0, len(document.text)))
