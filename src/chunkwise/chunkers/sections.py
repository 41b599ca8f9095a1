"""Sentences inside one section at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import ClassVar

from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.cuts import prose_levels
from chunkwise.chunkers.packing.sized_chunker import LARGEST, SizedChunker
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed


@dataclass(frozen=True, kw_only=True)
class SectionChunker(SizedChunker):
    """Sentences up to the limit inside a section, never across one; overlap 2 sentences.

    Use it for handbooks, contracts, papers: anything whose headings divide it by subject.
    """

    default_overlap: ClassVar[tuple[str, int]] = ("overlap_sentences", 2)

    in_segments: ClassVar[bool] = True

    max_tokens: int = param(
        800, "maximum chunk size", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )

    def split(self, document: Analyzed) -> Sequence[Piece]:
        packer = self.packer(document, prose_levels)
        starts = document.regions
        pieces = packer.pack_each(starts, floors=starts)
        if not self.min_tokens:
            return pieces
        region = partial(bisect_right, starts.tolist())
        regions = groupby(pieces, key=lambda piece: region(piece.start))
        return [piece for _, own in regions for piece in self.join_small_chunks(document, [*own])]
