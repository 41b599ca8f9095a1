"""Where the citations of an answer point: a place, a start, a quote or the id of a chunk is each enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from chunkwise.chunkers.chunk_positions import (
    StatedPlace,
    TextPlaces,
    document_of,
    shown_offset,
    stated_id,
    stated_place,
)
from chunkwise.core import Hit, Passage, Query
from chunkwise.evaluation.chunk_names import ChunkNames
from chunkwise.metrics.answers.answer import AnswerCitation, stands_in
from chunkwise.records.fields import string_in

_CLAIMS = ("claim", "sentence", "statement")
_QUOTES = ("quote", "cited_text", "text", "page_content")
_FILE = re.compile(r"[^\s.]\.\w{1,5}\Z")
NOTHING_NAMED = "it names no document, no chunk and no quote"


def nameless_quotes(citations: Iterable[object]) -> list[str]:
    """The quotes that are to be found in any document."""
    named = ((each, stated_place(each).names) for each in citations if isinstance(each, Mapping))
    quotes = (string_in(each, *_QUOTES) for each, names in named if not names)
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
        said = stated_place(fields)
        number = document_of(said, self._chunks.names)
        quote = string_in(fields, *_QUOTES) or ""
        if number is None and said.links and not quote and stated_id(fields).id is None:
            number = self._chunks.names.find(said.links[0])
        if number is None and said.start is not None and len(self._chunks.documents) == 1:
            number = 0
        whole = AnswerCitation(
            string_in(fields, *_CLAIMS) or "",
            self._id(number) or next(iter((*said.names, *said.links)), ""),
            said.start,
            said.end,
            quote,
        )
        if isinstance(number, int) and (quote or (said.start is not None and said.end is not None)):
            return whole, self._outside(number, said.start)
        chunk = self._chunk(fields, said, number)
        if isinstance(chunk, Passage):
            return whole._replace(doc_id=chunk.doc_id, start=chunk.start, end=chunk.end), ""
        if isinstance(number, str):
            # An id in the place of a document's name is an id all the same.
            id = next((name for name in said.names if self._chunks.is_id(name)), None)
            return (whole, number) if id is None else (self._unknown(whole, id), "")
        if quote and number is None:
            return self._quoted(whole)
        if number is None or (chunk and said.start is None):
            return whole._replace(unresolved=chunk or NOTHING_NAMED), ""
        if said.start is not None and said.end is None:
            span = self._chunks.holding(number, said.start, self._hits)
            if span is not None:
                return whole._replace(start=span.start, end=span.end), ""
        return whole, self._outside(number, said.start)

    def _fields(self, name: str) -> Mapping[str, object]:
        """What a text alone names: a document that is there or reads like a file, else a chunk."""
        is_document = isinstance(self._chunks.names.find(name), int) or _FILE.search(name)
        return {"doc_id" if is_document else "chunk_id": name}

    def _unknown(self, citation: AnswerCitation, id: str) -> AnswerCitation:
        return citation._replace(unresolved=str(self._chunks.find(id)))

    def _chunk(
        self, fields: Mapping[str, object], said: StatedPlace, number: int | str | None
    ) -> Passage | str:
        """The chunk it names by an id, or why it is not known; empty: it names none."""
        id, is_sure = stated_id(fields)
        document = number if isinstance(number, int) else None
        if id is not None:
            found = self._chunks.find(id, document)
            if isinstance(found, Passage):
                # Of two that do not agree the offset is the nearer to the text.
                is_held = said.start is None or found.start <= said.start < found.end
                return found if is_held else ""
            if is_sure or number is None:
                return found
        if isinstance(number, str):
            every = (self._chunks.find(name) for name in said.names)
            return next((each for each in every if isinstance(each, Passage)), "")
        return ""

    def _quoted(self, citation: AnswerCitation) -> tuple[AnswerCitation, str]:
        """In whichever document the quote stands; of several, one that the question is about, or that was found."""
        places = self._quotes.get(citation.quote)
        numbers = [] if places is None else np.unique(places.document).tolist()
        ids = [self._chunks.documents[number].id for number in numbers]
        if not ids:
            texts = ((each.id, each.text) for each in self._chunks.documents)
            ids = [id for id, text in texts if stands_in(citation.quote, text)]
        if not ids:
            return citation, "its quote stands in no document"
        near = [place.doc_id for each in self._query.references for place in each.places]
        near += [hit.doc_id for hit in self._hits]
        chosen = next((id for id in near if id in ids), ids[0])
        return citation._replace(doc_id=chosen, start=None, end=None), ""

    def _id(self, number: int | str | None) -> str:
        return self._chunks.documents[number].id if isinstance(number, int) else ""

    def _outside(self, number: int, start: int | None) -> str:
        document = self._chunks.documents[number]
        if start is None or start < len(document.text):
            return ""
        told = f"{start:,}" if start < 10**15 else shown_offset(start)
        return f"{told} lies behind the end of {document.id}"
