"""The values everything is made of: spans, blocks, documents, chunks, hits. Frozen, standard library only."""

from __future__ import annotations

from chunkwise.base.progress import OnProgress
from chunkwise.core.chunk import (
    WRITTEN_CONTEXTS,
    Chunk,
    KnownSection,
    Outline,
    Piece,
    SectionStretch,
    WrittenContext,
)
from chunkwise.core.document import AS_WRITTEN, FORMATS, SECTION_SEPARATOR, Document, Span
from chunkwise.core.hit import Hit, HitPlace
from chunkwise.core.layout import BLOCK_KINDS, Block, BlockKind, Box, Link, PageBoxes
from chunkwise.core.query import Fact, Label, Passage, Query, Reference, Score

__all__ = [
    "AS_WRITTEN",
    "BLOCK_KINDS",
    "FORMATS",
    "SECTION_SEPARATOR",
    "WRITTEN_CONTEXTS",
    "Block",
    "BlockKind",
    "Box",
    "Chunk",
    "Document",
    "Fact",
    "Hit",
    "HitPlace",
    "KnownSection",
    "Label",
    "Link",
    "OnProgress",
    "Outline",
    "PageBoxes",
    "Passage",
    "Piece",
    "Query",
    "Reference",
    "Score",
    "SectionStretch",
    "Span",
    "WrittenContext",
]
