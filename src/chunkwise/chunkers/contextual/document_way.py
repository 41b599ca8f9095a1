"""A chunk's context from its whole document, which comes first in the prompt: a server reads it once for all chunks."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.chunkers.contextual.place_told import place_told
from chunkwise.chunkers.contextual.reach import Reach, size_of
from chunkwise.chunkers.contextual.room import Room, passage_of
from chunkwise.core import Chunk
from chunkwise.models.llm.fence import fenced
from chunkwise.text.analysis import Analyzed

_OF_PASSAGE = 1 / 3
"""The share of the room that a long chunk may take beside its document."""


class WholeDocument:
    """What fills the prompt for each chunk of one document.

    A document that is too long is told in windows, each half over the one before. Chunks that lie near each other
    share one, so that its text is read once for all of them as well.
    """

    shares_prefix = True

    def __init__(self, analyzed: Analyzed, chunks: Sequence[Chunk], room: Room) -> None:
        self._analyzed = analyzed
        self._chunks = chunks
        self._reach = Reach(analyzed, cautious=room.cautious)
        self._places = [place_told(analyzed, chunk) for chunk in chunks]
        place = max((size_of(each, room.cautious) for each in self._places), default=0.0)
        longest = max((self._reach.size(each.start, each.end) for each in chunks), default=0.0)
        self._passage = min(longest, _OF_PASSAGE * room.tokens)
        self._size = max(1.0, room.tokens - self._passage - place)
        self._told: tuple[tuple[int, int], str] = ((0, 0), "")

    def values(self, at: int) -> dict[str, str]:
        """The gaps of the prompt, document text between marks."""
        passage, _ = passage_of(self._reach, self._chunks[at], self._passage)
        return {
            "document": self._document(self._window(self._chunks[at])),
            "place": fenced(self._places[at], "place"),
            "passage": fenced(passage, "passage"),
        }

    def _document(self, window: tuple[int, int]) -> str:
        """Kept from chunk to chunk: marking a long text means hashing it."""
        if not self._told[1] or self._told[0] != window:
            start, end = window
            self._told = window, fenced(self._analyzed.text[start:end], "document")
        return self._told[1]

    def _window(self, chunk: Chunk) -> tuple[int, int]:
        reach, size, length = self._reach, self._size, len(self._analyzed.text)
        if reach.size(0, length) <= size:
            return 0, length
        step = size / 2
        middle = (reach.size(0, chunk.start) + reach.size(0, chunk.end)) / 2
        number = max(0, round((middle - step) / step))
        start = reach.forth(0, number * step)
        end = reach.forth(start, size)
        if end == length:  # the last one is as full as the others
            start = reach.back(length, size)
        if start <= chunk.start and chunk.end <= end:
            return start, end
        # Longer than the windows are apart: one of its own, as much before as behind.
        beside = (size - reach.size(chunk.start, chunk.end)) / 2
        start = reach.back(chunk.start, max(beside, 0.0))
        return start, reach.forth(start, size)
