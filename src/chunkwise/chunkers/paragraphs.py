"""A paragraph a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.cuts import (
    ArrayCuts,
    LeadInCuts,
    clause_levels,
    glued,
    sentence_levels,
)
from chunkwise.chunkers.packing.sized_chunker import SizedChunker
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed


@dataclass(frozen=True, kw_only=True)
class ParagraphChunker(SizedChunker):
    """A paragraph, list or table a chunk, with its heading; oversized ones split at sentences.

    Use it for verses, aphorisms, recipes, questions and answers: text written in small units.
    """

    in_segments: ClassVar[bool] = True

    merge: bool = param(False, "merge paragraphs up to the limit")

    def split(self, document: Analyzed) -> Sequence[Piece]:
        leads = LeadInCuts(document, document.measure(self.tokenizer), self.max_tokens)
        paragraphs = glued(document, document.paragraphs, leads.torn)
        whole = ArrayCuts(lambda: paragraphs)
        leading = ArrayCuts(lambda: glued(document, leads.sentences))
        sentences = sentence_levels(document)
        levels = [whole, leading, *sentences, *clause_levels(document)]
        packer = self.packer(document, lambda _: levels, nested=True, overlap_cuts=sentences[-1])
        starts = paragraphs[:1] if self.merge else paragraphs
        sections = document.sections
        pieces = packer.pack_each(starts, sections.start[sections.at(starts)])
        return self.join_small_chunks(document, pieces)
