"""A stretch of a document on its way to become a hit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chunkwise.core import Span
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.searchable import FoundChunk, Searchable

_AT_ONCE = 16
"""Chunks looked up together: most searches want no more than the first few."""


class Place(NamedTuple):
    """Numbers, not texts: most places are dropped again."""

    document: int
    start: int
    end: int
    score: float
    section: tuple[str, ...] = ()
    first: int = -1
    """Number of the first chunk it is made of; -1: it is not made of chunks."""
    last: int = -1
    chunk: int | None = None
    """Position of the chunk in its document, where the place is exactly one chunk."""
    core: Span | None = None
    """The chunk that was found, where more is handed out: what must not be lost when that is too much."""
    level: int = 0
    """0: a place in the document; above: a summary, which is handed out whole or not at all."""
    summary: str = ""
    spans: tuple[Span, ...] = ()
    """The places a summary stands for."""
    span_tokens: tuple[int, ...] = ()


def chunk_places(source: Searchable, ranking: Ranking) -> Iterator[tuple[Place, tuple[int, int]]]:
    """The chunks of a ranking in its order, each with the span of its parent, looked up as far as they are wanted."""
    for begin in range(0, len(ranking.numbers), _AT_ONCE):
        numbers = ranking.numbers[begin : begin + _AT_ONCE].tolist()
        scores = ranking.scores[begin : begin + _AT_ONCE].tolist()
        for chunk, score in zip(source.chunks(numbers), scores, strict=True):
            yield _place(chunk, score), chunk.parent


def _place(chunk: FoundChunk, score: float) -> Place:
    number = chunk.number
    return Place(
        chunk.document, chunk.start, chunk.end, score, chunk.section, number, number, chunk.position,
        level=chunk.level, summary=chunk.summary, spans=chunk.spans, span_tokens=chunk.span_tokens,
    )  # fmt: skip
