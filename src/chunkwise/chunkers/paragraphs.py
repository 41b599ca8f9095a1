"""A paragraph a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
        paragraphs = glued(document, document.paragraphs)
        whole = ArrayCuts(lambda: paragraphs)
        sentences = sentence_levels(document, self._oversized(document, paragraphs))
        levels = [whole, *sentences, *clause_levels(document)]
        packer = self.packer(document, levels, nested=True, overlap_cuts=sentences[1])
        starts = paragraphs[:1] if self.merge else paragraphs
        sections = document.sections
        pieces = packer.pack_each(starts, sections.start[sections.at(starts)])
        return self.without_crumbs(document, pieces)

    def _oversized(
        self, document: Analyzed, paragraphs: NDArray[np.int64]
    ) -> NDArray[np.int64] | None:
        """Paragraphs that no chunk holds: in a text of short ones few sentences are ever asked for."""
        if self.overlaps:
            return None
        ends = np.append(paragraphs[1:], len(document.text))
        reach = document.measure(self.tokenizer).reaches(paragraphs, self.max_tokens)
        return np.stack((paragraphs, ends), axis=1)[reach < ends]
