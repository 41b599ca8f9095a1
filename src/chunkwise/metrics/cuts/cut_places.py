"""Places where a document is cut, asked all at once what they cut through."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import BLOCK_KINDS
from chunkwise.text.analysis import Analyzed
from chunkwise.text.characters import DIGIT, IDEOGRAPH, JOINER, LETTER, MARK

_HEADING = BLOCK_KINDS.index("heading")
# Scripts that put no space between words: where a word ends there cannot be told by looking.
_UNSPACED = ((0x0E00, 0x0EFF), (0x0F00, 0x109F), (0x1780, 0x17FF))
_EMOJI = (0x1F000, 0x1FFFF)
_CONNECTORS = "'’._-"

Flags = NDArray[np.bool_]
Positions = NDArray[np.int64]


class CutPlaces:
    """A cut in white space lies between the last character before it and the first after it."""

    def __init__(self, document: Analyzed, cuts: Positions) -> None:
        self.document = document
        self.cuts = cuts
        solid = document.characters.solid
        before = solid.searchsorted(cuts)
        self.left: Positions = np.zeros(len(cuts), np.int64)
        self.left[before > 0] = solid[before[before > 0] - 1] + 1
        """End of the last visible character before each cut; 0 if there is none."""
        self.right: Positions = document.characters.next_solid(cuts)
        self.edge: Flags = (before == 0) | (before == len(solid))
        """Nothing visible lies before or after: the document itself begins or ends here."""

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
        starts = self.document.sentences
        cut: Flags = starts.searchsorted(self.left) == starts.searchsorted(self.right, "right")
        blocks = self.document.blocks
        if self.document.document.format != "code":
            # Markup between two blocks (a rule) follows a sentence without being part of it.
            cut &= self.inside(np.stack([blocks.start, blocks.end], axis=1))
        return cut & ~self.edge

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
        kinds, points = characters.kinds[at], characters.points[at]
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
        points, kinds = characters.points, characters.kinds
        tie: Flags = np.isin(points[at], [ord(sign) for sign in _CONNECTORS])
        digits = (kinds[before] & kinds[after] & np.uint16(DIGIT)) != 0
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
