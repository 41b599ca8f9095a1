"""References of a file that brings its own texts, as places in documents the user has."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import NamedTuple

from chunkwise.core import Document, Passage, Reference
from chunkwise.errors import ChunkwiseError
from chunkwise.testsets.finding.document_names import DocumentNames
from chunkwise.testsets.finding.folding import Tolerance
from chunkwise.testsets.finding.locate import MOST_PLACES
from chunkwise.testsets.finding.occurrences import occurrences
from chunkwise.testsets.formats.format import WHOLE, CarriesDocuments, Format
from chunkwise.testsets.testset import Draft, Quote, Unreadable


class _Stretch(NamedTuple):
    """A passage of one of the file's own documents: what is looked for around a reference."""

    document: str
    start: int
    end: int


def drafts_in(
    format: Format, path: Path, documents: Sequence[Document] | None
) -> Iterator[Draft | Unreadable]:
    """The questions of a file with their places in these documents; without any, as the file has them."""
    drafts = format.read(path)
    if documents is None:
        return drafts
    if isinstance(format, CarriesDocuments):
        drafts = placed(drafts, _own(format, path), documents)
    return _measured(drafts, documents)


def _own(format: CarriesDocuments, path: Path) -> Iterator[Document]:
    try:
        yield from (each for each in format.documents(path) if isinstance(each, Document))
    except ChunkwiseError:
        return  # a folder without its corpus: then only the user's texts are known


def _measured(
    drafts: Iterable[Draft | Unreadable], documents: Sequence[Document]
) -> Iterator[Draft | Unreadable]:
    """Whole documents with their lengths."""
    names = DocumentNames(documents)

    def measured(place: Passage) -> Passage:
        number = names.find(place.doc_id) if place.end == WHOLE else ""
        if isinstance(number, str):
            return place
        return Passage(documents[number].id, 0, len(documents[number].text))

    for draft in drafts:
        if isinstance(draft, Draft) and any(place.end == WHOLE for place in _places(draft)):
            known = [tuple(map(measured, each.places)) for each in draft.query.references]
            references = tuple(Reference(*first, tuple(others)) for first, *others in known)
            yield replace(draft, query=replace(draft.query, references=references))
        else:
            yield draft


def placed(
    drafts: Iterable[Draft | Unreadable], own: Iterable[Document], documents: Sequence[Document]
) -> Iterator[Draft | Unreadable]:
    """The drafts with each place found through the passage it stands in; else that passage is a quote.

    An answer of one word stands in many places, its paragraph in one.
    """
    found = list(drafts)
    named = {place.doc_id for each in found if isinstance(each, Draft) for place in _places(each)}
    known = {each.id: each for each in own if each.id in named}
    places = _Places(known, {each.id: each for each in documents})
    stretches = dict.fromkeys(
        places.stretch(place)
        for each in found
        if isinstance(each, Draft)
        for place in _places(each)
        if places.is_foreign(place)
    )
    places.look(list(stretches), documents)
    for each in found:
        yield _moved(each, places) if isinstance(each, Draft) else each


def _places(draft: Draft) -> Iterator[Passage]:
    for reference in draft.query.references:
        yield from reference.places


class _Places:
    """Where the places of a file's own documents stand in those of the user."""

    def __init__(self, own: dict[str, Document], given: dict[str, Document]) -> None:
        self._own = own
        self._given = given
        self._found: dict[_Stretch, list[Passage]] = {}

    def is_foreign(self, place: Passage) -> bool:
        """Whether it must be looked for: the user's document of that name is another or none."""
        own = self._own.get(place.doc_id)
        if own is None or place.end == WHOLE:
            return False
        given = self._given.get(place.doc_id)
        text = own.text[place.start : place.end]
        return given is None or given.text[place.start : place.end] != text

    def stretch(self, place: Passage) -> _Stretch:
        """The declared block around a place, else its whole document."""
        own = self._own[place.doc_id]
        blocks = own.blocks or ()
        at = bisect_right(blocks, place.start, key=lambda block: block.start) - 1
        if at >= 0 and place.end <= blocks[at].end:
            return _Stretch(own.id, blocks[at].start, blocks[at].end)
        return _Stretch(own.id, 0, len(own.text))

    def look(self, stretches: Sequence[_Stretch], documents: Sequence[Document]) -> None:
        """Exactly; what is nowhere then, but for white space and signs."""
        tolerances: tuple[Tolerance, ...] = ("exact", "signs")
        for tolerance in tolerances:
            missing = [each for each in stretches if each not in self._found]
            texts = list(map(self._own_text, missing))
            for found in occurrences(texts, documents, tolerance):
                kept = self._found.setdefault(missing[found.passage], [])
                places = (found.document, found.start, found.end)
                few = (each[: MOST_PLACES + 1].tolist() for each in places)
                kept += (Passage(documents[n].id, a, b) for n, a, b in zip(*few, strict=True))

    def of(self, place: Passage) -> list[Passage]:
        """All places that say the same; that in the file it is said to come from first."""
        if not self.is_foreign(place):
            return [place]
        stretch = self.stretch(place)
        found = self._found.get(stretch, [])
        if len(found) > MOST_PLACES:
            return []  # left to be reported as ambiguous
        source = PurePath(self._own[place.doc_id].source).name
        ordered = sorted(found, key=lambda each: PurePath(each.doc_id).name != source)
        moved = (self._within(place, stretch, each) for each in ordered)
        return [each for each in moved if each is not None]

    def _within(self, place: Passage, stretch: _Stretch, found: Passage) -> Passage | None:
        """The place in a stretch that was found; in one that is spaced otherwise, by counting."""
        whole, there = self._own_text(stretch), self._given[found.doc_id].text
        there = there[found.start : found.end]
        start = place.start - stretch.start
        size = place.end - place.start
        if there != whole:
            text = self.text(place)
            nth = whole.count(text, 0, start)
            if not nth < there.count(text) == whole.count(text):
                return None
            start = -size
            for _ in range(nth + 1):
                start = there.index(text, start + size)
        return Passage(found.doc_id, found.start + start, found.start + start + size)

    def passage(self, place: Passage) -> str:
        return self._own_text(self.stretch(place))

    def _own_text(self, stretch: _Stretch) -> str:
        return self._own[stretch.document].text[stretch.start : stretch.end]

    def text(self, place: Passage) -> str:
        return self._own[place.doc_id].text[place.start : place.end]


def _moved(draft: Draft, places: _Places) -> Draft:
    references: list[Reference] = []
    texts: list[str] = []
    quotes = list(draft.quotes)
    told = draft.texts or ("",) * len(draft.query.references)
    for reference, text in zip(draft.query.references, told, strict=True):
        found = [(place, places.of(place)) for place in reference.places]
        found = [each for each in found if each[1]]
        if not found:
            quotes.append(Quote(places.passage(reference.places[0])))
            continue
        first, *others = dict.fromkeys(place for _, here in found for place in here)
        references.append(Reference(*first, tuple(others)))
        is_first = found[0][0] == reference.places[0]
        texts.append(text if is_first or not text else places.text(found[0][0]))
    query = replace(draft.query, references=tuple(references))
    return replace(
        draft,
        query=query,
        quotes=tuple(quotes),
        texts=tuple(texts) if all(texts) else (),
        alternative_texts=(),
    )
