"""Headings with their text; lists, tables and code kept whole while they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.cuts import ArrayCuts, Cuts
from chunkwise.chunkers.item_parts import item_parts
from chunkwise.chunkers.levels import clause_levels, glued, sentence_levels
from chunkwise.chunkers.sized import Sized
from chunkwise.core import Piece
from chunkwise.text.analysis import Analyzed


@dataclass(frozen=True, kw_only=True)
class Structure(Sized):
    """A section with its subsections while it fits, then whole paragraphs, lists, tables, code, then parts.

    Use it for Markdown, HTML and DOCX with tables, lists and code. A split table's header is in `context`.
    """

    def split(self, document: Analyzed) -> Sequence[Piece]:
        sections = heading_levels(document)
        packer = self.packer(
            document, [*sections, *block_levels(document)], nested=True, apart=len(sections)
        )
        pieces = self.without_crumbs(document, packer.pack(0, len(document.text)))
        return self._with_table_headers(document, pieces)

    def _with_table_headers(self, document: Analyzed, pieces: list[Piece]) -> list[Piece]:
        blocks = document.blocks
        header = blocks.of("header")
        if not len(header) or not pieces:
            return pieces
        measure = document.measure(self.tokenizer)
        starts = np.array([piece.start for piece in pieces])
        # The block a chunk starts in, and the last table header before it.
        block = blocks.start.searchsorted(starts, "right") - 1
        above = header.searchsorted(block, "right") - 1
        told: dict[int, str] = {}
        for number in np.flatnonzero((block >= 0) & (above >= 0)).tolist():
            row, head = blocks[int(block[number])], int(header[above[number]])
            if row.kind != "row" or row.group != blocks.group[head] or starts[number] >= row.end:
                continue
            if head not in told:
                first, last = int(blocks.start[head]), int(blocks.end[head])
                fits = measure.count(first, last) <= self.max_tokens
                header_text = document.text[first:last].removeprefix("\ufeff")
                told[head] = header_text if fits else ""
            pieces[number] = pieces[number]._replace(context=told[head])
        return pieces


def heading_levels(document: Analyzed) -> list[Cuts]:
    """Starts of sections, a level each depth of heading."""
    blocks = document.blocks
    heading = blocks.of("heading")
    levels: list[Cuts] = []
    for depth in np.unique(blocks.level[heading]).tolist():
        starts = blocks.start[heading[blocks.level[heading] == depth]]
        # Below a bare heading the next one is no place to cut: it would stand alone.
        levels.append(ArrayCuts(partial(_headings, document, starts)))
    return levels


def _headings(document: Analyzed, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    return document.graphemes.keep(glued(document, starts))


def block_levels(document: Analyzed) -> list[Cuts]:
    """Paragraphs, lists, tables and code, then their parts, sentences, clauses, words."""
    blocks = document.blocks
    item = blocks.of("item")
    outer = blocks.start[item[blocks.level[item] == 0]]
    inside = cache(partial(item_parts, document))

    def whole() -> NDArray[np.int64]:
        return np.setdiff1d(document.paragraphs, np.concatenate(inside()), assume_unique=True)

    return [
        ArrayCuts(lambda: glued(document, whole())),
        ArrayCuts(lambda: document.graphemes.keep(outer)),
        ArrayCuts(lambda: document.graphemes.keep(glued(document, inside().parts))),
        *sentence_levels(document),
        *clause_levels(document),
    ]
