"""What a model is asked about a chunk: its whole document, or its neighbours; each prompt is made when it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Protocol, overload

from chunkwise.chunkers.contextual.prompt_room import (
    ANSWER_TOKENS,
    PromptRoom,
    TokenReach,
    passage_of,
    size_of,
)
from chunkwise.core import SECTION_SEPARATOR, Chunk
from chunkwise.models.llm.language_model import Request
from chunkwise.models.llm.prompt import Prompt, fenced
from chunkwise.text.analysis import Analyzed
from chunkwise.text.tokens.measure import TokenMeasure, measure_of
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer

_TITLE, _PATH = 200, 400
"""Characters that are told, and tokens: a title can be as long as somebody likes, in letters of four tokens each."""


def describe_place(analyzed: Analyzed, chunk: Chunk) -> str:
    """One line each, where there is something to say."""
    title = _one_line(analyzed.document.title, _TITLE)
    path = _one_line(section_path(analyzed, chunk), _PATH)
    lines = (f"Title: {title}" if title else "", f"Section: {path}" if path else "")
    return "\n".join(filter(None, lines)) or "(without a title)"


def _one_line(text: str, most: int) -> str:
    """On one line, no longer than allowed."""
    line = " ".join(text.split())[:most]
    if line.isascii():  # a token is a character or more
        return line
    measure = measure_of(line, get_tokenizer(DEFAULT_TOKENIZER))
    tokens = most
    while measure.tokenizer.count(line) > most:
        line = line[: measure.reach(0, tokens)]
        tokens -= 1
    return line


def section_path(analyzed: Analyzed, chunk: Chunk) -> str:
    return SECTION_SEPARATOR.join(analyzed.section(chunk.start, chunk.end))


_PASSAGE_BESIDE_DOCUMENT = 1 / 3
"""The share of the room that a long chunk may take beside its document."""


class DocumentPrompts:
    """What fills the prompt for each chunk of one document.

    A document that is too long is told in windows, each half over the one before. Chunks that lie near each other
    share one, so that its text is read once for all of them as well.
    """

    shares_prefix = True

    def __init__(self, analyzed: Analyzed, chunks: Sequence[Chunk], room: PromptRoom) -> None:
        self._analyzed = analyzed
        self._chunks = chunks
        self._reach = TokenReach(analyzed, cautious=room.cautious)
        self._places = [describe_place(analyzed, chunk) for chunk in chunks]
        place = max((size_of(each, room.cautious) for each in self._places), default=0.0)
        longest = max((self._reach.size(each.start, each.end) for each in chunks), default=0.0)
        self._passage = min(longest, _PASSAGE_BESIDE_DOCUMENT * room.tokens)
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


NEIGHBOURS = 2
"""Chunks on either side."""
CONTEXT_TOKENS = 2_000
"""At most, of all that is told beside the chunk itself."""
_PASSAGE_BESIDE_NEIGHBOURS = 0.75
"""The share of a small window that a long chunk may take."""


class NeighbourPrompts:
    """What fills the prompt for each chunk of one document."""

    shares_prefix = False

    def __init__(self, analyzed: Analyzed, chunks: Sequence[Chunk], room: PromptRoom) -> None:
        self._analyzed = analyzed
        self._chunks = chunks
        self._room = room
        self._reach = TokenReach(analyzed, cautious=room.cautious)

    def values(self, at: int) -> dict[str, str]:
        """The gaps of the prompt, document text between marks."""
        chunk, text = self._chunks[at], self._analyzed.text
        passage, size = passage_of(
            self._reach, chunk, _PASSAGE_BESIDE_NEIGHBOURS * self._room.tokens
        )
        place = describe_place(self._analyzed, chunk)
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
        measure = self._analyzed.measure(DEFAULT_TOKENIZER)
        while True:
            first, last = self._reach.around(low, chunk.start, chunk.end, high, amount)
            tokens = _tokens(measure, first, chunk, last)
            if tokens <= allowed:
                return first, last
            # The reach knows sizes about, the tokenizer exactly.
            size = self._reach.size(first, chunk.start) + self._reach.size(chunk.end, last)
            amount = min(amount, size) * allowed / tokens - 1


def _tokens(measure: TokenMeasure, first: int, chunk: Chunk, last: int) -> int:
    return measure.count(first, chunk.start) + measure.count(chunk.end, last)


TEMPERATURE = 0.3


class PromptFill(Protocol):
    """Fills the gaps of a prompt for the chunk at a position of its document."""

    @property
    def shares_prefix(self) -> bool:
        """Whether the prompts of one document begin with the same long text."""

    def values(self, at: int) -> dict[str, str]: ...


class ContextRequests(Sequence[Request]):
    """May be read from several threads."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._asked: list[tuple[PromptFill, int]] = []
        self._lock = Lock()

    def add(self, fill: PromptFill, at: int) -> None:
        self._asked.append((fill, at))

    def __len__(self) -> int:
        return len(self._asked)

    @overload
    def __getitem__(self, index: int) -> Request: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Request]: ...

    def __getitem__(self, index: int | slice) -> Request | Sequence[Request]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        fill, at = self._asked[index]
        with self._lock:  # sizes of a document are remembered as they are asked for
            values = fill.values(at)
        system, user = self._prompt.filled(**values)
        user = user.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be sent
        return Request(
            system, user, max_tokens=ANSWER_TOKENS, temperature=TEMPERATURE,
            version=self._prompt.version, shares_prefix=fill.shares_prefix,
        )  # fmt: skip
