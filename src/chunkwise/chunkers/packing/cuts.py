"""Where a text may be cut, one level of preference at a time, and the levels that several strategies share."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.blocks import unfenced
from chunkwise.text.characters import one_of
from chunkwise.text.graphemes import Graphemes
from chunkwise.text.positions import merge_sorted, without
from chunkwise.text.tokens.measure import TokenMeasure

NONE = -1
_MANY = 1 << 14
"""Cuts: so many numbers are not made for the few that are looked at."""
_REFUSED = 1000
"""So many separators at which nothing may be cut, and all that are left are found at once."""
_PAGE = 1 << 14
"""Characters looked at together where cuts are sought as they are needed."""


class CutLevel(Protocol):
    """Positions at which a new piece may start."""

    def last(self, low: int, high: int) -> int:
        """The largest cut with `low < cut <= high`, or NONE."""

    def first(self, low: int, high: int) -> int:
        """The smallest cut with `low < cut < high`, or NONE."""


def before_cut(separator: str) -> int:
    """How many characters of a separator precede the cut."""
    # White space goes to the next piece, where it is trimmed; a sign stays with what it ends.
    return 0 if separator[0].isspace() else len(separator.rstrip())


class ArrayCuts:
    """Sorted positions, found only when this level is reached."""

    def __init__(self, find: Callable[[], NDArray[np.int64]]) -> None:
        self._find = find

    @cached_property
    def positions(self) -> NDArray[np.int64]:
        return self._find()

    @cached_property
    def _plain(self) -> Sequence[int]:
        # Asked about several times a chunk: plain numbers are bisected in a third of the time, in half of it
        # where there are too many to make or copy them all.
        few = len(self.positions) < _MANY
        return self.positions.tolist() if few else self.positions.data

    def last(self, low: int, high: int) -> int:
        cuts = self._plain
        index = bisect_right(cuts, high)
        cut = cuts[index - 1] if index else NONE
        return cut if cut > low else NONE

    def first(self, low: int, high: int) -> int:
        cuts = self._plain
        index = bisect_right(cuts, low)
        cut = cuts[index] if index < len(cuts) else high
        return cut if cut < high else NONE


class PagedCuts:
    """Cuts found a page of the text at a time, when it is asked about: few sentences are cut inside."""

    def __init__(self, find: Callable[[int, int], NDArray[np.int64]]) -> None:
        self._find = find
        """The sorted cuts from one position to before another."""
        self._pages: dict[int, array[int]] = {}
        self._clear = (0, 0)
        """A stretch without cuts: none is searched twice."""

    def last(self, low: int, high: int) -> int:
        for number in range(high // _PAGE, max(low, 0) // _PAGE - 1, -1):
            page = self._page(number)
            index = bisect_right(page, high) - 1
            if index >= 0:
                return page[index] if page[index] > low else NONE
        return NONE

    def first(self, low: int, high: int) -> int:
        low = max(low, -1)
        start, end = self._clear if self._clear[0] <= low < self._clear[1] else (low, low + 1)
        for number in range(end // _PAGE, (high - 1) // _PAGE + 1):
            page = self._page(number)
            index = bisect_left(page, end)
            if index < len(page):
                self._clear = start, page[index]
                return page[index] if page[index] < high else NONE
            end = (number + 1) * _PAGE
        self._clear = start, end
        return NONE

    def _page(self, number: int) -> array[int]:
        if number not in self._pages:
            values = self._find(number * _PAGE, (number + 1) * _PAGE)
            self._pages[number] = array("q", values.tobytes())  # most of it is never looked at
        return self._pages[number]


class NearCuts:
    """Cuts of one level sought in the text itself, no further than is asked."""

    def __init__(
        self,
        text: str,
        separators: Sequence[str],
        graphemes: Graphemes,
        *,
        spaced: bool = False,
        refused: int = _REFUSED,
    ) -> None:
        """`spaced`: white space has to follow those of ASCII."""
        self._text = text
        self._graphemes = graphemes
        self.separators = [
            (separator, before_cut(separator))
            for separator in separators
            # One character is found much quicker than several.
            if separator[0] in text and separator.strip()[:1] in text and separator in text
        ]
        """Those that occur, with what precedes the cut: others are not sought again and again."""
        self._spaced = spaced
        self._clear = [(0, 0)] * len(self.separators)
        """Of each separator a stretch without cuts inside: none is searched twice."""
        self._refused = refused
        """Separators that may still be met where nothing may be cut, such as commas inside of numbers."""

    @cached_property
    def _all(self) -> ArrayCuts:
        values = merge_sorted(*(self._places(*separator) for separator in self.separators))
        return ArrayCuts(lambda: self._graphemes.keep(values))

    def _places(self, separator: str, shift: int) -> NDArray[np.int64]:
        behind = r"(?=\s)" if self._spaced and separator.isascii() else ""
        matches = re.finditer(f"(?={re.escape(separator)}{behind})", self._text)
        return np.array(array("q", (match.start() + shift for match in matches)), dtype=np.int64)

    def _allows(self, cut: int) -> bool:
        text = self._text
        if self._spaced and text[cut - 1].isascii() and not text[cut : cut + 1].isspace():
            return False
        return self._graphemes.is_break(cut)

    def last(self, low: int, high: int) -> int:
        if self._refused < 0:
            return self._all.last(low, high)
        best = NONE
        for separator, shift in self.separators:
            # The separator may reach beyond the cut: only its first `shift` characters precede it.
            stop = high - shift + len(separator)
            start = max(max(low, best) + 1 - shift, 0)
            while (number := self._text.rfind(separator, start, stop)) >= 0:
                if self._allows(number + shift):
                    best = number + shift
                    break
                stop = number - 1 + len(separator)
                self._refused -= 1
        return best

    def first(self, low: int, high: int) -> int:
        if self._refused < 0:
            return self._all.first(low, high)
        nearest = high
        for number, (separator, shift) in enumerate(self.separators):
            start, end = self._clear[number]
            if not start <= low < end:
                start, end = low, low + 1
            if end < nearest:
                end = self._next(separator, shift, end, nearest)
                nearest = end
            self._clear[number] = start, end
        return nearest if nearest < high else NONE

    def _next(self, separator: str, shift: int, low: int, high: int) -> int:
        """The first cut from `low` on; `high` where there is none before it."""
        start, stop = max(low - shift, 0), high - 1 - shift + len(separator)
        while (number := self._text.find(separator, start, stop)) >= 0:
            if self._allows(number + shift):
                return number + shift
            start = number + 1
            self._refused -= 1
            if self._refused < 0:
                cut = self._all.first(low - 1, high)
                return high if cut == NONE else cut
        return high


class GraphemeCuts:
    """The last resort: between any two characters a reader sees."""

    def __init__(self, graphemes: Graphemes) -> None:
        self._graphemes = graphemes

    def last(self, low: int, high: int) -> int:
        cut = self._graphemes.floor(high)
        return cut if cut > low else NONE

    def first(self, low: int, high: int) -> int:
        cut = self._graphemes.ceil(low + 1)
        return cut if cut < high else NONE


def sentence_levels(document: Analyzed) -> list[CutLevel]:
    """Sentences, headings and lead-ins kept with what follows, code outside its statements first; then any sentence."""

    def whole(inner: NDArray[np.int64]) -> ArrayCuts:
        return ArrayCuts(lambda: glued(document, without(document.sentences, inner)))

    inner = [*inner_lines(document), np.zeros(0, dtype=np.int64)]
    return [*map(whole, inner), ArrayCuts(lambda: document.sentences)]


def clause_levels(document: Analyzed) -> list[CutLevel]:
    """Inside a sentence: before numbered items, at semicolons, then colons, then commas, then between words.

    A row of a table is cut between its cells first, then between the sentences of one.
    """
    return [
        ArrayCuts(lambda: document.cells),
        ArrayCuts(lambda: document.sentences_in_rows),
        ArrayCuts(lambda: document.graphemes.keep(document.enumerations.numbers)),
        *(
            NearCuts(document.text, signs, document.graphemes, spaced=True)
            for signs in (";；", ":：", ",，、،")
        ),
        PagedCuts(partial(_whole_items, document)),
        word_level(document),
    ]


def prose_levels(document: Analyzed) -> list[CutLevel]:
    """Sentences, then clauses and words."""
    return [*sentence_levels(document), *clause_levels(document)]


def word_level(document: Analyzed) -> CutLevel:
    return PagedCuts(partial(_words, document))


def _words(document: Analyzed, start: int, end: int) -> NDArray[np.int64]:
    return document.graphemes.keep(document.characters.word_starts_within(start, end))


def _whole_items(document: Analyzed, start: int, end: int) -> NDArray[np.int64]:
    """Starts of words but those right behind the number of an item."""
    return without(_words(document, start, end), document.enumerations.texts)


def glued(
    document: Analyzed, starts: NDArray[np.int64], torn: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """The starts without those that go with what stands before them.

    Right behind a heading, a table's header, a lead-in, an opening fence or the number of an item, and closing fences.
    `torn`: lists, tables and code that are to start by themselves all the same.
    """
    blocks, items = document.blocks, document.enumerations
    leading = blocks.of("heading", "header")
    following = leading[leading + 1 < len(blocks)] + 1
    bound = np.concatenate(
        (blocks.start[following], document.fragment_starts, items.texts, items.led_in)
    )
    if torn is not None:
        bound = without(merge_sorted(np.sort(bound)), torn)
    return without(starts, bound)


class LeadInCuts:
    """Lead-ins told apart by whether they fit in a chunk together with what they lead in."""

    def __init__(self, document: Analyzed, measure: TokenMeasure, limit: int) -> None:
        self._document = document
        self._reaches = partial(measure.reaches, limit=limit)

    @cached_property
    def torn(self) -> NDArray[np.int64]:
        """Starts of lists, tables and code that fit in a chunk, but not together with their lead-in."""
        start, led, end = self._document.led_in.T
        # Sentences take longest to find, and most lead-ins fit as a whole.
        if (self._reaches(start) >= end).all():
            return led[:0]
        return led[~self._together]

    @cached_property
    def sentences(self) -> NDArray[np.int64]:
        """Starts of the sentences that lead in the others: the text before them is less bound to those."""
        # A mark may join what a paragraph is indented by.
        return self._document.graphemes.floors(self._document.lead_ins[self._together, 0])

    @cached_property
    def _together(self) -> NDArray[np.bool_]:
        sentence, led, end = self._document.lead_ins.T
        # What is cut anyway is cut behind its first part, which has the lead-in.
        return (self._reaches(sentence) >= end) | (self._reaches(led) < end)


_CLOSING = ")]}"
_OF_THE_NEXT = "#/@*"
"""What opens a comment, a decorator or a directive, which goes with the line below it."""


def inner_lines(document: Analyzed) -> list[NDArray[np.int64]]:
    """Starts of lines to be left out of the cuts, the most of them first: all but outer statements, then all but those
    and what follows a blank line, then all but those and statements one step in. None: there is no code of such lines.

    By indentation alone, which every language has.
    """
    code, starts = document.blocks.code, document.lines.start
    long = starts.searchsorted(code[:, 1]) - starts.searchsorted(code[:, 0], "right") > 1
    spans = [unfenced(document.text, *each) for each in code[long].tolist()]
    low, high = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    line, stop = starts.searchsorted(low, "right") - 1, starts.searchsorted(high)
    if not len(line):
        return []
    block = np.repeat(np.arange(len(line)), stop - line)
    opening = np.append(0, np.cumsum(stop - line))[:-1]
    inside = np.arange(len(block)) + (line - opening)[block]
    blank, indent = document.lines.blank[inside], document.lines.indent[inside]
    head = document.lines.head[inside]
    opens = ~blank & ~one_of(head, _CLOSING)
    # A comment belongs to what it stands above.
    said_above = one_of(head, _OF_THE_NEXT) & ~blank
    said_above[:-1] &= (indent[:-1] == indent[1:]) & (block[:-1] == block[1:])
    opens[1:] &= ~said_above[:-1]
    behind_blank = np.append(True, blank[:-1])[: len(blank)]
    behind_blank[opening] = True
    outermost = _least(np.where(opens, indent, _DEEPEST), opening)[block]
    second = _least(np.where(opens & (indent > outermost), indent, _DEEPEST), opening)[block]
    second = np.where(second == _DEEPEST, outermost, second)
    outer = opens & (indent == outermost)
    behind_blank = outer | (opens & behind_blank)
    return [
        starts[inside[~kept]]
        for kept in (outer, behind_blank, behind_blank | (opens & (indent <= second)))
    ]


_DEEPEST = np.iinfo(np.int64).max


def _least(values: NDArray[np.int64], opening: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least value of each group, by where it starts."""
    return np.minimum.reduceat(values, opening) if len(values) else values
