"""Atoms, the smallest units that are searched and handed out: sentences, items, rows; overlong ones cut in parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import CharacterArrays
from chunkwise.text.graphemes import Graphemes
from chunkwise.text.positions import merge_sorted, without
from chunkwise.text.sentences.enumerations import Enumerations
from chunkwise.text.sentences.full_stops import starts_behind_stops
from chunkwise.text.tokens.measure import TokenMeasure

ATOM_TOKENS = 80
"""An atom longer than this is cut: at full stops, where it is still longer at spaces."""


class SentenceText(Protocol):
    """A text whose sentences are known; the rest is looked at only where one of them is too long."""

    text: str

    @property
    def sentences(self) -> NDArray[np.int64]: ...

    @property
    def characters(self) -> CharacterArrays: ...

    @property
    def graphemes(self) -> Graphemes: ...

    @property
    def enumerations(self) -> Enumerations: ...


def atom_starts(
    analyzed: SentenceText, measure: TokenMeasure, max_tokens: int
) -> NDArray[np.int64]:
    """Where atoms begin: every sentence does, and one over the limit in its middle, too."""
    starts = analyzed.sentences
    bounds = np.append(starts, len(analyzed.text))
    size = np.diff(measure.befores(bounds))
    long = (size > max_tokens).nonzero()[0]
    if not len(long):
        return starts
    stretches = zip(bounds[long].tolist(), bounds[long + 1].tolist(), strict=True)
    behind = analyzed.graphemes.keep(starts_behind_stops(analyzed.text, stretches))
    starts = merge_sorted(starts, without(behind, analyzed.enumerations.texts))
    bounds = np.append(starts, len(analyzed.text))
    size = np.diff(measure.befores(bounds))
    words = analyzed.graphemes.keep(analyzed.characters.word_starts)
    long = (size > max_tokens).nonzero()[0]
    stretches = zip(bounds[long].tolist(), bounds[long + 1].tolist(), strict=True)
    extra = [
        part
        for start, end in stretches
        for part in _furthest(words, measure, start, end, max_tokens)
    ]
    return merge_sorted(starts, np.array(extra, dtype=np.int64))


def _furthest(
    words: NDArray[np.int64], measure: TokenMeasure, start: int, end: int, limit: int
) -> Iterator[int]:
    """Where parts of a stretch begin, each up to the furthest word within the limit, or the next where none is."""
    while start < end:
        yield start
        reached = measure.reach(start, limit)
        if reached >= end:
            return
        last = int(words.searchsorted(reached, "right")) - 1
        if last < 0 or words[last] <= start:  # a word longer than the limit
            last = int(words.searchsorted(start, "right"))
            if last == len(words):
                return
        start = int(words[last])
