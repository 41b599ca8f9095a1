"""A page a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.cuts import ArrayCuts, prose_levels
from chunkwise.chunkers.packing.sized_chunker import LARGEST, SizedChunker
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed


@dataclass(frozen=True, kw_only=True)
class PageChunker(SizedChunker):
    """A page or slide a chunk; larger ones split at paragraphs and sentences.

    Use it for slides, forms and scanned pages, or to compare with page-level chunking. Text without pages is one page.
    """

    max_tokens: int = param(
        800, "maximum chunk size", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )

    def split(self, document: Analyzed) -> Sequence[Piece]:
        packer = self.packer(
            document,
            lambda document: [ArrayCuts(lambda: document.paragraphs), *prose_levels(document)],
        )
        pages = np.unique(np.array([0, *document.document.pages], dtype=np.int64))
        starts = document.graphemes.keep(pages[pages < len(document.text)])
        pieces = packer.pack_each(starts, floors=np.zeros_like(starts))
        return self.join_small_chunks(document, pieces)
