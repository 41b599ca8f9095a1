"""Every N words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chunkwise.base import parameters
from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.cuts import ArrayCuts
from chunkwise.chunkers.packing.overlap import check_overlap, overlap_from
from chunkwise.chunkers.packing.packer import Packer
from chunkwise.chunkers.packing.sized_chunker import LARGEST
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import TokenizerLike

_PRESETS = {"small": (200, 30), "medium": (500, 75), "large": (800, 100)}


@dataclass(frozen=True, kw_only=True)
class WordChunker:
    """N whole words, overlap in words.

    Use it where sizes are spoken of in words. Presets: small 200/30, medium 500/75, large 800/100.
    """

    in_segments: ClassVar[bool] = True

    preset: str = param("medium", "named size and overlap", choices=tuple(_PRESETS))
    max_words: int = param(
        None, "words per chunk, instead of the preset's", unit="words", low=1, high=LARGEST,
        aliases=("chunk_size", "size"),
    )  # fmt: skip
    overlap: int | str = param(
        None, "words repeated from the previous chunk (below max_words), or a share; default: "
        "the preset's, or 0 with max_words",
        unit="words", low=0, high=LARGEST - 1, aliases=("chunk_overlap",), share=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        parameters.check(self)
        # A preset is a size and an overlap by another name: these are what labels show.
        words, overlap = _PRESETS[self.preset] if self.max_words is None else (self.max_words, 0)
        object.__setattr__(self, "preset", "medium")
        object.__setattr__(self, "max_words", words)
        object.__setattr__(self, "overlap", overlap if self.overlap is None else self.overlap)
        check_overlap(self.overlap, words, "max_words")

    @property
    def repeated(self) -> tuple[str, int]:
        """The parameter that decides the overlap, and the amount."""
        return "overlap", check_overlap(self.overlap, self.max_words, "max_words")

    @property
    def limit(self) -> tuple[TokenizerLike, int]:
        return "words", self.max_words

    def split(self, document: Analyzed) -> Sequence[Piece]:
        measure = document.measure("words")
        _, overlap = self.repeated
        packer = Packer(
            document,
            measure,
            self.max_words,
            lambda _: [ArrayCuts(lambda: document.graphemes.keep(measure.starts))],
            overlap_from=overlap_from(document, measure, "overlap", overlap, self.max_words),
        )
        return packer.pack(0, len(document.text))
