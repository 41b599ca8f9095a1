"""What went wrong at the places a document was cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np

from chunkwise.metrics.cuts.cut_places import Flags, Places
from chunkwise.metrics.cuts.dangling import LONGEST, dangling_in
from chunkwise.text.analysis import Analyzed, merge_sorted
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
    wrong = _Wrong(document, spans, language_of(document.document))
    told = [(kind, *each) for kind in wrong.flags for each in wrong.told(kind)]
    number = {kind: index for index, kind in enumerate(KINDS)}
    told.sort(key=lambda each: (each[1], each[2], number[each[0]]))
    text = document.text
    return [
        Issue(kind, chunk, at, text[max(0, at - AROUND) : at], text[at : at + AROUND], again)
        for kind, chunk, at, again in told
    ]


def count_issues(
    document: Analyzed, spans: Sequence[Spanned], language: str
) -> tuple[dict[str, int], int]:
    """The places of each kind that `find_issues` tells of, and the chunks that have any.

    `language` is what `language_of` says: where a document is cut many times, it is asked once.
    """
    wrong = _Wrong(document, spans, language)
    places = {kind: len(merge_sorted(wrong.place[flags])) for kind, flags in wrong.flags.items()}
    chunks = np.zeros(wrong.count, np.bool_)
    for flags in wrong.flags.values():
        chunks |= flags[: wrong.count] | flags[wrong.count :]
    return {kind: places.get(kind, 0) for kind in KINDS}, int(chunks.sum())


class _Wrong:
    """Both edges of every chunk, the ends first, and what is wrong at each."""

    def __init__(self, document: Analyzed, spans: Sequence[Spanned], language: str) -> None:
        spans = without_summaries(spans)
        self.count = count = len(spans)
        self.edges = np.empty(2 * count, np.int64)
        self.edges[:count] = [span.end for span in spans]
        self.edges[count:] = [span.start for span in spans]
        self.flags: dict[str, Flags] = {}
        """By kind, of each edge."""
        if not spans or not document.text:
            return
        cuts, blocks = Places(document, self.edges), document.blocks
        closing = np.arange(2 * count) < count
        self.place = cuts.left
        """Edges with the same text before them are one place."""
        self.flags = {
            "mid_word": cuts.in_word,
            "mid_sentence_end": cuts.in_sentence & closing,
            "mid_sentence_start": cuts.in_sentence & ~closing,
            "split_list": cuts.inside(blocks.lists),
            "split_table": cuts.inside(blocks.tables),
            "split_code": cuts.inside(blocks.code),
            "orphan_heading": cuts.after_heading & closing,
            "dangling_start": _dangling(document, language, cuts, ~closing),
            "broken_grapheme": cuts.in_grapheme,
        }

    def told(self, kind: str) -> Iterator[tuple[int, int, bool]]:
        """Chunk, offset and whether the place was told before; a chunk has each place once."""
        wrong = np.flatnonzero(self.flags[kind])
        chunk, own = wrong % self.count, self.place[wrong]
        # Both edges of a chunk without any text lie at one place.
        _, once = np.unique(chunk * (self.place.max() + 1) + own, return_index=True)
        _, first = np.unique(own, return_index=True)
        again = np.ones(len(wrong), dtype=np.bool_)
        again[first] = False
        columns = (chunk, self.edges[wrong], again)
        yield from zip(*(column[once].tolist() for column in columns), strict=True)


def _dangling(document: Analyzed, language: str, cuts: Places, opening: Flags) -> Flags:
    """Openings with a reference, at a sentence of running text that opens no section."""
    found = np.zeros(len(opening), dtype=np.bool_)
    dangles = dangling_in(language)
    if dangles is None:
        return found
    blocks = document.blocks
    outside = opening & ~cuts.edge & ~cuts.in_sentence & ~cuts.opens_section
    for spans in (blocks.tables, blocks.code):
        outside &= ~cuts.within(spans)
    text, candidates = document.text, np.flatnonzero(outside)
    found[candidates] = [dangles(text[p : p + LONGEST]) for p in cuts.right[candidates].tolist()]
    return found
