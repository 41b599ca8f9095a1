"""Long texts in windows a model can read: no token left out, none read twice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.sentences.boundaries import sentence_starts

ALGORITHM = 1
"""Goes up whenever windows would end elsewhere: vectors kept of other windows are then not used."""


def numbered(name: str) -> str:
    """A name for something that depends on where windows end; the first way to cut them has no number."""
    return name if ALGORITHM == 1 else f"{name}{ALGORITHM}"


class PreferredEnds(NamedTuple):
    """Where windows like to end, as indices of the tokens that follow."""

    at: NDArray[np.int64]
    least: int
    """A window that would be shorter ends somewhere else."""


def window_ends(count: int, limit: int, *preferred: PreferredEnds) -> list[int]:
    """Token indices behind each window: at the furthest of the first places that offer one, else at the limit."""
    if limit < 1:
        raise InvalidParameter(f"limit is {limit}; a window takes at least 1 token")
    ends = []
    start = 0
    while count - start > limit:
        end = start + limit
        for places in preferred:
            before = int(places.at.searchsorted(start + limit, "right")) - 1
            if before >= 0 and places.at[before] >= start + max(1, places.least):
                end = int(places.at[before])
                break
        ends.append(end)
        start = end
    if count > start:
        ends.append(count)
    return ends


def text_windows(text: str, tokens: NDArray[np.int64], limit: int) -> list[int]:
    """Windows over tokens that start at these offsets: they end with a sentence, or else with a word."""
    if len(tokens) <= limit:
        return [len(tokens)] if len(tokens) else []
    characters = CharacterArrays(text)
    half = limit // 2
    sentences = tokens.searchsorted(sentence_starts(characters))
    words = tokens.searchsorted(characters.word_starts)
    return window_ends(
        len(tokens), limit, PreferredEnds(sentences, half), PreferredEnds(words, half)
    )
