"""The layout of a document as arrays: one block a heading, paragraph, list item, table row or piece of code."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.core import BLOCK_KINDS, Block, BlockKind
from chunkwise.text.characters import CLOSER, DIGIT, LETTER, CharacterArrays, one_of

CODE_OF: dict[str, int] = {kind: number for number, kind in enumerate(BLOCK_KINDS)}


class Blocks:
    """Ordered, disjoint blocks, a column each for kind, start, end, level and group."""

    def __init__(
        self,
        kind: ArrayLike = (),
        start: ArrayLike = (),
        end: ArrayLike = (),
        level: ArrayLike = (),
        group: ArrayLike = (),
    ) -> None:
        self.kind: NDArray[np.int8] = np.asarray(kind, dtype=np.int8)
        self.start: NDArray[np.int64] = np.asarray(start, dtype=np.int64)
        self.end: NDArray[np.int64] = np.asarray(end, dtype=np.int64)
        self.level: NDArray[np.int64] = np.asarray(level, dtype=np.int64)
        self.group: NDArray[np.int64] = np.asarray(group, dtype=np.int64)

    @classmethod
    def declared(cls, blocks: Iterable[Block]) -> Blocks:
        """Blocks as a document's format declares them."""
        columns = list(zip(*blocks, strict=True))
        return cls([CODE_OF[kind] for kind in columns[0]], *columns[1:]) if columns else cls()

    def __iter__(self) -> Iterator[Block]:
        return map(self.__getitem__, range(len(self)))

    def __len__(self) -> int:
        return len(self.kind)

    def of(self, *kinds: BlockKind) -> NDArray[np.int64]:
        """Indices of the blocks of these kinds."""
        result = self.kind == CODE_OF[kinds[0]]
        for kind in kinds[1:]:
            result |= self.kind == CODE_OF[kind]
        return result.nonzero()[0]

    def spans(self, *kinds: BlockKind) -> NDArray[np.int64]:
        """Starts and ends, two columns, of the blocks of these kinds."""
        index = self.of(*kinds)
        return np.stack([self.start[index], self.end[index]], axis=1)

    def grouped(self, *kinds: BlockKind) -> NDArray[np.int64]:
        """Starts and ends of whole lists or tables: neighboring blocks of these kinds and one group."""
        index = self.of(*kinds)
        if not len(index):
            return np.zeros((0, 2), dtype=np.int64)
        new = (np.diff(index) > 1) | (np.diff(self.group[index]) != 0)
        first = index[np.concatenate(([True], new))]
        last = index[np.concatenate((new, [True]))]
        return np.stack([self.start[first], self.end[last]], axis=1)

    @cached_property
    def lists(self) -> NDArray[np.int64]:
        return self.grouped("item")

    @cached_property
    def tables(self) -> NDArray[np.int64]:
        return self.grouped("header", "row")

    @cached_property
    def code(self) -> NDArray[np.int64]:
        return self.spans("code")

    def headers_above(self, positions: NDArray[np.int64]) -> dict[int, Block]:
        """The header of the table in whose rows a position lies, by the number of the position; others have none."""
        header = self.of("header")
        if not len(header) or not len(positions):
            return {}
        # The block a position lies in, and the last header before it.
        block = self.start.searchsorted(positions, "right") - 1
        above = header.searchsorted(block, "right") - 1
        values = (block >= 0) & (above >= 0) & (positions < self.end[block])
        values &= self.kind[block] == CODE_OF["row"]
        values &= self.group[block] == self.group[header[above]]
        return {at: self[int(header[above[at]])] for at in values.nonzero()[0].tolist()}

    def __getitem__(self, index: int) -> Block:
        return Block(
            BLOCK_KINDS[int(self.kind[index])],
            int(self.start[index]),
            int(self.end[index]),
            int(self.level[index]),
            int(self.group[index]),
        )


_DELIMITERS = ",;\t|"
_LONGEST_HEADER = 10_000
"""Characters of a row that are looked at to tell what parts its cells."""


def cell_starts(text: str, blocks: Blocks, *, verbatim: bool) -> NDArray[np.int64]:
    """Where cells but the first of each row start; `verbatim`: a CSV's own text, where quotes hide delimiters."""
    starts: list[int] = []
    group, delimiter = -1, "|"
    for index in blocks.of("header", "row").tolist():
        start, end = int(blocks.start[index]), int(blocks.end[index])
        if verbatim and int(blocks.group[index]) != group:
            group, delimiter = int(blocks.group[index]), _delimiter(text[start:end])
        behind = {
            match.end()
            for match in _token(delimiter, verbatim).finditer(text, start, end)
            if match[0] == delimiter
        }
        starts.extend(sorted(behind - {start + 1, end}))
    return np.array(starts, dtype=np.int64)


def _delimiter(row: str) -> str:
    """What parts the cells of a table: the sign that stands most often outside quotes in its first row."""
    bare = _token("", quoted=True).sub("", row[:_LONGEST_HEADER])
    return max(_DELIMITERS, key=bare.count)


@cache
def _token(delimiter: str, quoted: bool) -> re.Pattern[str]:
    """A quoted stretch, an escaped sign, or the delimiter; without one, quoted stretches alone."""
    hidden = r'"(?:[^"]|"")*+"' if quoted else r"\\."
    return re.compile(f"{hidden}|{re.escape(delimiter)}" if delimiter else hidden, re.DOTALL)


_COLONS = ":：﹕"
_MARKS_BEHIND = 3
"""Closing marks behind a colon: "**Steps:**"."""
_LED_IN: tuple[BlockKind, ...] = ("item", "code", "header", "row")


