"""Small chunks to find, each with the larger passage to hand out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.cuts import ArrayCuts, glued, prose_levels
from chunkwise.chunkers.packing.packer import Packer
from chunkwise.chunkers.packing.sized_chunker import LARGEST, SizedChunker
from chunkwise.core import Piece, Span
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import TokenizerLike

_PARENT_WORDS = {"words": 500, "section": 2000}


@dataclass(frozen=True, kw_only=True)
class ParentChildChunker(SizedChunker):
    """Small chunks that each know the larger passage around them, whole paragraphs or a section.

    Use it where a question meets one sentence but the answer needs what stands around it.
    """

    in_segments: ClassVar[bool] = True

    max_tokens: int = param(
        100, "maximum chunk size, in tokenizer units", unit="words", low=1, high=LARGEST,
        aliases=("chunk_size", "child_size"),
    )  # fmt: skip
    tokenizer: TokenizerLike = param(
        "words",
        "words, characters, o200k_base, cl100k_base, the path of a tokenizer.json, or a function",
    )
    parent: str = param(
        "words", "words: paragraphs up to parent_size; section: the whole section up to parent_size",
        choices=tuple(_PARENT_WORDS),
    )  # fmt: skip
    parent_size: int | None = param(
        None, "maximum parent size; default: 500 words, sections 2,000",
        unit="words", low=1, high=LARGEST,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokenizer == "words" and self._parent_words < self.max_tokens:
            raise InvalidParameter(
                f"parent_size ({self._parent_words}) must not be smaller than max_tokens "
                f"({self.max_tokens})"
            )

    @property
    def _parent_words(self) -> int:
        return _PARENT_WORDS[self.parent] if self.parent_size is None else self.parent_size

    def split(self, document: Analyzed) -> Sequence[Piece]:
        packer = self.packer(document, prose_levels)
        pieces: list[Piece] = []
        for parent in self._parents(document):
            children = self.join_small_chunks(document, packer.pack(parent.start, parent.end))
            # A line of code may bring its indentation along, which the parent had no room for.
            start = min(parent.start, children[0].start)
            span = Span(start, parent.end)
            pieces.extend(child._replace(parent=span) for child in children)
        return pieces

    def _parents(self, document: Analyzed) -> list[Piece]:
        """They follow each other and leave out nothing but white space."""
        packer = Packer(
            document,
            document.measure("words"),
            self._parent_words,
            lambda document: [
                ArrayCuts(lambda: glued(document, document.paragraphs)),
                *prose_levels(document),
            ],
        )
        apart = self.parent == "section"
        starts = document.regions.tolist() if apart else [0]
        bounds = pairwise([*starts, len(document.text)])
        return [parent for start, end in bounds for parent in packer.pack(start, end)]
