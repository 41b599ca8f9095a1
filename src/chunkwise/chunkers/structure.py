"""Headings with their text; lists, tables and code kept whole while they fit, items with what belongs to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.packing.cuts import (
    ArrayCuts,
    CutLevel,
    LeadInCuts,
    glued,
    prose_levels,
)
from chunkwise.chunkers.packing.sized_chunker import SizedChunker
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.positions import without
from chunkwise.text.tokens.tokenizers import TokenizerLike

_DEEP = 2
"""Columns: what stands less far to the right is no part of an item."""


class ItemParts(NamedTuple):
    """Starts of blocks that are no places to cut a list at."""

    parts: NDArray[np.int64]
    """Of what belongs to the item before it."""
    items: NDArray[np.int64]
    """Of the items right behind such parts: their list goes on."""


def item_parts(document: Analyzed) -> ItemParts:
    """Blocks between two items of one list, or indented below an item with nothing less deep between."""
    blocks, lines = document.blocks, document.lines
    count = len(blocks)
    is_item, breaks = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    is_item[blocks.of("item")] = True
    if not is_item.any() or document.document.format == "code":
        return ItemParts(blocks.start[:0], blocks.start[:0])
    breaks[blocks.of("heading")] = True
    item = _last(is_item)
    following = count - 1 - _last(is_item[::-1])[::-1]
    one_list = (item >= 0) & (following < count)
    one_list[one_list] = blocks.group[item[one_list]] == blocks.group[following[one_list]]
    line = lines.start.searchsorted(blocks.start, "right") - 1
    breaks |= ~is_item & ~one_list & (lines.indent[line] < _DEEP)
    part = ~is_item & ~breaks & (item > _last(breaks))
    behind = is_item & np.append(False, part[:-1])
    return ItemParts(blocks.start[part], blocks.start[behind])


def _last(wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each block the last wanted one up to it, or -1."""
    return np.maximum.accumulate(np.where(wanted, np.arange(len(wanted)), -1))


@dataclass(frozen=True, kw_only=True)
class StructureChunker(SizedChunker):
    """A section with its subsections while it fits, then whole paragraphs, lists, tables, code, then parts.

    Use it for Markdown, HTML and DOCX with tables, lists and code. A split table's header is in `context`.
    """

    in_segments: ClassVar[bool] = True

    def split(self, document: Analyzed) -> Sequence[Piece]:
        sections = heading_levels(document)
        packer = self.packer(
            document,
            lambda _: [*sections, *block_levels(document, self.tokenizer, self.max_tokens)],
            nested=True,
            apart=len(sections),
        )
        pieces = self.join_small_chunks(document, packer.pack(0, len(document.text)))
        measure = document.measure(self.tokenizer)
        headers = document.table_headers(
            np.array([piece.start for piece in pieces], dtype=np.int64),
            lambda block: measure.count(block.start, block.end) <= self.max_tokens,
        )
        for number, header in headers.items():
            pieces[number] = pieces[number]._replace(context=header)
        return pieces


def heading_levels(document: Analyzed) -> list[CutLevel]:
    """Starts of sections, a level each depth of heading."""
    blocks = document.blocks
    heading = blocks.of("heading")
    levels: list[CutLevel] = []
    for depth in np.unique(blocks.level[heading]).tolist():
        starts = blocks.start[heading[blocks.level[heading] == depth]]
        # Below a bare heading the next one is no place to cut: it would stand alone.
        levels.append(ArrayCuts(partial(_headings, document, starts)))
    return levels


def _headings(document: Analyzed, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    return document.graphemes.keep(glued(document, starts))


def block_levels(document: Analyzed, tokenizer: TokenizerLike, limit: int) -> list[CutLevel]:
    """Paragraphs, lists, tables and code, each with its lead-in, then their parts, sentences, clauses, words."""
    blocks = document.blocks
    item = blocks.of("item")
    outer = blocks.start[item[blocks.level[item] == 0]]
    inside = cache(partial(item_parts, document))

    leads = LeadInCuts(document, document.measure(tokenizer), limit)

    def whole() -> NDArray[np.int64]:
        return without(document.paragraphs, np.concatenate(inside()))

    return [
        ArrayCuts(lambda: glued(document, whole(), leads.torn)),
        ArrayCuts(lambda: glued(document, leads.sentences)),
        ArrayCuts(lambda: document.graphemes.keep(outer)),
        ArrayCuts(lambda: document.graphemes.keep(glued(document, inside().parts))),
        *prose_levels(document),
    ]
