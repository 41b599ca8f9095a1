"""A test set from a file of any known format: read, its references placed in the user's documents, faults reported."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import NamedTuple

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted
from chunkwise.core import Document, OnProgress, Passage, Query, Span
from chunkwise.documents.document_ids import DocumentNames
from chunkwise.documents.walk import BEIR_QUERIES
from chunkwise.records.read import OnBadRow, is_read_once, shown_name
from chunkwise.testsets.check import REMARKS, OnProblem, Problem
from chunkwise.testsets.formats import FORMATS, WHOLE, CarriesDocuments, Format, detect
from chunkwise.testsets.formats.chunkwise import read_drafts
from chunkwise.testsets.locate import MOST_PLACES
from chunkwise.testsets.question_record import unread_problems
from chunkwise.testsets.references import KnownChunks, ReferenceLocator
from chunkwise.testsets.testset import (
    Draft,
    GivenPassage,
    Origin,
    TestSet,
    Unreadable,
    given_references,
    hash_of,
)
from chunkwise.text.find_passages import Tolerance, occurrences


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
        drafts = with_user_places(drafts, _own(format, path), documents)
    return _measured(drafts, documents)


def carries_documents(path: str | Path) -> bool:
    """Whether a file or folder holds questions and the texts they are asked about (BEIR, SQuAD, AutoRAG)."""
    if Path(path).name == BEIR_QUERIES and not Path(path).is_dir():
        return False  # the texts stand in a file beside it
    try:
        format = detect(path)
        return (
            isinstance(format, CarriesDocuments)
            and next(iter(format.documents(Path(path))), None) is not None
        )
    except ChunkwiseError:
        return False


def _own(format: CarriesDocuments, path: Path) -> Iterator[Document]:
    try:
        yield from (
            document for document in format.documents(path) if isinstance(document, Document)
        )
    except ChunkwiseError:
        return  # a folder without its corpus: then only the user's texts are known


def _measured(
    drafts: Iterable[Draft | Unreadable], documents: Sequence[Document]
) -> Iterator[Draft | Unreadable]:
    """Whole documents with their lengths."""
    names = DocumentNames(documents)

    def measured(passage: GivenPassage) -> GivenPassage:
        if passage.span is None or passage.span.end != WHOLE:
            return passage
        number = names.find(passage.document)
        if isinstance(number, str):
            return passage
        document = documents[number]
        return replace(passage, document=document.id, span=Span(0, len(document.text)))

    for draft in drafts:
        if isinstance(draft, Draft):
            yield replace(draft, passages=tuple(map(measured, draft.passages)))
        else:
            yield draft


def with_user_places(
    drafts: Iterable[Draft | Unreadable], own: Iterable[Document], documents: Sequence[Document]
) -> Iterator[Draft | Unreadable]:
    """The drafts with each place found through the passage it stands in; else that passage is a quote.

    An answer of one word stands in many places, its paragraph in one.
    """
    result = list(drafts)
    named = {
        place.doc_id for query in result if isinstance(query, Draft) for place in _places(query)
    }
    known = {document.id: document for document in own if document.id in named}
    places = _UserPlaces(known, {document.id: document for document in documents})
    stretches = dict.fromkeys(
        places.stretch(place)
        for query in result
        if isinstance(query, Draft)
        for place in _places(query)
        if places.is_foreign(place)
    )
    places.look(list(stretches), documents)
    for query in result:
        yield _moved(query, places) if isinstance(query, Draft) else query


def _places(draft: Draft) -> Iterator[Passage]:
    return (place for passage in draft.passages for place in passage.places)


class _UserPlaces:
    """Where the places of a file's own documents stand in those of the user."""

    def __init__(self, own: dict[str, Document], given: dict[str, Document]) -> None:
        self._own = own
        self._given = given
        self._found: dict[_Stretch, list[Passage]] = {}

    def is_foreign(self, place: Passage) -> bool:
        """Whether it must be looked for: the user's document of that name is another or none."""
        document = self._own.get(place.doc_id)
        if document is None or place.end == WHOLE:
            return False
        given = self._given.get(place.doc_id)
        text = document.text[place.start : place.end]
        return given is None or given.text[place.start : place.end] != text

    def stretch(self, place: Passage) -> _Stretch:
        """The declared block around a place, else its whole document."""
        document = self._own[place.doc_id]
        blocks = document.blocks or ()
        at = bisect_right(blocks, place.start, key=lambda block: block.start) - 1
        if at >= 0 and place.end <= blocks[at].end:
            return _Stretch(document.id, blocks[at].start, blocks[at].end)
        return _Stretch(document.id, 0, len(document.text))

    def look(self, stretches: Sequence[_Stretch], documents: Sequence[Document]) -> None:
        """Exactly; what is nowhere then, but for white space and signs."""
        tolerances: tuple[Tolerance, ...] = ("exact", "signs")
        for tolerance in tolerances:
            missing = [stretch for stretch in stretches if stretch not in self._found]
            texts = list(map(self._own_text, missing))
            for occurrence in occurrences(texts, documents, tolerance):
                kept = self._found.setdefault(missing[occurrence.passage], [])
                places = (occurrence.document, occurrence.start, occurrence.end)
                few = (place[: MOST_PLACES + 1].tolist() for place in places)
                kept += (Passage(documents[n].id, a, b) for n, a, b in zip(*few, strict=True))

    def of(self, place: Passage) -> list[Passage]:
        """All places that say the same; that in the file it is said to come from first."""
        if not self.is_foreign(place):
            return [place]
        stretch = self.stretch(place)
        result = self._found.get(stretch, [])
        if len(result) > MOST_PLACES:
            return []  # left to be reported as ambiguous
        source = PurePath(self._own[place.doc_id].source).name
        ordered = sorted(result, key=lambda query: PurePath(query.doc_id).name != source)
        moved = (self._within(place, stretch, row) for row in ordered)
        return [row for row in moved if row is not None]

    def _within(self, place: Passage, stretch: _Stretch, passage: Passage) -> Passage | None:
        """The place in a stretch that was found; in one that is spaced otherwise, by counting."""
        whole, there = self._own_text(stretch), self._given[passage.doc_id].text
        there = there[passage.start : passage.end]
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
        return Passage(passage.doc_id, passage.start + start, passage.start + start + size)

    def passage(self, place: Passage) -> str:
        return self._own_text(self.stretch(place))

    def _own_text(self, stretch: _Stretch) -> str:
        return self._own[stretch.document].text[stretch.start : stretch.end]

    def text(self, place: Passage) -> str:
        return self._own[place.doc_id].text[place.start : place.end]


