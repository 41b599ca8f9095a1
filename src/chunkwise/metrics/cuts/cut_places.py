"""Places where a document is cut, asked all at once what they cut through."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import BLOCK_KINDS
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.characters import DIGIT, IDEOGRAPH, JOINER, LETTER, MARK
from chunkwise.text.positions import merge_sorted

_HEADING = BLOCK_KINDS.index("heading")
# Scripts that put no space between words: where a word ends there cannot be told by looking.
_UNSPACED = ((0x0E00, 0x0EFF), (0x0F00, 0x109F), (0x1780, 0x17FF))
_EMOJI = (0x1F000, 0x1FFFF)
_CONNECTORS = "'’._-"
FILES_OF_ROWS = ("table", "xlsx", "ods")
"""Formats of data, row by row: a table larger than any chunk, whose rows are what its chunks are made of."""

Flags = NDArray[np.bool_]
Positions = NDArray[np.int64]


class CutPlaces:
    """A cut in white space lies between the last character before it and the first after it."""

    def __init__(self, document: Analyzed, cuts: Positions) -> None:
        self.document = document
        self.cuts = cuts
        self.left: Positions = document.characters.behind_solid(cuts)
        """End of the last visible character before each cut; 0 if there is none."""
        self.right: Positions = document.characters.next_solid(cuts)
        self.edge: Flags = (self.left == 0) | (self.right == self.size)
        """Nothing visible lies before or after: the document itself begins or ends here."""

    @property
    def size(self) -> int:
        return len(self.document.text)

    def last_solid(self, ends: Positions) -> Positions:
        """The last visible character before each of these ends; -1 if there is none."""
        return self.document.characters.behind_solid(ends) - 1

    def inside(self, spans: Positions) -> Flags:
        """Whether each cut divides one of these ordered, disjoint spans (two columns)."""
        return self._before(spans, self.right) & ~self.edge

    def within(self, spans: Positions) -> Flags:
        """Whether what follows each cut belongs to one of the spans."""
        index = spans[:, 0].searchsorted(self.right, "right") - 1
        ends = np.append(spans[:, 1], 0)
        return self.right < ends[index]

    def _before(self, spans: Positions, position: Positions) -> Flags:
        index = spans[:, 0].searchsorted(self.left, "left") - 1
        # Index -1 means none begins before the cut: it meets the 0 appended at the end.
        return position < np.append(spans[:, 1], 0)[index]

    @cached_property
    def in_sentence(self) -> Flags:
        """A sentence, heading, item, row or line of code goes on across the cut."""
        starts, blocks = self.document.sentences, self.document.blocks
        if self.inside(blocks.spans("header", "row")).any():
            # A row is no sentence: its cells hold some.
            starts = merge_sorted(starts, self.document.sentences_in_rows)
        cut: Flags = starts.searchsorted(self.left) == starts.searchsorted(self.right, "right")
        if self.document.document.format != "code":
            # Markup between two blocks (a rule) follows a sentence without being part of it.
            cut &= self.inside(np.stack([blocks.start, blocks.end], axis=1))
        return cut & ~self.edge

    def tables(self, longest: int) -> Positions:
        """What is not to be cut of tables: those in a text whole, of a file of rows each row that a chunk can hold."""
        blocks = self.document.blocks
        if self.document.document.format not in FILES_OF_ROWS:
            return blocks.tables
        rows = blocks.spans("header", "row")
        return rows[rows[:, 1] - rows[:, 0] <= longest]

    @cached_property
    def in_word(self) -> Flags:
        """Both neighbours belong to one word; the parts of "don't", "3.14" and "well-known" do."""
        tight = (self.left == self.right) & ~self.edge
        tight[tight] = ~_are_among(self.cuts[tight], self.document.sentences)
        wrong = np.zeros(len(self.cuts), dtype=np.bool_)
        at = self.cuts[tight]
        before, after = self._word(at - 1), self._word(at)
        bound = before & after
        bound |= self._connector(at - 1, at - 2, at) & after
        bound |= before & self._connector(at, at - 1, at + 1)
        wrong[tight] = bound
        return wrong

    def _word(self, at: Positions) -> Flags:
        characters = self.document.characters
        inside = (at >= 0) & (at < len(characters.text))
        at = np.where(inside, at, 0)
        kinds, points = characters.kinds_at(at), characters.points[at]
        word: Flags = (kinds & np.uint16(LETTER | DIGIT | MARK | JOINER)) != 0
        word &= (kinds & np.uint16(IDEOGRAPH)) == 0
        for low, high in (*_UNSPACED, _EMOJI):
            word &= (points < low) | (points > high)
        word &= inside
        return word

    def _connector(self, at: Positions, before: Positions, after: Positions) -> Flags:
        """A sign that ties the characters beside it together; a comma only ties digits."""
        characters = self.document.characters
        inside = (before >= 0) & (after < len(characters.text))
        at, before, after = (np.where(inside, p, 0) for p in (at, before, after))
        points = characters.points
        tie: Flags = np.isin(points[at], [ord(sign) for sign in _CONNECTORS])
        digits = characters.have(before, DIGIT) & characters.have(after, DIGIT)
        tie |= (points[at] == ord(",")) & digits
        tie &= inside & self._word(before) & self._word(after)
        return tie

    @cached_property
    def in_grapheme(self) -> Flags:
        # Between CR and LF nothing visible is broken: what follows the cut must be no white space.
        broken: Flags = (self.right == self.cuts) & ~self.edge
        at = self.cuts[broken]
        broken[broken] = ~_are_among(at, self.document.graphemes.keep(np.sort(at)))
        return broken

    @cached_property
    def after_heading(self) -> Flags:
        """The last block before the cut is a whole heading with text or subsections after it."""
        blocks = self.document.blocks
        if not len(blocks):
            return np.zeros(len(self.cuts), dtype=np.bool_)
        last = blocks.start.searchsorted(self.left) - 1
        following = np.minimum(last + 1, len(blocks) - 1)
        own: Flags = (last >= 0) & (following > last) & (blocks.kind[last] == _HEADING)
        own &= (blocks.kind[following] != _HEADING) | (blocks.level[following] > blocks.level[last])
        return own & (blocks.end[last] <= self.right) & ~self.edge

    @cached_property
    def after_lead_in(self) -> Flags:
        """What follows the cut is led in by what precedes it: a list, a table, code or a numbered item."""
        items = self.document.enumerations.led_in
        led = np.sort(np.concatenate((self.document.lead_ins[:, 1], items)))
        return self._between(led)

    @cached_property
    def after_number(self) -> Flags:
        """What follows the cut is the text of an item whose number precedes it."""
        return self._between(self.document.enumerations.texts)

    @cached_property
    def lists(self) -> Positions:
        """Lists, and enumerations in running text up to the end of their last item's sentence: ordered spans."""
        document, lists = self.document, self.document.blocks.lists
        first, last = document.enumerations.runs.T
        if not len(first):
            return lists
        following = np.append(document.sentences, self.size)
        ends = following[following.searchsorted(last, "right")]
        blocks = document.blocks
        if len(blocks):  # what follows a block is no item of it
            block = np.maximum(blocks.start.searchsorted(last, "right") - 1, 0)
            inside = blocks.end[block] > last
            ends = np.where(inside, np.minimum(ends, blocks.end[block]), ends)
        return _united(np.concatenate((lists, np.stack([first, ends], axis=1))))

    def _between(self, starts: Positions) -> Flags:
        """Whether one of these ordered starts is the first visible character behind each cut."""
        found = starts.searchsorted(self.right, "right") > starts.searchsorted(self.left)
        return found & ~self.edge

    @cached_property
    def opens_section(self) -> Flags:
        """A heading follows the cut, or the heading itself is what was cut off."""
        headings = self.document.sections.start[1:]
        begins = headings.searchsorted(self.right, "right") > headings.searchsorted(self.left)
        return begins | self.after_heading


def _are_among(positions: Positions, ordered: Positions) -> Flags:
    """Of each position, whether it is one of these."""
    if not len(ordered):
        return np.zeros(len(positions), dtype=np.bool_)
    found: Flags = ordered.take(ordered.searchsorted(positions), mode="clip") == positions
    return found


def _united(spans: Positions) -> Positions:
    """Spans in order, those that overlap as one."""
    spans = spans[np.lexsort((spans[:, 1], spans[:, 0]))]
    ends = np.maximum.accumulate(spans[:, 1])
    opens = np.ones(len(spans), dtype=np.bool_)
    opens[1:] = spans[1:, 0] >= ends[:-1]
    last = np.append(np.flatnonzero(opens)[1:], len(spans)) - 1
    return np.stack([spans[opens, 0], ends[last]], axis=1)
