"""Which place is meant by the id of a chunk, or by where something begins: citations and hits may say no more."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from chunkwise.core import Document, Hit, Passage, Span
from chunkwise.documents.document_names import DocumentNames
from chunkwise.metrics.spans.tables import Chunking, Numbers

_NUMBERED = re.compile(r"(.+)::([0-9]{1,12})", re.DOTALL)
_PLACED = re.compile(r"(.+)@([0-9]{1,12})-([0-9]{1,12})", re.DOTALL)
_HOW_TO_TELL = "; name the chunks with --chunks"


class ChunkNames:
    """Chunks by the ids they have in files, by ours (`doc_id::number`, `doc_id@start-end`), and by where they begin."""

    def __init__(
        self,
        documents: Sequence[Document],
        chunking: Chunking | None = None,
        ids: Iterable[tuple[str, Passage]] = (),
    ) -> None:
        self.documents = documents
        self.names = DocumentNames(documents)
        self._chunking = chunking
        self._ids: defaultdict[str, dict[Passage, None]] = defaultdict(dict)
        for id, place in ids:
            self.add(id, place)

    def add(self, id: str, place: Passage) -> None:
        """One more chunk by an id of its own; two may share one, as in files that count anew in every document."""
        self._ids[id][place] = None

    @staticmethod
    def is_id(name: str) -> bool:
        """Whether it has the form of our ids, be there such a chunk or not."""
        return bool(_NUMBERED.fullmatch(name) or _PLACED.fullmatch(name))

    def find(self, id: str, document: int | None = None) -> Passage | str:
        """The chunk of an id, in the document of this number where one is named; or why it is not known."""
        known = list(self._ids.get(id, ()))
        if document is not None:
            known = [each for each in known if each.doc_id == self.documents[document].id] or known
        if len(known) == 1:
            return known[0]
        if known:
            return (
                f"the id {shortened(id)} is that of {len(known):,} chunks; name the document, too"
            )
        if (own := _NUMBERED.fullmatch(id)) and isinstance(n := self.names.find(own[1]), int):
            return self._numbered(n, int(own[2]))
        if (own := _PLACED.fullmatch(id)) and isinstance(n := self.names.find(own[1]), int):
            start, end = int(own[2]), int(own[3])
            if 0 <= start < end <= len(self.documents[n].text):
                return Passage(self.documents[n].id, start, end)
        if document is not None and id.isascii() and id.isdigit() and len(id) <= 12:
            return self._numbered(document, int(id))
        hint = _HOW_TO_TELL if self._chunking is None else ""
        return f"no chunk is known by the id {shortened(id)}{hint}"

    def _numbered(self, document: int, number: int) -> Passage | str:
        """A chunk by its place among those of its document, as our ids count them."""
        name = shortened(self.documents[document].id)
        if self._chunking is None:
            return f"the chunks of {name} are not known{_HOW_TO_TELL}"
        low, high = self._chunking.document.searchsorted([document, document + 1]).tolist()
        if low + number >= high:
            return f"{name} has no chunk {number:,}; it has {high - low:,}, from 0 on"
        if not self._chunking.is_chunk[low + number]:
            return f"chunk {number:,} of {name} is a summary, which stands at no one place"
        start, end = (
            int(each[low + number]) for each in (self._chunking.start, self._chunking.end)
        )
        return Passage(self.documents[document].id, start, end)

    def holding(self, document: int, start: int, hits: Sequence[Hit] = ()) -> Span | None:
        """The hit or chunk that begins at an offset, else the one that holds it; of several the one that begins last.

        None: none does, or they are not known.
        """
        doc_id = self.documents[document].id
        own = [hit.span for hit in hits if hit.doc_id == doc_id and not hit.level]
        found = max((each for each in own if each.start <= start < each.end), default=None)
        if found is not None and found.start == start:
            return found
        chunk = self._chunk_holding(document, start)
        return chunk if chunk is not None and chunk.start == start else found or chunk

    def _chunk_holding(self, document: int, at: int) -> Span | None:
        if self._chunking is None or document not in self._by_start:
            return None
        start, end, reach = self._by_start[document]
        number = int(start.searchsorted(at, "right")) - 1
        while number >= 0 and reach[number] > at:
            if end[number] > at:
                return Span(int(start[number]), int(end[number]))
            number -= 1
        return None

    @cached_property
    def _by_start(self) -> dict[int, tuple[Numbers, Numbers, Numbers]]:
        """Of each document: starts and ends of its chunks, and how far those up to each reach."""
        assert self._chunking is not None
        chunks = self._chunking.without_summaries
        order = np.lexsort((chunks.end, chunks.start, chunks.document))
        document, start, end = chunks.document[order], chunks.start[order], chunks.end[order]
        number, first = np.unique(document, return_index=True)
        parts = zip(np.split(start, first[1:]), np.split(end, first[1:]), strict=True)
        return {
            n: (low, high, np.maximum.accumulate(high))
            for n, (low, high) in zip(number.tolist(), parts, strict=True)
        }


def shortened(text: str, most: int = 60) -> str:
    """As a message quotes a name or a text that may be long."""
    return repr(text if len(text) <= most else f"{text[: most - 1]}…")
