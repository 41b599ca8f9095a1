"""Every N characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chunkwise.base import parameters
from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.fixed_size import windows
from chunkwise.chunkers.packing.overlap import check_overlap
from chunkwise.chunkers.packing.sized_chunker import LARGEST
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import TokenizerLike


@dataclass(frozen=True, kw_only=True)
class CharacterChunker:
    """N characters (Unicode code points), with overlap; a grapheme is never cut.

    Use it where a size in characters is prescribed, or as a baseline.
    """

    in_segments: ClassVar[bool] = True

    max_chars: int = param(
        1000, "characters per chunk", unit="characters", low=1, high=LARGEST,
        aliases=("chunk_size", "size"),
    )  # fmt: skip
    overlap: int | str = param(
        0, "characters repeated from the previous chunk (below max_chars), or a share such as '10%'",
        unit="characters", low=0, high=LARGEST - 1, aliases=("chunk_overlap",), share=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        parameters.check(self)
        check_overlap(self.overlap, self.max_chars, "max_chars")

    @property
    def limit(self) -> tuple[TokenizerLike, int]:
        return "characters", self.max_chars

    def split(self, document: Analyzed) -> Sequence[Piece]:
        overlap = check_overlap(self.overlap, self.max_chars, "max_chars")
        return windows(document, document.measure("characters"), self.max_chars, overlap)
