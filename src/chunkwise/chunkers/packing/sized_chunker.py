"""The parameters that all size-limited strategies share, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chunkwise.base import parameters
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.cuts import CutLevel
from chunkwise.chunkers.packing.overlap import UNITS, check_overlap, overlap_from, overlap_tokens
from chunkwise.chunkers.packing.packer import FindLevels, Packer
from chunkwise.chunkers.packing.small_chunks import with_the_one_before
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer

LARGEST = 10_000_000


@dataclass(frozen=True, kw_only=True)
class SizedChunker:
    """A hard limit, one kind of overlap, and the tokenizer both are counted by."""

    default_overlap: ClassVar[tuple[str, int]] = ("overlap", 0)
    """The overlap, at most a quarter of the limit, where the user names none."""

    max_tokens: int = param(
        400, "maximum chunk size", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )
    overlap: int | str | None = param(
        None, "tokens repeated from the previous chunk (below max_tokens), or a share such as '10%'",
        unit="tokens", low=0, high=LARGEST - 1, aliases=("chunk_overlap", "overlap_tokens"), share=True,
    )  # fmt: skip
    overlap_words: int | None = param(
        None, "overlap in words instead", unit="words", low=0, high=LARGEST - 1
    )
    overlap_sentences: int | None = param(
        None, "overlap in sentences instead", unit="sentences", low=0, high=1000
    )
    min_tokens: int | None = param(
        0,
        "smaller chunks are merged with a neighbor if they fit",
        unit="tokens",
        low=0,
        high=LARGEST,
    )
    tokenizer: TokenizerLike = param(
        DEFAULT_TOKENIZER,
        "o200k_base, cl100k_base, words, characters, the path of a tokenizer.json, or a function",
    )

    def __post_init__(self) -> None:
        parameters.check(self)
        get_tokenizer(self.tokenizer)
        if (self.min_tokens or 0) > self.max_tokens:
            raise InvalidParameter(
                f"min_tokens ({self.min_tokens}) must not exceed max_tokens ({self.max_tokens})"
            )
        given = [name for name in UNITS if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidParameter(f"{' and '.join(given)} conflict; give the overlap in one unit")
        for name in given:
            check_overlap(getattr(self, name), self.max_tokens, "max_tokens", name)

    @property
    def limit(self) -> tuple[TokenizerLike, int]:
        """What the hard limit is counted by, and the limit."""
        return self.tokenizer, self.max_tokens

    @property
    def overlaps(self) -> bool:
        """Whether chunks repeat something of the one before."""
        return self.repeated[1] > 0

    @property
    def asks_for_overlap(self) -> bool:
        """Whether the user named an overlap: where it is missing, it is missed."""
        return any(getattr(self, unit) is not None for unit in UNITS) and self.overlaps

    @property
    def repeated(self) -> tuple[str, int]:
        """The parameter that decides the overlap, and the amount; the default's where the user names none."""
        if self.overlap is not None:
            return "overlap", overlap_tokens(self.overlap, self.max_tokens)
        for unit in UNITS:
            amount = getattr(self, unit)
            if amount is not None:
                return unit, amount
        unit, amount = self.default_overlap
        return unit, min(amount, self.max_tokens // 4) if unit == "overlap" else amount

    def packer(
        self,
        document: Analyzed,
        find_levels: FindLevels,
        *,
        nested: bool = False,
        apart: int = 0,
        overlap_cuts: CutLevel | None = None,
    ) -> Packer:
        """What fills chunks up to the limit, cut at these levels, with the overlap asked for."""
        measure = document.measure(self.tokenizer)
        return Packer(
            document,
            measure,
            self.max_tokens,
            find_levels,
            nested=nested,
            apart=apart,
            overlap_from=overlap_from(document, measure, *self.repeated, self.max_tokens),
            overlap_cuts=overlap_cuts,
        )

    def join_small_chunks(self, document: Analyzed, pieces: list[Piece]) -> list[Piece]:
        """Pieces smaller than `min_tokens` joined with a neighbor where the limit allows."""
        if not self.min_tokens:
            return pieces
        sizes = self.min_tokens, self.max_tokens
        return with_the_one_before(pieces, document.measure(self.tokenizer), *sizes)