def _moved(draft: Draft, places: _UserPlaces) -> Draft:
    references: list[list[Passage]] = []
    texts: list[str] = []
    quotes: list[GivenPassage] = []
    given = [passage for passage in draft.passages if passage.role == "reference"]
    for reference, passage in zip(draft.query.references, given, strict=True):
        result = [(place, there) for place in reference.places if (there := places.of(place))]
        if result:
            references.append(list(dict.fromkeys(place for _, there in result for place in there)))
            is_first = result[0][0] == reference.places[0]
            texts.append(
                passage.text if is_first or not passage.text else places.text(result[0][0])
            )
        else:
            text = places.passage(reference.places[0])
            quotes.append(GivenPassage("reference", f"passage {len(quotes) + 1}", text=text))
    return replace(draft, passages=(*given_references(references, texts), *quotes))


_BETWEEN_NOTES = 1000
"""Questions."""


def read_testset(
    path: str,
    documents: Sequence[Document] | None,
    on_problem: OnProblem,
    *,
    format: str | None = None,
    on_remark: OnProblem | None = None,
    chunks: KnownChunks | None = None,
    advance: OnProgress | None = None,
) -> TestSet:
    """The questions of a file whose references are places in these documents.

    A question one of whose references cannot be found is left out: scored on the others it would look easier than
    it is. Without documents nothing is looked for: ids and texts are those of the file, its places unchecked.
    What is worth a look and not wrong goes to `on_remark`. A reference may be a chunk's id or begin where a chunk
    does: `chunks` are those. `advance` is told how far it is.
    """
    name = "standard input" if path == "-" else Path(path).name
    return placed_drafts(
        drafts_of(path, format, documents), documents, on_problem, file=shown_name(path), name=name,
        on_remark=on_remark, chunks=chunks, advance=advance,
    )  # fmt: skip