def lead_ins(characters: CharacterArrays, blocks: Blocks) -> NDArray[np.int64]:
    """Indices of blocks that end in a colon and whose list, table or code is the next block."""
    led = blocks.of(*_LED_IN)
    led = led[led > 0]
    before = led - 1
    kind = blocks.kind[before]
    item = kind == CODE_OF["item"]
    # An item leads in what is below it; the next item of its list is none of it.
    below = (blocks.kind[led] != CODE_OF["item"]) | (blocks.level[led] > blocks.level[before])
    before = before[(kind == CODE_OF["paragraph"]) | (item & below)]
    last = blocks.end[before] - 1
    for _ in range(_MARKS_BEHIND):
        last = last - characters.have(last, CLOSER)
    return before[one_of(characters.points.take(last, mode="clip"), _COLONS)]


_FENCE_LINE = r"[^\S\n]*+(?:```|~~~|#\+(?:begin|end)_|\\(?:begin|end)\{|(?:-{4,}|\.{4,}|\+{4,}|/{4,})[^\S\n]*+$)"
"""A line that opens or closes a block of code: of Markdown, Org, LaTeX, AsciiDoc."""
_OPENING = re.compile(
    rf"(?:[^\S\n]*+\[[^\]\n]*+\][^\S\n]*+\n){{0,3}}+{_FENCE_LINE}[^\n]*+\n",
    re.IGNORECASE | re.MULTILINE,
)
"""With the attributes that AsciiDoc has above it."""
_CLOSING = re.compile(_FENCE_LINE, re.IGNORECASE | re.MULTILINE)
_BARE = re.compile(
    r"""^[^\S\n]*(?:(?P<closes>[)\]}>;,]+|\*+/|-->|end[;.]?|fi|done|esac)|(?P<opens>/\*+|<!--)|(?P<quotes>\"{3}|'{3})[)\]},;]*)[^\S\n]*$""",
    re.MULTILINE,
)
_LINE_END = re.compile(r"\n")
_QUOTES = re.compile(r"\"{3}|'{3}")
_SPEAKS = re.compile(r"[^\s!-/:-@\[-`{-~]")
"""Anything but white space and marks of ASCII."""


def beside_fences(text: str, code: NDArray[np.int64]) -> list[int]:
    """Starts of the lines behind opening fences and of closing fences, of blocks of code (two columns)."""
    fences: list[int] = []
    for start, end in code.tolist():
        opening = _OPENING.match(text, start, end)
        if opening is None:
            continue
        fences += (match.end() for match in _LINE_END.finditer(text, start, opening.end()))
        last = text.rfind("\n", start, end) + 1
        if last > opening.end() and _CLOSING.match(text, last, end):
            fences.append(last)
    return fences


def unfenced(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the code inside the fences of a block starts and ends."""
    opening = _OPENING.match(text, start, end)
    last = text.rfind("\n", start, end) + 1
    closed = opening is not None and last >= opening.end() and _CLOSING.match(text, last, end)
    return opening.end() if opening else start, last if closed else end


def beside_bare_lines(text: str) -> list[int]:
    """Of source code: starts of lines that only close something, and of those behind lines that only open it."""
    lines: list[int] = []
    bare = list(_BARE.finditer(text))
    quotes = [match.start() for match in _QUOTES.finditer(text)] if bare else []
    for match in bare:
        opens = match["opens"] is not None
        if match["quotes"] is not None:
            # The first of two opens a docstring, the second closes it.
            opens = bisect_left(quotes, match.start("quotes")) % 2 == 0
        behind = match.end() + 1
        beside = behind if opens else match.start()
        if 0 < beside < len(text):  # at the start of the text nothing stands before it
            lines.append(beside)
    return lines


_LEAD_IN = re.compile(r"[:：][*_]{0,3}\Z")
_LED = re.compile(r"[-*+•–][^\S\n]|\d{1,3}[.)][^\S\n]|```|~~~|\|")


def opens_by_mark(text: str, start: int) -> bool:
    """Whether the mark of a list, a table or code stands at a position."""
    return _LED.match(text, start) is not None


def is_led_in(text: str, low: int, high: int) -> bool:
    """Whether a list, a table or code starts behind this white space and its lead-in before, told by their marks."""
    return (
        text.find("\n", low, high) >= 0
        and opens_by_mark(text, high)
        and _LEAD_IN.search(text, max(low - 4, 0), low) is not None
    )


_FENCED_LINE = re.compile(r"\n[^\S\n]*(```|~~~)")
_FENCED_START = re.compile(r"[^\S\n]*(```|~~~)")


def fence_edges(text: str) -> list[int]:
    """Ends of lines that open a fence and starts of those that close it, told by their marks alone: layout takes
    longer to find."""
    if "`" not in text and "~" not in text:  # one character is found much quicker
        return []
    edges, opened = [], ""
    first = _FENCED_START.match(text)
    for match in chain([first] if first else (), _FENCED_LINE.finditer(text)):
        if not opened:
            opened, end = match[1], text.find("\n", match.end())
            edges.append(end if end >= 0 else len(text))
        elif match[1] == opened:
            opened = ""
            edges.append(match.start() + 1)
    return edges


def are_marks(
    characters: CharacterArrays, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether each stretch holds marks of ASCII and no word: an emoji or a rule drawn in lines says something."""
    result = np.zeros(len(starts), dtype=np.bool_)
    first = characters.next_solid(starts)
    points = characters.points.take(first, mode="clip")
    # Nearly all begin with a word: the others alone are read to their end.
    may = (points > 32) & (points < 127) & ~characters.have(first, LETTER | DIGIT) & (first < ends)
    index = may.nonzero()[0]
    for at, start, end in zip(
        index.tolist(), starts[may].tolist(), ends[may].tolist(), strict=True
    ):
        result[at] = _SPEAKS.search(characters.text, start, end) is None
    return result
