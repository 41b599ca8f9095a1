"""A paragraph a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunkwise.chunkers.cuts import ArrayCuts
from chunkwise.chunkers.levels import clause_levels, glued, sentence_levels
from chunkwise.chunkers.sized import Sized
from chunkwise.core import Piece
from chunkwise.parameters import param
from chunkwise.text.analysis import Analyzed


@dataclass(frozen=True, kw_only=True)
class Paragraphs(Sized):
    """A paragraph, list or table a chunk, with its heading; oversized ones split at sentences.

    Use it for verses, aphorisms, recipes, questions and answers: text written in small units.
    """

    merge: bool = param(False, "fill chunks with several paragraphs up to the limit")

    def split(self, document: Analyzed) -> Sequence[Piece]:
        whole = ArrayCuts(lambda: glued(document, document.paragraphs))
        sentences = sentence_levels(document)
        levels = [whole, *sentences, *clause_levels(document)]
        packer = self.packer(document, levels, nested=True, overlap_cuts=sentences[1])
        starts = whole.positions[:1] if self.merge else whole.positions
        sections = document.sections
        pieces = packer.pack_each(starts, sections.start[sections.at(starts)])
        return self.without_crumbs(document, pieces)
