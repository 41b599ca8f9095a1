"""Chunks smaller than they should be: joined with the one before, or by meaning with the nearer neighbor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.measure import TokenMeasure

_TRIES = 8
"""A chunk's own tokens may be a few more than its share of the document's: not every guess holds."""


def with_the_one_before(
    pieces: list[Piece], measure: TokenMeasure, least: int, most: int
) -> list[Piece]:
    """Neighbors of which one is too small joined, from the first on, where both together have room."""
    kept: list[Piece] = []
    for piece in pieces:
        if kept and min(piece.token_count, kept[-1].token_count) < least:
            size = measure.count(kept[-1].start, piece.end)
            if size <= most:
                kept[-1] = Piece(kept[-1].start, piece.end, "", size)
                continue
        kept.append(piece)
    return kept


def moved_cut(
    document: Analyzed,
    measure: TokenMeasure,
    left: Piece,
    right: Piece,
    places: NDArray[np.int64],
    worth: NDArray[np.float64],
    sizes: tuple[int, int],
) -> list[Piece]:
    """Both cut at the place worth most of those where their sizes lie between the two given; else nothing."""
    least, most = sizes
    low, high = places.searchsorted([left.start + 1, right.end])
    inside, worth = places[low:high], worth[low:high]
    start, end = measure.before(left.start), measure.before(right.end)
    at = measure.befores(inside)
    smaller = np.minimum(at - start, end - at)
    larger = np.maximum(at - start, end - at)
    fits = (smaller >= least) & (larger <= most)
    best = fits.nonzero()[0][np.argsort(-worth[fits], kind="stable")]
    for cut in inside[best[:_TRIES]].tolist():
        stop = left.start + len(document.text[left.start : cut].rstrip())
        stop = document.graphemes.ceil(stop)
        first = Piece(left.start, stop, "", measure.count(left.start, stop))
        second = Piece(cut, right.end, "", measure.count(cut, right.end))
        counts = (first.token_count, second.token_count)
        if min(counts) >= least and max(counts) <= most:
            return [first, second]
    return []


@dataclass(frozen=True)
class SmallChunks:
    """The sizes chunks are to have, and the places between units at which they may be cut."""

    document: Analyzed
    measure: TokenMeasure
    units: NDArray[np.int64]
    similarity: NDArray[np.float64]
    """Of what stands before and behind each unit but the first."""
    least: int
    most: int
    may_move: bool
    """Whether a cut may be moved: not where chunks repeat something, which would be lost."""

    def without(self, pieces: list[Piece]) -> list[Piece]:
        """Small pieces joined with the nearer neighbor that has room, or else filled up from one."""
        waiting, kept = [*pieces], list[Piece]()
        for index, piece in enumerate(waiting):
            after = waiting[index + 1 : index + 2]
            made = piece.token_count < self.least and self._merged_with_neighbor(
                kept[-1:], piece, after
            )
            if not made:
                kept.append(piece)
            elif made[0]:
                kept[-1:] = made[1]
            else:
                *done, waiting[index + 1] = made[1]
                kept += done
        return kept

    def _merged_with_neighbor(
        self, before: list[Piece], piece: Piece, after: list[Piece]
    ) -> tuple[int, list[Piece]] | None:
        """How many pieces before it were taken, one or none, and what was made of the two."""
        sides = [(1, before[0], piece)] if before else []
        if after:
            nearer = not before or self._nearness(piece.end) > self._nearness(before[0].end)
            sides.insert(0 if nearer else 1, (0, piece, after[0]))
        for change in (self._together, self._shared):
            for taken, left, right in sides:
                if made := change(left, right):
                    return taken, made
        return None

    def _nearness(self, end: int) -> float:
        """Of what stands before and behind the end of a piece."""
        unit = int(self.units.searchsorted(end))
        whole = unit < len(self.units) and not self.document.text[end : self.units[unit]].strip()
        return float(self.similarity[unit - 1]) if whole else 1.0  # else inside of a sentence

    def _together(self, left: Piece, right: Piece) -> list[Piece]:
        size = self.measure.count(left.start, right.end)
        return [Piece(left.start, right.end, "", size)] if size <= self.most else []

    def _shared(self, left: Piece, right: Piece) -> list[Piece]:
        """The same two, cut where the text turns most of all places that leave both large enough."""
        if not self.may_move:
            return []
        document, sizes = self.document, (self.least, self.most)
        pieces = moved_cut(document, self.measure, left, right, self.units[1:], self._turns, sizes)
        sentence = int(document.sentences.searchsorted(right.start))
        if pieces or right.start in document.sentences[sentence : sentence + 1]:
            return pieces  # for a fragment's sake no sentence is cut that was whole
        words = document.characters.word_starts
        low, high = words.searchsorted([left.start, right.end])
        near = document.graphemes.keep(words[low:high])
        return moved_cut(document, self.measure, left, right, near, -near.astype(np.float64), sizes)

    @cached_property
    def _turns(self) -> NDArray[np.float64]:
        return -self.similarity
