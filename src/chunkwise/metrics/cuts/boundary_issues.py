"""What went wrong at the places a document was cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.cuts.cut_places import Places
from chunkwise.metrics.cuts.dangling import LONGEST, opens_dangling
from chunkwise.text.analysis import Analyzed

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "mid_word": "The cut falls inside a word or a number.",
        "mid_sentence_end": "The chunk ends before its last sentence does.",
        "mid_sentence_start": "The chunk opens in the middle of a sentence.",
        "split_list": "A list is cut, between its items or inside one.",
        "split_table": "A table is cut.",
        "split_code": "A block of code is cut.",
        "orphan_heading": "A heading is the last line of the chunk; its text is in the next.",
        "dangling_start": "The chunk opens with a reference to text that was cut off.",
        "broken_grapheme": "The cut falls inside one visible character.",
    }
)
"""Every kind of issue with its explanation."""

AROUND = 40
"""Characters shown on either side of a cut."""


class Spanned(Protocol):
    """Anything with a start and an end: a Span, a Piece, a Chunk."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Issue(NamedTuple):
    """One thing that is wrong at one edge of one chunk."""

    kind: str
    chunk: int
    """Index of the chunk in the sequence that was examined."""
    offset: int
    """The chunk's edge: its start or its end."""
    before: str
    after: str


def find_issues(document: Analyzed, spans: Sequence[Spanned]) -> list[Issue]:
    """All issues of a chunking, by chunk and offset; overlaps and gaps between chunks are fine."""
    if not spans or not document.text:
        return []
    starts = np.fromiter((span.start for span in spans), np.int64, len(spans))
    ends = np.fromiter((span.end for span in spans), np.int64, len(spans))
    found: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]] = []
    number = {kind: index for index, kind in enumerate(KINDS)}

    def report(kind: str, chunks: NDArray[np.int64], offsets: NDArray[np.int64]) -> None:
        found.append((number[kind], chunks, offsets[chunks]))

    closing, opening = Places(document, ends), Places(document, starts)
    report("mid_sentence_end", np.flatnonzero(closing.in_sentence), ends)
    report("mid_sentence_start", np.flatnonzero(opening.in_sentence), starts)
    report("orphan_heading", np.flatnonzero(closing.after_heading), ends)
    report("dangling_start", _dangling(document, opening), starts)

    # Where one chunk ends and the next begins is one cut: it is the first one's, and counted once.
    edges = np.concatenate((ends, starts))
    _, first = np.unique(np.concatenate((closing.left, opening.left)), return_index=True)
    cuts = Places(document, edges[first])
    blocks = document.blocks
    for kind, wrong in (
        ("mid_word", cuts.in_word),
        ("split_list", cuts.inside(blocks.lists)),
        ("split_table", cuts.inside(blocks.tables)),
        ("split_code", cuts.inside(blocks.code)),
        ("broken_grapheme", cuts.in_grapheme),
    ):
        edge = first[wrong]
        found.append((number[kind], edge % len(spans), edges[edge]))
    return _issues(document.text, found)


def _dangling(document: Analyzed, opening: Places) -> NDArray[np.int64]:
    """Chunks that open with a reference, at a sentence of running text that opens no section."""
    blocks = document.blocks
    outside = ~opening.edge & ~opening.in_sentence & ~opening.opens_section
    for spans in (blocks.tables, blocks.code):
        outside &= ~opening.within(spans)
    if document.document.format == "code":
        outside[:] = False
    text, at = document.text, opening.right
    candidates = np.flatnonzero(outside)
    wrong = [opens_dangling(text[p : p + LONGEST]) for p in at[candidates].tolist()]
    return candidates[np.array(wrong, dtype=np.bool_)]


def _issues(
    text: str, found: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]]
) -> list[Issue]:
    kind = np.concatenate([np.full(len(chunks), number) for number, chunks, _ in found])
    chunk = np.concatenate([chunks for _, chunks, _ in found])
    offset = np.concatenate([offsets for _, _, offsets in found])
    order = np.lexsort((kind, offset, chunk))
    names = list(KINDS)
    return [
        Issue(names[k], c, p, text[max(0, p - AROUND) : p], text[p : p + AROUND])
        for k, c, p in zip(
            kind[order].tolist(), chunk[order].tolist(), offset[order].tolist(), strict=True
        )
    ]
