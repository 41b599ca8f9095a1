"""Every N tokens."""

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
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer


@dataclass(frozen=True, kw_only=True)
class TokenChunker:
    """N tokens, overlap in tokens; cuts fall where they fall, between graphemes.

    Use it as the baseline every other strategy has to beat.
    """

    in_segments: ClassVar[bool] = True

    max_tokens: int = param(
        400, "tokens per chunk", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )
    overlap: int | str = param(
        0, "tokens repeated from the previous chunk (below max_tokens), or a share such as '10%'",
        unit="tokens", low=0, high=LARGEST - 1, aliases=("chunk_overlap",), share=True,
    )  # fmt: skip
    tokenizer: TokenizerLike = param(
        DEFAULT_TOKENIZER, "o200k_base, cl100k_base, the path of a tokenizer.json, or a function"
    )

    def __post_init__(self) -> None:
        parameters.check(self)
        get_tokenizer(self.tokenizer)
        check_overlap(self.overlap, self.max_tokens, "max_tokens")

    @property
    def limit(self) -> tuple[TokenizerLike, int]:
        return self.tokenizer, self.max_tokens

    def split(self, document: Analyzed) -> Sequence[Piece]:
        overlap = check_overlap(self.overlap, self.max_tokens, "max_tokens")
        return windows(document, document.measure(self.tokenizer), self.max_tokens, overlap)
