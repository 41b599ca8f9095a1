"""Where chunks that do not stand at their offsets are: near the chunk before them, or found for all in one walk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from chunkwise.core import Document
from chunkwise.evaluation.files.text_places import Places, find_in_own
from chunkwise.metrics.citations.position import Claimed, stands

_NEAR = 1 << 17
"""Characters looked through for one chunk; more than that is looked through once for all chunks."""


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
    def _places(self) -> dict[tuple[int, str], Places]:
        lost = []
        for chunk in self._chunks:
            number = self._numbers.get(chunk.doc_id)
            if number is not None and chunk.text:
                whole = self._documents[number].text
                if len(whole) > _NEAR and not stands(chunk, whole):
                    lost.append((number, chunk.text))
        return find_in_own(lost, self._documents)