def placed_drafts(
    drafts: Iterable[Draft | Unreadable],
    documents: Sequence[Document] | None,
    on_problem: OnProblem,
    *,
    file: str,
    name: str = "",
    on_remark: OnProblem | None = None,
    chunks: KnownChunks | None = None,
    advance: OnProgress | None = None,
) -> TestSet:
    """The questions whose references are in these documents; `file` is what messages call where they are from."""
    advance = advance or (lambda amount, note: None)
    problems: dict[int, list[Problem]] = {}
    placing = ReferenceLocator(documents or (), chunks)
    unplaced: list[Query] = []
    order: list[int] = []
    where: dict[str, str] = {}
    kept: dict[str, Draft] = {}
    origins: dict[str, Origin] = {}
    unread: Counter[str] = Counter()
    for number, draft in enumerate(drafts):
        if number % _BETWEEN_NOTES == 0:
            advance(0, f"{counted(number, 'question')} read")
        problem = _refused(draft, where)
        if problem is not None:
            problems[number] = [problem]
        elif isinstance(draft, Draft):
            where[draft.question.id] = draft.where
            if draft.origin != "people":
                origins[draft.question.id] = draft.origin
            order.append(number)
            unread.update(draft.unread)
            problems[number] = []
            if documents is None:
                unplaced.append(draft.query)
                if draft.names_texts:
                    kept[draft.question.id] = draft
            else:
                placing.add(draft)
    queries = unplaced
    if placing.wanted:
        advance(0, f"looking for {counted(placing.wanted, 'passage')}")
    for number, (id, query, found) in zip(order, placing.placed(), strict=documents is not None):
        problems[number] += found
        if query is None:
            del where[id]
        else:
            queries.append(query)
    told = [item for number in sorted(problems) for item in problems[number]]
    for item in (*told, *unread_problems(unread, file)):
        if item.kind not in REMARKS:
            on_problem(item)
        elif on_remark is not None:
            on_remark(item)
    return TestSet(tuple(queries), name, hash_of(queries), kept, origins, where)


def drafts_of(
    path: str, format: str | None = None, documents: Sequence[Document] | None = None
) -> Iterator[Draft | Unreadable]:
    """Questions as the file has them; its format is told by how it begins."""
    if format is None and is_read_once(path):
        return read_drafts(path)
    return drafts_in(FORMATS[format] if format else detect(path), Path(path), documents)


def _refused(draft: Draft | Unreadable, known: dict[str, str]) -> Problem | None:
    if isinstance(draft, Unreadable):
        return Problem("unreadable", draft.where, "", draft.reason, dropped=True)
    id = draft.question.id
    if not draft.question.text.strip():
        return Problem("empty_question", draft.where, id, "the question is empty", dropped=True)
    if id in known:
        # Rows of results are joined with their questions by it.
        text = f"duplicate id {id!r}, used by {known[id]}; ids must be unique"
        return Problem("duplicate_id", draft.where, id, text, dropped=True)
    return None


def read_questions(name: str, on_bad: OnBadRow) -> list[Query]:
    """The questions of a file, `-` for standard input; ids are those given, else positions from 1.

    Where their answers stand is not looked at: what is wrong with that does not keep a question from being asked.
    """
    queries: list[Query] = []
    where: dict[str, str] = {}
    format = None if is_read_once(name) else _format(name)
    if format is None or format.name == "chunkwise":
        drafts = read_drafts(name, question_alone=True)
    else:
        drafts = format.read(Path(name))
    for draft in drafts:
        if (problem := _refused(draft, where)) is not None:
            on_bad(f"{problem.where}: {problem.text}")
        elif isinstance(draft, Draft):
            where[draft.question.id] = draft.where
            queries.append(Query(draft.question.id, draft.question.text))
    return queries


def _format(name: str) -> Format | None:
    """None: plain text, or no file at all, which reading it will tell."""
    try:
        return detect(name)
    except ChunkwiseError:
        return None
