"""What went wrong at the places a document was cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np

from chunkwise.metrics.cuts.cut_places import Flags, Places, Positions
from chunkwise.metrics.cuts.dangling import LONGEST, dangling_in
from chunkwise.text.analysis import Analyzed
from chunkwise.text.language import language_of

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
    again: bool = False
    """Told of another chunk already, which is cut at the same place: counts of places leave it out."""


def without_summaries(chunks: Sequence[Spanned]) -> Sequence[Spanned]:
    """The chunks that are places; summaries come behind them."""
    return [chunk for chunk in chunks if not getattr(chunk, "level", 0)]


def find_issues(document: Analyzed, spans: Sequence[Spanned]) -> list[Issue]:
    """All issues of a chunking, by chunk and offset; overlaps and gaps between chunks are fine.

    Every chunk whose own edge cuts something has the issue. Where one chunk ends and the next begins is one place: the
    issues of the second say `again`. Summaries cut nothing.
    """
    spans = without_summaries(spans)
    if not spans or not document.text:
        return []
    count = len(spans)
    edges = np.empty(2 * count, np.int64)
    edges[:count] = [span.end for span in spans]
    edges[count:] = [span.start for span in spans]
    cuts, blocks = Places(document, edges), document.blocks
    closing = np.arange(2 * count) < count
    found = {
        "mid_word": cuts.in_word,
        "mid_sentence_end": cuts.in_sentence & closing,
        "mid_sentence_start": cuts.in_sentence & ~closing,
        "split_list": cuts.inside(blocks.lists),
        "split_table": cuts.inside(blocks.tables),
        "split_code": cuts.inside(blocks.code),
        "orphan_heading": cuts.after_heading & closing,
        "dangling_start": _dangling(document, cuts, ~closing),
        "broken_grapheme": cuts.in_grapheme,
    }
    wrong = [
        (kind, *each)
        for kind, flags in found.items()
        for each in _told(np.flatnonzero(flags), edges, cuts.left)
    ]
    number = {kind: index for index, kind in enumerate(KINDS)}
    wrong.sort(key=lambda each: (each[1], each[2], number[each[0]]))
    text = document.text
    return [
        Issue(kind, chunk, at, text[max(0, at - AROUND) : at], text[at : at + AROUND], again)
        for kind, chunk, at, again in wrong
    ]


def _told(wrong: Positions, edges: Positions, place: Positions) -> Iterator[tuple[int, int, bool]]:
    """Chunk, offset and whether the place was told before; a chunk has each place once."""
    count = len(edges) // 2
    chunk, own = wrong % count, place[wrong]
    # Both edges of a chunk without any text lie at one place.
    _, once = np.unique(chunk * (place.max() + 1) + own, return_index=True)
    _, first = np.unique(own, return_index=True)
    again = np.ones(len(wrong), dtype=np.bool_)
    again[first] = False
    yield from zip(
        chunk[once].tolist(), edges[wrong][once].tolist(), again[once].tolist(), strict=True
    )


def _dangling(document: Analyzed, cuts: Places, opening: Flags) -> Flags:
    """Openings with a reference, at a sentence of running text that opens no section."""
    found = np.zeros(len(opening), dtype=np.bool_)
    dangles = dangling_in(language_of(document.document))
    if dangles is None:
        return found
    blocks = document.blocks
    outside = opening & ~cuts.edge & ~cuts.in_sentence & ~cuts.opens_section
    for spans in (blocks.tables, blocks.code):
        outside &= ~cuts.within(spans)
    text, candidates = document.text, np.flatnonzero(outside)
    found[candidates] = [dangles(text[p : p + LONGEST]) for p in cuts.right[candidates].tolist()]
    return found
