"""Sentences inside one section at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from chunkwise.chunkers.levels import clause_levels, sentence_levels
from chunkwise.chunkers.sized import LARGEST, Sized
from chunkwise.core import Piece
from chunkwise.parameters import param
from chunkwise.text.analysis import Analyzed


@dataclass(frozen=True, kw_only=True)
class Sections(Sized):
    """Sentences up to the limit inside a section, never across one.

    Use it for handbooks, contracts, papers: anything whose headings divide it by subject.
    """

    default_overlap: ClassVar[tuple[str, int]] = ("overlap_sentences", 2)

    max_tokens: int = param(
        800, "no chunk is larger", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )

    def split(self, document: Analyzed) -> Sequence[Piece]:
        packer = self.packer(document, [*sentence_levels(document), *clause_levels(document)])
        starts = document.sections.regions.tolist()
        pieces: list[Piece] = []
        for start, end in pairwise([*starts, len(document.text)]):
            pieces.extend(self.without_crumbs(document, packer.pack(start, end)))
        return pieces
