"""Levels of cuts that several strategies share."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.cuts import ArrayCuts, Cuts
from chunkwise.text.analysis import Analyzed
from chunkwise.text.characters import SPACE
from chunkwise.text.merge import merged


def sentence_levels(document: Analyzed) -> list[Cuts]:
    """Sentences, headings kept with what follows; then any sentence."""
    return [
        ArrayCuts(lambda: glued(document, document.sentences)),
        ArrayCuts(lambda: document.sentences),
    ]


def clause_levels(document: Analyzed) -> list[Cuts]:
    """Inside a sentence: at semicolons, then colons, then commas, then between words."""
    return [
        *(ArrayCuts(partial(_behind, document, signs)) for signs in (";；", ":：", ",，、،")),
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


def _behind(document: Analyzed, signs: str) -> NDArray[np.int64]:
    """Positions behind one of the signs where white space follows; the full-width ones need none."""
    points, kinds = document.characters.points, document.characters.kinds
    found = [np.zeros(0, dtype=np.int64)]
    for sign in signs:
        if sign not in document.text:
            continue
        behind = np.flatnonzero(points == ord(sign)) + 1
        if ord(sign) < 128:
            inside = behind[behind < len(points)]
            behind = inside[kinds[inside] & np.uint16(SPACE) != 0]
        found.append(behind)
    return document.graphemes.keep(merged(*found))
