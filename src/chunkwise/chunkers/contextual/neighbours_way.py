"""A chunk's context from what stands around it: two chunks before, two after, title and section path."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.chunkers.contextual.place_told import place_told
from chunkwise.chunkers.contextual.reach import Reach, size_of
from chunkwise.chunkers.contextual.room import Room, passage_of
from chunkwise.core import Chunk
from chunkwise.models.llm.fence import fenced
from chunkwise.text.analysis import Analyzed
from chunkwise.text.measure import Measure
from chunkwise.text.tokenizers import DEFAULT

NEIGHBOURS = 2
"""Chunks on either side."""
CONTEXT_TOKENS = 2_000
"""At most, of all that is told beside the chunk itself."""
_OF_PASSAGE = 0.75
"""The share of a small window that a long chunk may take."""


class Neighbours:
    """What fills the prompt for each chunk of one document."""

    shares_prefix = False

    def __init__(self, analyzed: Analyzed, chunks: Sequence[Chunk], room: Room) -> None:
        self._analyzed = analyzed
        self._chunks = chunks
        self._room = room
        self._reach = Reach(analyzed, cautious=room.cautious)

    def values(self, at: int) -> dict[str, str]:
        """The gaps of the prompt, document text between marks."""
        chunk, text = self._chunks[at], self._analyzed.text
        passage, size = passage_of(self._reach, chunk, _OF_PASSAGE * self._room.tokens)
        place = place_told(self._analyzed, chunk)
        low, high = self._around(at, place, self._room.tokens - size)
        before, after = text[low : chunk.start], text[chunk.end : high]
        return {
            "place": fenced(place, "place"),
            "before": fenced(before, "before") if before.strip() else "(nothing)",
            "after": fenced(after, "after") if after.strip() else "(nothing)",
            "passage": fenced(passage, "passage"),
        }

    def _around(self, at: int, place: str, room: float) -> tuple[int, int]:
        """From where before the chunk to where behind it, within both limits."""
        chunk = self._chunks[at]
        before = self._chunks[max(0, at - NEIGHBOURS) : at]
        after = self._chunks[at + 1 : at + 1 + NEIGHBOURS]
        low = min(each.start for each in (*before, chunk))
        high = max(each.end for each in (chunk, *after))
        allowed = max(0, CONTEXT_TOKENS - int(size_of(place, False)))
        amount = room - size_of(place, self._room.cautious)
        measure = self._analyzed.measure(DEFAULT)
        while True:
            first, last = self._reach.around(low, chunk.start, chunk.end, high, amount)
            tokens = _tokens(measure, first, chunk, last)
            if tokens <= allowed:
                return first, last
            # The reach knows sizes about, the tokenizer exactly.
            size = self._reach.size(first, chunk.start) + self._reach.size(chunk.end, last)
            amount = min(amount, size) * allowed / tokens - 1


def _tokens(measure: Measure, first: int, chunk: Chunk, last: int) -> int:
    return measure.count(first, chunk.start) + measure.count(chunk.end, last)
