"""Where the texts of other tools stand in the documents, found for all of them in one walk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.given.positions import Claimed, stands
from chunkwise.core import Document
from chunkwise.text.locate.occurrences import Occurrences, occurrences

_NEAR = 1 << 17
"""Characters looked through for one chunk; more than that is looked through once for all chunks."""

Likeness = Literal["exact", "signs"]
"""To the character, or but for white space, quotes and dashes."""


class TextPlaces(NamedTuple):
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


def find_texts(texts: Iterable[str], documents: Sequence[Document]) -> dict[str, TextPlaces]:
    """The places of each text that stands anywhere, exactly or, where it does not, but for signs."""
    missing = list(dict.fromkeys(text for text in texts if text.strip()))
    found: dict[str, TextPlaces] = {}
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
) -> dict[tuple[int, str], TextPlaces]:
    """The same for texts that belong to one document each, by its number: elsewhere they are not looked for."""
    of_document: dict[int, list[str]] = defaultdict(list)
    for number, text in texts:
        of_document[number].append(text)
    return {
        (number, text): places._replace(document=np.full(len(places.start), number))
        for number, own in of_document.items()
        for text, places in find_texts(own, [documents[number]]).items()
    }


def _places(likeness: Likeness, blocks: Sequence[Occurrences]) -> TextPlaces:
    document = np.concatenate([each.document for each in blocks])
    start = np.concatenate([each.start for each in blocks])
    end = np.concatenate([each.end for each in blocks])
    order = np.lexsort((start, document))
    return TextPlaces(likeness, document[order], start[order], end[order])


class Seeker:
    """Finds the next exact place of a text; work grows with the documents and the chunks, not with their product."""

    def __init__(self, chunks: Sequence[Claimed], documents: Sequence[Document]) -> None:
        self._chunks = chunks
        self._documents = documents
        self._numbers = {document.id: n for n, document in enumerate(documents)}

    def __call__(self, doc_id: str, text: str, behind: int) -> int:
        """The first place from an offset on, else from the beginning; -1: nowhere."""
        number = self._numbers[doc_id]
        whole = self._documents[number].text
        at = whole.find(text, behind, behind + _NEAR + len(text))
        if at >= 0:
            return at
        if len(whole) <= _NEAR:
            return whole.find(text)
        places = self._places.get((number, text))
        return places.next_from(behind)[0] if places and places.likeness == "exact" else -1

    @cached_property
    def _places(self) -> dict[tuple[int, str], TextPlaces]:
        lost = []
        for chunk in self._chunks:
            number = self._numbers.get(chunk.doc_id)
            if number is not None and chunk.text:
                whole = self._documents[number].text
                if len(whole) > _NEAR and not stands(chunk, whole):
                    lost.append((number, chunk.text))
        return find_in_own(lost, self._documents)
