"""The values everything is made of: spans, blocks, documents, chunks, hits. Frozen, standard library only."""

from __future__ import annotations

from chunkwise.core.advance import Advance
from chunkwise.core.chunk import Chunk, KnownSection, Outline, Piece
from chunkwise.core.document import (
    BLOCK_KINDS,
    SECTION_SEPARATOR,
    Block,
    BlockKind,
    Document,
    Span,
)
from chunkwise.core.hit import Hit
from chunkwise.core.question import Fact, Label, Passage, Query, Reference
from chunkwise.core.score import Score

__all__ = [
    "BLOCK_KINDS",
    "SECTION_SEPARATOR",
    "Advance",
    "Block",
    "BlockKind",
    "Chunk",
    "Document",
    "Fact",
    "Hit",
    "KnownSection",
    "Label",
    "Outline",
    "Passage",
    "Piece",
    "Query",
    "Reference",
    "Score",
    "Span",
]
