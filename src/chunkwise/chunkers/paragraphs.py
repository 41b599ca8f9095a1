"""A paragraph a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunkwise.chunkers.cuts import ArrayCuts
from chunkwise.chunkers.levels import clause_levels, glued, sentence_levels
from chunkwise.chunkers.pack import Packer, merge_crumbs
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
        measure = document.measure(self.tokenizer)
        whole = ArrayCuts(lambda: glued(document, document.paragraphs))
        sentences = sentence_levels(document)
        packer = Packer(
            document,
            measure,
            self.max_tokens,
            [whole, *sentences, *clause_levels(document)],
            nested=True,
            overlap_from=self.overlap_from(document, measure),
            overlap_cuts=sentences[1],
        )
        starts = [0] if self.merge else whole.positions.tolist()
        sections = document.sections.start
        pieces: list[Piece] = []
        for start, end in zip(starts, [*starts[1:], len(document.text)], strict=True):
            section = int(sections[int(sections.searchsorted(start, "right")) - 1])
            pieces.extend(packer.pack(start, end, floor=section))
        return merge_crumbs(pieces, measure, self.max_tokens, self.min_tokens)
