"""Where separators occur in a text, all of them found at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.cuts import ArrayCuts, before_cut
from chunkwise.text.characters import Characters
from chunkwise.text.graphemes import Graphemes
from chunkwise.text.merge import merged

_NOWHERE = np.zeros(0, dtype=np.int64)


class Places:
    """Where separators occur in a text, each told from the places of all but its last character."""

    def __init__(self, characters: Characters) -> None:
        self._characters = characters
        self._known: dict[str, NDArray[np.int64]] = {}
        self._behind: dict[str, NDArray[np.uint32]] = {}

    def of(self, separator: str) -> NDArray[np.int64]:
        """The start of each occurrence, of overlapping ones too."""
        known, behind = self._known, self._behind
        text, points = self._characters.text, self._characters.points
        for end, char in enumerate(separator):
            before, longer = separator[:end], separator[: end + 1]
            if longer in known:
                continue
            if not before:
                met = char in text  # what is not there is noticed sooner than found nowhere
                known[longer] = np.flatnonzero(points == ord(char)) if met else _NOWHERE
                continue
            places = known[before]
            if before not in behind:
                behind[before] = points.take(places + end, mode="clip")
            known[longer] = places[(behind[before] == ord(char)) & (places < len(text) - end)]
        return known[separator]


def place_cuts(places: Places, separators: Sequence[str], graphemes: Graphemes) -> ArrayCuts:
    """Cuts of one level, found when it is first reached."""
    return ArrayCuts(
        lambda: graphemes.keep(merged(*(places.of(each) + before_cut(each) for each in separators)))
    )
