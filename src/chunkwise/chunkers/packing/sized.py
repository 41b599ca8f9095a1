"""The parameters that all size-limited strategies share, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.base import parameters
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.cuts import CutLevel
from chunkwise.chunkers.packing.packer import NestedPacker, Packer
from chunkwise.core import Piece
from chunkwise.text.analysis import Analyzed
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer

LARGEST = 10_000_000
_OVERLAPS = ("overlap", "overlap_words", "overlap_sentences")


@dataclass(frozen=True, kw_only=True)
class SizedChunker:
    """A hard limit, one kind of overlap, and the tokenizer both are counted by."""

    default_overlap: ClassVar[tuple[str, int]] = ("overlap", 0)
    """The overlap, at most a quarter of the limit, where the user names none."""

    max_tokens: int = param(
        400, "no chunk is larger", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )
    overlap: int | str | None = param(
        None, "repeated from the chunk before, less than max_tokens: tokens, or a share such as '10%'",
        unit="tokens", low=0, high=LARGEST - 1, aliases=("chunk_overlap", "overlap_tokens"), share=True,
    )  # fmt: skip
    overlap_words: int | None = param(
        None, "the same, in words instead", unit="words", low=0, high=LARGEST - 1
    )
    overlap_sentences: int | None = param(
        None, "the same, in sentences instead", unit="sentences", low=0, high=1000
    )
    min_tokens: int | None = param(
        0,
        "smaller chunks join a neighbour where the limit allows",
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
        given = [name for name in _OVERLAPS if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidParameter(
                f"{' and '.join(given)} are given; overlap has one unit: choose one"
            )
        for name in given:
            check_overlap(getattr(self, name), self.max_tokens, "max_tokens", name)

    @property
    def limit(self) -> tuple[TokenizerLike, int]:
        """What the hard limit is counted by, and the limit."""
        return self.tokenizer, self.max_tokens

    @property
    def overlaps(self) -> bool:
        """Whether chunks repeat something of the one before."""
        return self._overlap()[1] > 0

    def _overlap(self) -> tuple[str, int]:
        """Unit and amount."""
        if self.overlap is not None:
            return "overlap", overlap_tokens(self.overlap, self.max_tokens)
        for unit in _OVERLAPS:
            amount = getattr(self, unit)
            if amount is not None:
                return unit, amount
        unit, amount = self.default_overlap
        return unit, min(amount, self.max_tokens // 4) if unit == "overlap" else amount

    def packer(
        self,
        document: Analyzed,
        levels: Sequence[CutLevel],
        *,
        nested: bool = False,
        apart: int = 0,
        overlap_cuts: CutLevel | None = None,
    ) -> Packer:
        """What fills chunks of these levels up to the limit, with the overlap asked for."""
        made = NestedPacker if nested else Packer
        return made(
            document,
            document.measure(self.tokenizer),
            self.max_tokens,
            levels,
            nested=nested,
            apart=apart,
            overlap_from=self._overlap_from(document),
            overlap_cuts=overlap_cuts,
        )

    def join_small_chunks(self, document: Analyzed, pieces: list[Piece]) -> list[Piece]:
        """Pieces smaller than `min_tokens` joined with a neighbour where the limit allows."""
        if not self.min_tokens:
            return pieces
        measure = document.measure(self.tokenizer)
        kept: list[Piece] = []
        for piece in pieces:
            if kept and min(piece.token_count, kept[-1].token_count) < self.min_tokens:
                size = measure.count(kept[-1].start, piece.end)
                if size <= self.max_tokens:
                    kept[-1] = Piece(kept[-1].start, piece.end, "", size)
                    continue
            kept.append(piece)
        return kept

    def _overlap_from(self, document: Analyzed) -> Callable[[int], int] | None:
        """For the start of fresh text, the earliest start of a chunk that repeats what precedes it."""
        unit, amount = self._overlap()
        if not amount:
            return None
        measure = document.measure(self.tokenizer)
        if unit == "overlap":
            return lambda fresh: measure.back(fresh, amount)
        sentences = unit == "overlap_sentences"
        starts = document.sentences if sentences else document.characters.word_starts
        # Two sentences may fill a chunk: at least half of it is fresh.
        return lambda fresh: max(
            _units_back(starts, fresh, amount), measure.back(fresh, self.max_tokens // 2)
        )


def _units_back(starts: NDArray[np.int64], fresh: int, amount: int) -> int:
    index = int(starts.searchsorted(fresh)) - amount
    return int(starts[index]) if index > 0 else 0


def overlap_tokens(overlap: int | str, limit: int) -> int:
    """An overlap in tokens; "10%" is a share of the limit."""
    if isinstance(overlap, int) and not isinstance(overlap, bool) and overlap >= 0:
        return overlap
    if isinstance(overlap, str) and overlap.endswith("%"):
        number = overlap[:-1].strip()
        if number.isascii() and number.replace(".", "", 1).isdigit():
            return int(limit * float(number) / 100)
    raise InvalidParameter(
        f"overlap is {overlap!r}; a whole number from 0 up or a share such as '10%' is needed"
    )


def check_overlap(overlap: int | str, limit: int, limit_name: str, name: str = "overlap") -> int:
    """The overlap in units of the limit, refused where it leaves no room for fresh text."""
    amount = overlap_tokens(overlap, limit)
    if amount >= limit:  # in words or sentences, too: none is smaller than a token
        raise InvalidParameter(f"{name} ({overlap}) must be smaller than {limit_name} ({limit})")
    return amount
