"""Pieces that are no place in a document but stand for several: summaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from chunkwise.core import Chunk, Piece, Span
from chunkwise.errors import BrokenContract

_MOST_LEVELS = 100


def together(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same text in order and without overlap; spans that only touch stay two."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start < found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return tuple(found)


def check_summary(piece: Piece, where: str) -> None:
    """Raises `BrokenContract` where a summary does not say what it stands for."""
    spans = piece.summarised
    if not 0 < piece.level <= _MOST_LEVELS or not piece.summary.strip() or not spans:
        raise BrokenContract(
            f"{where}: a piece of level {piece.level} with the summary {piece.summary[:60]!r} of {len(spans)} places; "
            f"a summary has a level from 1 to {_MOST_LEVELS}, a text, and the places it stands for"
        )
    apart = all(left.end <= right.start for left, right in pairwise(spans))
    filled = all(start < end for start, end in spans)
    if not apart or not filled or (spans[0].start, spans[-1].end) != (piece.start, piece.end):
        raise BrokenContract(
            f"{where}: a summary of {[tuple(span) for span in spans]}, from {piece.start} to {piece.end}; its places "
            "come in order, do not overlap, and reach from its start to its end"
        )


def check_order(chunks: Sequence[Chunk]) -> None:
    """Raises `BrokenContract` where a summary stands before a chunk: an index has it behind all of them."""
    for before, behind in pairwise(chunks):
        if before.level and not behind.level:
            raise BrokenContract(
                f"{behind.id} is a chunk behind a summary, {before.id} of level {before.level} (the strategy "
                f"{behind.strategy}); summaries come behind all chunks of their document: return them last"
            )
