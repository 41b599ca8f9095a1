"""Levels of cuts that several strategies share."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.cuts import ArrayCuts, Cuts, PagedCuts, PartCuts
from chunkwise.text.analysis import Analyzed
from chunkwise.text.characters import SPACE
from chunkwise.text.merge import merged


def sentence_levels(document: Analyzed, likely: NDArray[np.int64] | None = None) -> list[Cuts]:
    """Sentences, headings kept with what follows; then any sentence. `likely`: spans they will be sought in."""
    every = ArrayCuts(lambda: document.sentences)
    whole = ArrayCuts(lambda: glued(document, document.sentences))
    if likely is None:
        return [whole, every]
    some = ArrayCuts(lambda: document.sentences_within(likely))
    some_whole = ArrayCuts(lambda: glued(document, some.positions))
    return [PartCuts(likely, some_whole, whole), PartCuts(likely, some, every)]


def clause_levels(document: Analyzed) -> list[Cuts]:
    """Inside a sentence: at semicolons, then colons, then commas, then between words."""
    return [
        *(PagedCuts(partial(_behind, document, signs)) for signs in (";；", ":：", ",，、،")),
        word_level(document),
    ]


def word_level(document: Analyzed) -> Cuts:
    return ArrayCuts(lambda: document.graphemes.keep(document.characters.word_starts))


def glued(document: Analyzed, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The starts without those right behind a heading or a table's header: both stay with what follows."""
    blocks = document.blocks
    leading = blocks.of("heading", "header")
    following = leading[leading + 1 < len(blocks)] + 1
    return np.setdiff1d(starts, blocks.start[following], assume_unique=True)


def _behind(document: Analyzed, signs: str, start: int, end: int) -> NDArray[np.int64]:
    """Positions behind one of the signs where white space follows; the full-width ones need none."""
    # One character before the positions: the sign that the first of them stands behind.
    before = max(start - 1, 0)
    points = document.characters.points[before : end - 1]
    kinds = document.characters.kinds
    found = [np.zeros(0, dtype=np.int64)]
    for sign in signs:
        behind = np.flatnonzero(points == ord(sign)) + before + 1
        if ord(sign) < 128:
            inside = behind[behind < len(kinds)]
            behind = inside[kinds[inside] & np.uint16(SPACE) != 0]
        found.append(behind)
    return document.graphemes.keep(merged(*found))
