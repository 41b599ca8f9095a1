"""Overlap: how much a chunk repeats of the one before, where it starts to, and at which boundaries it cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Protocol

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted, thousands
from chunkwise.chunkers.packing.cuts import NONE, CutLevel
from chunkwise.core import Chunk
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.measure import TokenMeasure
from chunkwise.text.tokens.tokenizers import TokenizerLike

UNITS = ("overlap", "overlap_words", "overlap_sentences")
"""The parameters that say how much is repeated: tokens, words or sentences."""
TRIES = 3
"""Starts tried at each level: a chunk's own tokens may be a few more than its share of the document's."""


OverlapFrom = Callable[[int], int]
"""For the start of fresh text, the earliest start of a chunk that repeats what precedes it."""


def overlap_tokens(overlap: int | str, limit: int) -> int:
    """An overlap in tokens; "10%" is a share of the limit."""
    if isinstance(overlap, int) and not isinstance(overlap, bool) and overlap >= 0:
        return overlap
    if isinstance(overlap, str) and overlap.endswith("%"):
        number = overlap[:-1].strip()
        if number.isascii() and number.replace(".", "", 1).isdigit():
            with suppress(OverflowError):  # hundreds of digits
                return int(limit * float(number) / 100)
    raise InvalidParameter(
        f"overlap is {overlap!r}; expected an integer, 0 or more, or a share such as '10%'"
    )


def check_overlap(overlap: int | str, limit: int, limit_name: str, name: str = "overlap") -> int:
    """The overlap in units of the limit, refused where it leaves no room for fresh text."""
    amount = overlap_tokens(overlap, limit)
    if amount >= limit:  # in words or sentences, too: none is smaller than a token
        raise InvalidParameter(f"{name} ({overlap}) must be smaller than {limit_name} ({limit})")
    return amount


def overlap_from(
    document: Analyzed, measure: TokenMeasure, unit: str, amount: int, limit: int
) -> OverlapFrom | None:
    """How far back an overlap of so many tokens, words or sentences reaches; None: nothing is repeated."""
    if not amount:
        return None
    if unit == "overlap":
        return lambda fresh: measure.back(fresh, amount)
    sentences = unit == "overlap_sentences"

    def units_back(fresh: int) -> int:
        # Found where a chunk first repeats something: in a text of short sections none does.
        starts = document.sentences if sentences else document.characters.word_starts
        index = int(starts.searchsorted(fresh)) - amount
        back = int(starts[index]) if index > 0 else 0
        # Two sentences may fill a chunk: at least half of it is fresh.
        return max(back, measure.back(fresh, limit // 2))

    return units_back


def overlap_starts(levels: Sequence[CutLevel], low: int, end: int) -> Iterator[int]:
    """Where a chunk may start so that it repeats the end of the one before: whole sentences first, words last.

    Levels come from the most to the least preferred: a sentence longer than the overlap is repeated from a clause on,
    a clause longer than that from a word on. No start lies before `low`; `end` is that of the chunk before.
    """
    tried = end
    for level in levels:
        start = level.first(low - 1, end)
        for _ in range(TRIES):
            if start == NONE:
                break
            if start != tried:
                yield start
            tried = start
            start = level.first(start, end)


SECTION, PARENT = "at the start of a section", "at the start of a parent"
ROOM = "no room"
WORD, ONE_WORD = "after a word longer than the overlap", "after a one-word chunk"
GAP = "after longer whitespace"


class _ChunkedDocument(Protocol):
    @property
    def analyzed(self) -> Analyzed: ...
    @property
    def chunks(self) -> Sequence[Chunk]: ...


class MissingOverlaps:
    """At how many boundaries nothing is repeated although an overlap is asked for, and why."""

    def __init__(self, limit: tuple[TokenizerLike, int], asked: int) -> None:
        self._tokenizer, self._limit = limit
        self._asked = asked
        """In tokens; 0: in words or sentences, which white space is none of."""
        self.boundaries = 0
        self.reasons: Counter[str] = Counter()

    def add(self, chunked: _ChunkedDocument) -> None:
        """Takes in one document; its analysis is asked for only where an overlap is missing."""
        places = [chunk for chunk in chunked.chunks if not chunk.level]
        self.boundaries += max(len(places) - 1, 0)
        for before, behind in pairwise(places):
            if behind.start >= before.end:
                self.reasons[self._reason(chunked.analyzed, before, behind)] += 1

    def _reason(self, document: Analyzed, before: Chunk, behind: Chunk) -> str:
        if before.parent != behind.parent:
            return PARENT
        headings = document.sections.start
        if headings.searchsorted(behind.start, "right") > headings.searchsorted(before.end):
            return SECTION
        measure = document.measure(self._tokenizer)
        words = document.characters.word_starts
        last = int(words[words.searchsorted(before.end) - 1])
        # An ideograph is a word by itself; a strategy of separators cuts in front of white space alone.
        parts = before.text.rsplit(None, 1)
        spaced = before.start + len(parts[0]) if len(parts) > 1 else before.start
        for start in (last, spaced):
            if start <= before.start:  # no chunk repeats all of another
                return ONE_WORD
            # The white space between the two takes room, too.
            if measure.count(start, behind.end) > self._limit:
                return ROOM
        return GAP if measure.count(spaced, before.end) <= self._asked else WORD

    def in_words(self) -> str:
        """A few words for a summary; none where every boundary has its overlap."""
        missing = self.reasons.total()
        why = ", ".join(
            f"{thousands(number)} {reason}" for reason, number in self.reasons.most_common()
        )
        return (
            f"no overlap at {thousands(missing)} of {counted(self.boundaries, 'boundary')} ({why})"
            if why
            else ""
        )
