"""Where the texts of other tools stand in the documents, found for all of them in one walk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.testsets.locate.occurrences import Occurrences, occurrences

Likeness = Literal["exact", "signs"]
"""To the character, or but for white space, quotes and dashes."""


class Places(NamedTuple):
    """Every place of one text, by document and start."""

    likeness: Likeness
    document: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    def nearest(self, start: int | None) -> tuple[int, int, int]:
        """Document, start and end of the place that begins nearest to an offset; without one, the first."""
        at = 0 if start is None else int(np.abs(self.start - start).argmin())
        return int(self.document[at]), int(self.start[at]), int(self.end[at])

    def next_from(self, start: int) -> tuple[int, int]:
        """Start and end of the first place at or behind an offset, else of the first of all."""
        at = int(self.start.searchsorted(start))
        at = at if at < len(self.start) else 0
        return int(self.start[at]), int(self.end[at])


def find_texts(texts: Iterable[str], documents: Sequence[Document]) -> dict[str, Places]:
    """The places of each text that stands anywhere, exactly or, where it does not, but for signs."""
    missing = list(dict.fromkeys(text for text in texts if text.strip()))
    found: dict[str, Places] = {}
    likenesses: tuple[Likeness, ...] = ("exact", "signs")
    for likeness in likenesses:
        parts: dict[int, list[Occurrences]] = defaultdict(list)
        for each in occurrences(missing, documents, likeness):
            parts[each.passage].append(each)
        for passage, blocks in parts.items():
            found[missing[passage]] = _places(likeness, blocks)
        missing = [text for text in missing if text not in found]
    return found


def find_in_own(
    texts: Iterable[tuple[int, str]], documents: Sequence[Document]
) -> dict[tuple[int, str], Places]:
    """The same for texts that belong to one document each, by its number: elsewhere they are not looked for."""
    of_document: dict[int, list[str]] = defaultdict(list)
    for number, text in texts:
        of_document[number].append(text)
    return {
        (number, text): places._replace(document=np.full(len(places.start), number))
        for number, own in of_document.items()
        for text, places in find_texts(own, [documents[number]]).items()
    }


def _places(likeness: Likeness, blocks: Sequence[Occurrences]) -> Places:
    document = np.concatenate([each.document for each in blocks])
    start = np.concatenate([each.start for each in blocks])
    end = np.concatenate([each.end for each in blocks])
    order = np.lexsort((start, document))
    return Places(likeness, document[order], start[order], end[order])
