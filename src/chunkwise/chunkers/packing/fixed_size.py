"""Chunks of a fixed number of units, whatever the units say: the fastest strategies and the bluntest."""

from __future__ import annotations

from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.measure import TokenMeasure


def windows(document: Analyzed, measure: TokenMeasure, limit: int, overlap: int) -> list[Piece]:
    """Every `limit` units, the next window starting `overlap` units before the end of the last."""
    text, graphemes, size = document.text, document.graphemes, len(document.text)
    pieces: list[Piece] = []
    # White space before the text takes no room: it may be the place of front matter.
    start = end = graphemes.floor(size - len(text.lstrip()))
    while end < size:
        reached, count = end, 0
        if graphemes.is_break(
            measure.reach(start, limit)
        ):  # else nothing up to there is worth counting
            reached, count = measure.fill(start, limit)
        if count > limit or reached <= end:
            start, reached, count = _window(document, measure, start, end, limit)
        end = reached
        if not (text[start].isspace() and text[start:end].isspace()):
            pieces.append(Piece(start, end, "", count))
        following = graphemes.floor(measure.back(end, overlap)) if overlap else end
        # Where a grapheme is larger than the overlap, progress comes first.
        start = following if following > start else end
    return pieces


def _window(
    document: Analyzed, measure: TokenMeasure, start: int, done: int, limit: int
) -> tuple[int, int, int]:
    """Start, end and exact size of a window from `start` that takes in something beyond `done`."""
    graphemes = document.graphemes
    units = limit
    while units > 0:
        end = graphemes.floor(measure.reach(start, units))
        if end <= max(start, done):
            break
        count = measure.count(start, end)
        if count <= limit:
            return start, end, count
        # Cut in the middle of a word, a tail or head may count more by itself than within the text.
        units -= count - limit
    if done > start:  # the overlap alone fills the window: leave it out
        return _window(document, measure, done, done, limit)
    end = graphemes.ceil(start + 1)
    return start, end, measure.count(start, end)
