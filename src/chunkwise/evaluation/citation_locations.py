"""Where citations and hits of others point: by a place, a start, a quote or the id of a chunk."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from chunkwise.base.wording import counted, shown, thousands
from chunkwise.chunkers.chunk_offsets import (
    StatedPlace,
    TextPlaces,
    document_of,
    shown_offset,
    stated_id,
    stated_place,
)
from chunkwise.core import Document, Hit, Passage, Query, Span
from chunkwise.documents.document_ids import DocumentNames
from chunkwise.metrics.answers.question_evidence import stands_in
from chunkwise.metrics.evidence import AnswerCitation
from chunkwise.metrics.span_tables import Chunking, Numbers
from chunkwise.records.fields import string_in

_NUMBERED = re.compile(r"(.+)::(?:chunk_)?([0-9]{1,12})", re.DOTALL)
_PLACED = re.compile(r"(.+)@([0-9]{1,12})-([0-9]{1,12})", re.DOTALL)
_HOW_TO_TELL = "; pass the chunks with --chunks (chunks=… in Python)"


class NoChunk(NamedTuple):
    """An id that leads to no chunk."""

    why: str
    is_missing: bool
    """Whether all chunks are known and this is none; else nobody can say which one it is."""


class ChunkNames:
    """Chunks by the ids they have in files, by ours (`doc_id::number`, `doc_id@start-end`), and by where they begin.

    `doc_id::chunk_number` is `doc_id::number`.
    """

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
        result = self.look_up(id, document)
        return result.why if isinstance(result, NoChunk) else result

    def look_up(self, id: str, document: int | None = None) -> Passage | NoChunk:
        """The same, with whether there is no such chunk."""
        known = list(self._ids.get(id, ()))
        if document is not None:
            known = [row for row in known if row.doc_id == self.documents[document].id] or known
        if len(known) == 1:
            return known[0]
        if known:
            message = f"{counted(len(known), 'chunk')} have the id {shown(id, 60)}; also give the document"
            return NoChunk(message, False)
        if (match := _NUMBERED.fullmatch(id)) and isinstance(n := self.names.find(match[1]), int):
            return self._numbered(n, int(match[2]))
        if (match := _PLACED.fullmatch(id)) and isinstance(n := self.names.find(match[1]), int):
            start, end = int(match[2]), int(match[3])
            if 0 <= start < end <= len(self.documents[n].text):
                return Passage(self.documents[n].id, start, end)
        if document is not None and id.isascii() and id.isdigit() and len(id) <= 12:
            return self._numbered(document, int(id))
        hint = _HOW_TO_TELL if self._chunking is None else ""
        return NoChunk(f"unknown chunk id {shown(id, 60)}{hint}", not hint)

    def _numbered(self, document: int, number: int) -> Passage | NoChunk:
        """A chunk by its place among those of its document, as our ids count them."""
        name = shown(self.documents[document].id, 60)
        if self._chunking is None:
            return NoChunk(f"the chunks of {name} are unknown{_HOW_TO_TELL}", False)
        low, high = self._chunking.document.searchsorted([document, document + 1]).tolist()
        if low + number >= high:
            message = f"{name} has no chunk {thousands(number)}; it has {thousands(high - low)}, counted from 0"
            return NoChunk(message, True)
        if not self._chunking.is_chunk[low + number]:
            message = (
                f"chunk {thousands(number)} of {name} is a summary, which covers several spans"
            )
            return NoChunk(message, False)
        start, end = (
            int(array[low + number]) for array in (self._chunking.start, self._chunking.end)
        )
        return Passage(self.documents[document].id, start, end)

    def holding(self, document: int, start: int, hits: Sequence[Hit] = ()) -> Span | None:
        """The hit or chunk that begins at an offset, else the one that holds it; of several the one that begins last.

        None: none does, or they are not known.
        """
        doc_id = self.documents[document].id
        own = [hit.span for hit in hits if hit.doc_id == doc_id and not hit.level]
        result = max((row for row in own if row.start <= start < row.end), default=None)
        if result is not None and result.start == start:
            return result
        chunk = self._chunk_holding(document, start)
        return chunk if chunk is not None and chunk.start == start else result or chunk

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


_CLAIMS = ("claim", "sentence", "statement")
_QUOTES = ("quote", "cited_text", "text", "page_content")
_FILE = re.compile(r"[^\s.]\.\w{1,5}\Z")
NOTHING_NAMED = "it has no document, chunk or quote"
CONTRADICTORY = "its chunk and offsets contradict each other"


def nameless_quotes(citations: Iterable[object]) -> list[str]:
    """The quotes that are to be found in any document."""
    named = (
        (citation, stated_place(citation).names)
        for citation in citations
        if isinstance(citation, Mapping)
    )
    quotes = (string_in(record, *_QUOTES) for record, names in named if not names)
    return [quote for quote in quotes if quote]


class CitedPlaces:
    """Resolves the citations of one answer."""

    def __init__(
        self,
        chunks: ChunkNames,
        query: Query,
        hits: Sequence[Hit],
        quotes: Mapping[str, TextPlaces],
    ) -> None:
        """`quotes` has the places of those that name no document, `nameless_quotes` of all answers."""
        self._chunks = chunks
        self._query = query
        self._hits = hits
        self._quotes = quotes

    def citation(self, given: Mapping[str, object] | str) -> tuple[AnswerCitation, str]:
        """With what is wrong with it, where it leads nowhere: that it does is for the metrics to say."""
        fields = self._fields(given) if isinstance(given, str) else given
        place = stated_place(fields)
        number = document_of(place, self._chunks.names)
        quote = string_in(fields, *_QUOTES) or ""
        if number is None and place.links and not quote and stated_id(fields).id is None:
            number = self._chunks.names.find(place.links[0])
        if number is None and place.start is not None and len(self._chunks.documents) == 1:
            number = 0
        whole = AnswerCitation(
            string_in(fields, *_CLAIMS) or "",
            self._id(number) or next(iter((*place.names, *place.links)), ""),
            place.start,
            place.end,
            quote,
        )
        is_placed = isinstance(number, int) and (quote or None not in (place.start, place.end))
        id, chunk = self._chunk(fields, place, number)
        if isinstance(chunk, Passage):
            if not self._agree(chunk, place, number):
                return whole._replace(start=0, end=0), CONTRADICTORY
            if not is_placed:
                return whole._replace(doc_id=chunk.doc_id, start=chunk.start, end=chunk.end), ""
        # Beside a place the id may be that of another system's chunk.
        elif chunk and chunk.is_missing and (not is_placed or self._chunks.is_id(id)):
            return whole._replace(start=0, end=0), chunk.why
        elif chunk and not is_placed and (place.start is None or not isinstance(number, int)):
            return whole._replace(unresolved=chunk.why), ""
        if isinstance(number, str):
            return whole, number
        if number is None:
            return self._quoted(whole) if quote else (whole._replace(unresolved=NOTHING_NAMED), "")
        if place.start is not None and not is_placed:
            span = self._chunks.holding(number, place.start, self._hits)
            if span is not None:
                return whole._replace(start=span.start, end=span.end), ""
        return whole, self._outside(number, place.start)

    def _fields(self, name: str) -> Mapping[str, object]:
        """What a text alone names: a document that is there or reads like a file, else a chunk."""
        is_document = isinstance(self._chunks.names.find(name), int) or _FILE.search(name)
        return {"doc_id" if is_document else "chunk_id": name}

    def _chunk(
        self, fields: Mapping[str, object], place: StatedPlace, number: int | str | None
    ) -> tuple[str, Passage | NoChunk | None]:
        """The chunk it names by an id, or why it is not known; None: it names none."""
        own, is_sure = stated_id(fields)
        ids = [] if own is None else [own]
        if isinstance(number, str):  # an id in the place of a document's name is an id all the same
            ids += place.names
        document = number if isinstance(number, int) else None
        result = [(id, self._chunks.look_up(id, document)) for id in ids]
        for id, chunk in result:
            if isinstance(chunk, Passage) and (
                is_sure or id != own or self._agree(chunk, place, number)
            ):
                return id, chunk
        for id, chunk in result:
            is_chunks = (is_sure or number is None) if id == own else False
            if not isinstance(chunk, Passage) and (is_chunks or self._chunks.is_id(id)):
                return id, chunk
        return "", None

    def _agree(self, chunk: Passage, place: StatedPlace, number: int | str | None) -> bool:
        """Whether a chunk is in the document that is named, and holds the offset that is."""
        is_there = place.start is None or chunk.start <= place.start < chunk.end
        return is_there and (
            not isinstance(number, int) or chunk.doc_id == self._chunks.documents[number].id
        )

    def _quoted(self, citation: AnswerCitation) -> tuple[AnswerCitation, str]:
        """In whichever document the quote stands; of several, one that the question is about, or that was found."""
        places = self._quotes.get(citation.quote)
        numbers = [] if places is None else np.unique(places.document).tolist()
        ids = [self._chunks.documents[number].id for number in numbers]
        if not ids:
            texts = ((document.id, document.text) for document in self._chunks.documents)
            ids = [id for id, text in texts if stands_in(citation.quote, text)]
        if not ids:
            return citation, "its quote is in no document"
        near = [place.doc_id for reference in self._query.references for place in reference.places]
        near += [hit.doc_id for hit in self._hits]
        chosen = next((id for id in near if id in ids), ids[0])
        return citation._replace(doc_id=chosen, start=None, end=None), ""

    def _id(self, number: int | str | None) -> str:
        return self._chunks.documents[number].id if isinstance(number, int) else ""

    def _outside(self, number: int, start: int | None) -> str:
        document = self._chunks.documents[number]
        if start is None or start < len(document.text):
            return ""
        message = thousands(start) if start < 10**15 else shown_offset(start)
        return f"{message} is beyond the end of {document.id}"
