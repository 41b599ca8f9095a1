"""Hit files of other systems; a hit that stands nowhere in the documents keeps its rank and what it costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from typing import Annotated, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import Meta

from chunkwise.answering.cited_answer import NOT_FOUND, UNSHOWN
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted, shown
from chunkwise.chunkers.chunk_offsets import (
    FileRow,
    StatedId,
    StatedPlace,
    TextPlaces,
    document_of,
    find_in_own,
    find_texts,
    read_rows,
    shown_offset,
    stands,
    stated_id,
    stated_place,
    usable_rows,
    wrong_offset,
)
from chunkwise.core import AS_WRITTEN, Document, Hit, HitPlace, Passage, Query, Span
from chunkwise.evaluation.citation_locations import (
    ChunkNames,
    CitedPlaces,
    nameless_quotes,
)
from chunkwise.metrics.claims.text_normalization import plain_form
from chunkwise.metrics.evidence import NOWHERE, Answer, AnswerCitation
from chunkwise.records.fields import Fields, integer_in, kind, number_in, string_in
from chunkwise.records.json import without_half_characters
from chunkwise.records.read import OnBadRow, Shape, rows
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.passages_with_front_matter import is_in_blank_head
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike

T = TypeVar("T")
Offset = Annotated[int, Meta(ge=0)]
_UNSCORED = "it isn't scored"
_WRONG = "it counts as wrong"
_IRRELEVANT = "it counts as an irrelevant hit"
COUNTED = (_UNSCORED, _WRONG, _IRRELEVANT)
"""How lines end about what is no part of the documents, and counts all the same: nothing is skipped."""
_IDS = ("query_id", "qid", "question_id", "query-id")
_QUESTION_TEXTS = ("query", "question", "user_input", "input")


class Questions:
    """Questions by their ids and by their texts."""

    def __init__(self, queries: Sequence[Query]) -> None:
        self._by_id = {query.id: number for number, query in enumerate(queries)}
        self._by_text: dict[str, list[int]] = defaultdict(list)
        for number, query in enumerate(queries):
            self._by_text[_folded(query.text)].append(number)

    @staticmethod
    def is_named(fields: Fields) -> bool:
        """Whether a record says what question it belongs to."""
        return string_in(fields, *_IDS, *_QUESTION_TEXTS, "id", "_id") is not None

    def find(self, fields: Fields, *, by_own_id: bool) -> list[int] | str:
        """The positions of the questions meant, or why there are none; a text may be that of several questions.

        `by_own_id`: the record is about a question, so that its `id` is the question's.
        """
        id = string_in(fields, *_IDS, *(("id", "_id") if by_own_id else ()))
        if id in self._by_id:
            return [self._by_id[id]]
        text = string_in(fields, *_QUESTION_TEXTS)
        if text is not None and (result := self._by_text.get(_folded(text))):
            return result
        if id is None and text is None:
            return f"no question; expected its id in {_IDS[0]} or its text in {_QUESTION_TEXTS[0]}"
        message = f"with the id {id!r}" if id is not None else shown(text or "", 60)
        return f"no test question {message}"


def _folded(text: str) -> str:
    return " ".join(text.split())


_TEXTS = ("answer", "response", "generated_answer", "output", "text")


def read_answers(
    path: str,
    queries: Sequence[Query],
    documents: Sequence[Document],
    on_bad: OnBadRow,
    chunks: ChunkNames | None = None,
    hits: Sequence[Sequence[Hit]] = (),
) -> dict[str, Answer]:
    """Answers by the id of their question; of two for one question the first is kept.

    A record has query_id (or the question's text), answer and, if it likes, citations: records with claim, doc_id and
    start and end. A start alone, the id of a chunk alone, or a quote alone will do: they are looked up in `chunks`, and
    in `hits`, what was found for each question, where that is known. `found` false says that the documents do not
    answer the question. What cannot be used is a line to `on_bad`; a citation of which nobody can say where it points
    is not scored.
    """
    questions = Questions(queries)
    chunks = ChunkNames(documents) if chunks is None else chunks
    answers: dict[str, Answer] = {}
    rows = list(read_rows(path, on_bad, ("answers", "rows", "data")))
    given = (each for _, fields in rows if isinstance(each := fields.get("citations"), list))
    # All at once: a document is read once for all of them.
    quotes = find_texts(nameless_quotes(chain.from_iterable(given)), documents)
    for where, fields in rows:
        meant = questions.find(fields, by_own_id=True)
        answer = next((each for name in _TEXTS if isinstance(each := fields.get(name), str)), None)
        if isinstance(meant, str):
            on_bad(f"{where}: {meant}")
        elif answer is None:
            on_bad(f"{where}: no answer; expected a field {', '.join(_TEXTS)}")
        else:
            for question in meant:
                cited = CitedPlaces(
                    chunks, queries[question], hits[question] if hits else (), quotes
                )
                # What is wrong with a citation is said once, however many questions have the same text.
                tell = on_bad if question == meant[0] else _ignore
                citations = _citations(fields.get("citations"), where, cited, tell)
                refusal = not citations and _is_refusal(answer, fields.get("found"))
                id = queries[question].id
                if id in answers:
                    on_bad(f"{where}: duplicate answer to {id!r}; using the first")
                else:
                    answers[id] = Answer(answer, citations, refusal)
    if not rows:
        raise ChunkwiseError(f"no answers in {path}; expected records with query_id and answer")
    return answers


def _is_refusal(answer: str, found: object) -> bool:
    """Whether it is the answer of `chunkwise ask` to what the documents do not say; an empty one is none at all."""
    return bool(answer.strip()) and (
        found is False or plain_form(answer) in map(plain_form, (NOT_FOUND, UNSHOWN))
    )


def _ignore(_: str) -> None:
    pass


def _citations(
    given: object, where: str, cited: CitedPlaces, on_bad: OnBadRow
) -> tuple[AnswerCitation, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        on_bad(f"{where}: citations are {kind(given)}, not a list; skipped")
        return ()
    citations = []
    for at, each in enumerate(given, 1):
        if isinstance(each, Mapping | str):
            citation, wrong = cited.citation(each)
            if citation.unresolved:
                on_bad(f"{where}, citation {at}: {citation.unresolved}; {_UNSCORED}")
            elif wrong:
                on_bad(f"{where}, citation {at}: {wrong}; {_WRONG}")
            citations.append(citation)
        else:
            on_bad(f"{where}, citation {at}: expected a record, got {kind(each)}")
    return tuple(citations)


NESTED = ("hits", "results", "retrieved", "retrieved_contexts", "contexts", "documents", "chunks")
"""What people call the list of a question's hits."""
_COLUMNS = 6
"""Of a TREC run."""
_UNKNOWN = "\ufffd"
_LONGEST_NOWHERE = 100_000
"""Characters; a longer place is taken for a slip."""
_SCORES = ("score", "similarity", "relevance_score")


class _HitRow(NamedTuple):
    where: str
    questions: list[int]
    said: StatedPlace
    rank: int | None
    score: float | None
    problem: str = ""
    """Why it can be no place, whatever else it says."""
    level: int = 0
    summary: str = ""
    spans: tuple[Span, ...] = ()
    """The places it stands for, where it is a summary."""
    elsewhere: tuple[Passage, ...] = ()
    """Those in other documents."""
    id: StatedId = StatedId(None, False)


class _Place(NamedTuple):
    document: Document
    start: int
    end: int


def read_hits(
    path: str,
    queries: Sequence[Query],
    documents: Sequence[Document],
    on_bad: OnBadRow,
    chunks: ChunkNames | None = None,
    tokenizer: TokenizerLike = DEFAULT_TOKENIZER,
) -> list[list[Hit]]:
    """The hits of each question, best first: by rank where all have one, else by score, else as they stand.

    A hit is a document with start and end, or a text that is sought in the document it names, else in all: exactly,
    then but for white space, quotes and dashes, case and Markdown's marks; of several places in one document the one
    nearest to its offset, else the first. The id of one of `chunks` will do, or where it begins; `chunks` learns
    the ids of hits that say more. A document without any of these is a hit as a whole. What cannot be used is a
    line to `on_bad`; a hit that cannot be found, or may be in several documents, keeps its rank in a document of
    its own: were it left out, those below it would move up.
    """
    hits = list(_rows(path, Questions(queries), on_bad))
    if not hits:
        raise ChunkwiseError(
            f"no hits for the test questions in {path}; expected query_id, doc_id, start and "
            "end, or a text"
        )
    return _located(hits, queries, documents, on_bad, chunks, tokenizer)


def locate_records(
    records: Sequence[Sequence[Fields | str]],
    queries: Sequence[Query],
    documents: Sequence[Document],
    on_bad: OnBadRow,
    chunks: ChunkNames | None = None,
    tokenizer: TokenizerLike = DEFAULT_TOKENIZER,
) -> list[list[Hit]]:
    """The same for records of each question that are there already, best first; a text says why one is no record.

    Libraries give documents ids of their own: a text whose document is not known by its name is sought in all.
    """
    chunks = ChunkNames(documents) if chunks is None else chunks
    rows = [
        _row(f"question {queries[number].id!r}, hit {at}", [number], *_usable(record))._replace(
            rank=at
        )
        for number, own in enumerate(records)
        for at, record in enumerate(own, 1)
    ]
    rows = [
        row._replace(said=row.said._replace(names=(), links=()))
        if row.said.text and isinstance(document_of(row.said, chunks.names), str)
        else row
        for row in rows
    ]
    return _located(rows, queries, documents, on_bad, chunks, tokenizer)


def _usable(record: Fields | str) -> tuple[Fields, str]:
    return ({}, record) if isinstance(record, str) else (record, "")


def _located(
    rows: Sequence[_HitRow],
    queries: Sequence[Query],
    documents: Sequence[Document],
    on_bad: OnBadRow,
    chunks: ChunkNames | None,
    tokenizer: TokenizerLike,
) -> list[list[Hit]]:
    chunks = ChunkNames(documents) if chunks is None else chunks
    hits: list[list[tuple[_HitRow, _Place]]] = [[] for _ in queries]
    ids = {document.id for document in documents}
    for row, place in zip(rows, _places(rows, chunks), strict=True):
        if isinstance(place, str):
            on_bad(f"{row.where}: {place}; {_IRRELEVANT}")
            stranger = nowhere(row.where, row.said, ids)
            place = _Place(stranger, 0, len(stranger.text))
        elif row.id.id is not None and not row.spans:
            chunks.add(row.id.id, Passage(place.document.id, place.start, place.end))
        for question in row.questions:
            hits[question].append((row, place))
    named = {each.doc_id for row in rows for each in row.elsewhere}
    analyzed = {item.id: Analyzed(item) for item in documents if item.id in named}
    return [_ranked(hit, analyzed, tokenizer) for hit in hits]


def _ranked(
    own: list[tuple[_HitRow, _Place]], analyzed: dict[str, Analyzed], tokenizer: TokenizerLike
) -> list[Hit]:
    if all(row.rank is not None for row, _ in own):
        own = sorted(own, key=lambda pair: pair[0].rank or 0)
    elif all(row.score is not None for row, _ in own):
        own = sorted(own, key=lambda pair: -(pair[0].score or 0.0))
    hits = []
    for rank, (row, (document, start, end)) in enumerate(own, 1):
        if document.id not in analyzed:
            analyzed[document.id] = Analyzed(document)
        measure = analyzed[document.id].measure(tokenizer)
        if row.spans and row.spans[-1].end <= len(document.text):
            sizes = tuple(measure.count(*span) for span in row.spans)
            hit = Hit(
                document, start, end, row.score or 0.0, rank, measure.tokenizer.count(row.summary),
                summary=row.summary, summarized=row.spans, summarized_tokens=sizes, level=row.level,
                elsewhere=tuple(
                    HitPlace(other.document, low, high, other.measure(tokenizer).count(low, high))
                    for doc_id, low, high in row.elsewhere
                    if (other := analyzed.get(doc_id)) is not None and high <= len(other.text)
                ),
            )  # fmt: skip
        else:
            hit = Hit(document, start, end, row.score or 0.0, rank, measure.count(start, end))
        hits.append(hit)
    return hits


def _rows(path: str, questions: Questions, on_bad: OnBadRow) -> Iterator[_HitRow]:
    for where, fields in _records(path, on_bad):
        nested = next((each for name in NESTED if isinstance(each := fields.get(name), list)), None)
        meant = questions.find(fields, by_own_id=nested is not None)
        if isinstance(meant, str):
            on_bad(f"{where}: {meant}")
        elif nested is None and (error := string_in(fields, "error")):
            on_bad(f"{where}: failed: {shown(error, 60)}")
        elif nested is None:
            yield _row(where, meant, fields)
        else:
            for at, each in enumerate(nested, 1):
                if isinstance(each, str | Mapping):
                    inner = {"text": each} if isinstance(each, str) else each
                    yield _row(f"{where}, hit {at}", meant, inner)
                else:
                    problem = f"expected text or a record, got {each!r:.40}"
                    yield _row(f"{where}, hit {at}", meant, {}, problem)


def _row(where: str, meant: list[int], fields: Mapping[str, object], problem: str = "") -> _HitRow:
    said = stated_place(fields)
    rank, score = integer_in(fields, "rank"), number_in(fields, *_SCORES)
    # A text is found without offsets.
    problem = problem or ("" if said.text else wrong_offset(fields))
    level, spans = integer_in(fields, "level") or 0, _spans(fields.get("spans"))
    if level > 0 and spans and said.text:
        # What a summary says stands nowhere: its places are its offsets.
        place = said._replace(start=spans[0].start, end=spans[-1].end, text=None)
        others = _elsewhere(fields.get("elsewhere"))
        return _HitRow(where, meant, place, rank, score, problem, level, said.text, spans, others)
    return _HitRow(where, meant, said, rank, score, problem, id=stated_id(fields))


class _OtherPlace(msgspec.Struct):
    doc_id: str
    start: Offset
    end: Offset


def _elsewhere(given: object) -> tuple[Passage, ...]:
    """Places in other documents; none where they are something else."""
    result = _converted(given, list[_OtherPlace])
    return tuple(
        Passage(item.doc_id, item.start, item.end) for item in result if item.start < item.end
    )


def _spans(given: object) -> tuple[Span, ...]:
    """Pairs of offsets in order that do not overlap; nothing where they are something else."""
    spans = tuple(Span(*pair) for pair in _converted(given, list[tuple[Offset, Offset]]))
    apart = all(left.end <= right.start for left, right in pairwise(spans))
    return spans if apart and all(start < end for start, end in spans) else ()


def _converted(given: object, kind: type[list[T]]) -> list[T]:
    """A list, also one that a table keeps as text; empty where it holds something else."""
    with suppress(msgspec.MsgspecError):
        if isinstance(given, str):
            return msgspec.json.decode(given, type=kind)
        return msgspec.convert(given, kind)
    return []


def _records(name: str, on_bad: OnBadRow) -> Iterator[FileRow]:
    """Those of tables and JSON, and the lines of a TREC run: question, Q0, whole document, rank, score, tag."""
    read = []
    for row in rows(name, Shape(plain=True)):
        value = row.value
        if isinstance(value, str) and not row.problem:
            parts = value.split()
            problem = f"a TREC run has {_COLUMNS} columns, this line has {len(parts)}"
            if len(parts) == _COLUMNS:
                problem, value = "", {"query_id": parts[0], "doc_id": parts[2], "score": parts[4]}
            row = row._replace(value=value, problem=problem)
        read.append(row)
    return (each for row in usable_rows(read, name, on_bad) for each in _unpacked(row))


def _unpacked(row: FileRow) -> Iterator[FileRow]:
    """A record itself; the records of one that is a whole file: {"hits": […]} or {question: its hits, …}."""
    where, fields = row
    inner = next((each for name in NESTED if isinstance(each := fields.get(name), list)), None)
    if Questions.is_named(fields):
        yield row
    elif inner is not None:
        entries = enumerate(inner, 1)
        yield from (
            FileRow(f"{where}, hit {at}", record)
            for at, record in entries
            if isinstance(record, dict)
        )
    elif fields and all(isinstance(field, list) for field in fields.values()):
        for id, each in fields.items():
            yield FileRow(f"{where}, {id!r}", {"query_id": id, "hits": each})
    else:
        yield row


def _places(rows: Sequence[_HitRow], chunks: ChunkNames) -> Iterator[_Place | str]:
    """Where each row's hit is, or why nowhere."""
    documents = chunks.documents
    by_id = {document.id: document for document in documents}
    numbers = [document_of(row.said, chunks.names) for row in rows]
    named: list[tuple[int, str]] = []
    nameless: list[str] = []
    for row, number in zip(rows, numbers, strict=True):
        if row.said.text and number is None:
            nameless.append(row.said.text)
        elif (
            row.said.text
            and isinstance(number, int)
            and not stands(row.said, documents[number].text)
        ):
            named.append((number, row.said.text))
    anywhere, in_own = find_texts(nameless, documents), find_in_own(named, documents)
    for row, number in zip(rows, numbers, strict=True):
        text = row.said.text or ""
        chunk = _named_chunk(row, number, chunks)
        if row.problem:
            yield row.problem
        elif isinstance(chunk, Passage):
            yield _Place(by_id[chunk.doc_id], chunk.start, chunk.end)
        elif chunk:
            yield chunk
        elif isinstance(number, str):
            yield number
        elif number is None:
            yield _anywhere(row.said, anywhere.get(text), documents)
        elif row.said.text and not stands(row.said, documents[number].text):
            places = in_own.get((number, text))
            if places is None:
                yield _lost(row.said, documents[number])
            else:
                yield _by_text(row.said, places, documents)
        else:
            yield _by_offsets(row.said, documents[number])


NO_END = "its end is unknown; pass the chunks with --chunks (chunks=… in Python)"


def _named_chunk(row: _HitRow, number: int | str | None, chunks: ChunkNames) -> Passage | str:
    """The chunk that a row without text and whole offsets names, or why it is not known; empty: it names none."""
    said, (id, is_sure) = row.said, row.id
    if said.text or (said.start is not None and said.end is not None):
        return ""
    document = number if isinstance(number, int) else None
    if id is not None:
        result = chunks.find(id, document)
        if isinstance(result, Passage):
            return result
        if said.start is None and (is_sure or number is None):
            return result
    if isinstance(number, str):
        every = (chunks.find(name) for name in said.names)
        return next((row for row in every if isinstance(row, Passage)), "")
    if document is not None and said.start is not None and said.end is None:
        span = chunks.holding(document, said.start)
        inside = 0 <= said.start < len(chunks.documents[document].text)
        if span is not None:
            return Passage(chunks.documents[document].id, span.start, span.end)
        return NO_END if inside else ""
    return ""


def _anywhere(
    place: StatedPlace, places: TextPlaces | None, documents: Sequence[Document]
) -> _Place | str:
    """Of several documents with the text its offset may tell the one; nothing else does."""
    if places is not None and len(several := np.unique(places.document)) > 1:
        at = np.flatnonzero(places.start == (-1 if place.start is None else place.start))
        if len(at) != 1:
            first, second = (documents[number].id for number in several[:2].tolist())
            return (
                f"its text is in {counted(len(several), 'document')}, such as {first!r} and "
                f"{second!r}; add doc_id"
            )
    return _by_text(place, places, documents)


def _lost(place: StatedPlace, document: Document) -> str:
    """Why a text that is said to be the document's own is none."""
    if is_in_blank_head(document, place.start, place.text or ""):
        return f"it is front matter of {document.id}, not text"
    extracted = document.format not in AS_WRITTEN
    how = f", whose text is extracted from {document.format}" if extracted else ""
    return f"its text isn't in {document.id}{how}"


def _by_text(
    place: StatedPlace, places: TextPlaces | None, documents: Sequence[Document]
) -> _Place | str:
    if places is None:
        message = "its text isn't in any document"
        return message if place.text else "no document or text"
    number, start, end = places.nearest(place.start)
    return _Place(documents[number], start, end)


def _by_offsets(place: StatedPlace, document: Document) -> _Place | str:
    start, end, size = place.start, place.end, len(document.text)
    if start is None and end is None:
        return _Place(document, 0, size) if size else f"{document.id} is empty"
    if start is not None and end is None:
        end = start + len(place.text or "")
    if start is None or end is None or not 0 <= start < end <= size:
        return (
            f"{shown_offset(start)}–{shown_offset(end)} isn't a span of {document.id}, which "
            f"has {counted(size, 'character')}"
        )
    return _Place(document, start, end)


def nowhere(where: str, said: StatedPlace, taken: Iterable[str]) -> Document:
    """Holds the hit's text and no reference; `taken` are the ids that documents have."""
    id = f"{NOWHERE}: {where}"
    while id in taken:
        id += "'"
    text = said.text or _UNKNOWN * _length(said)
    return Document(id, without_half_characters(text), format="text", metadata={NOWHERE: True})


def _length(place: StatedPlace) -> int:
    """As its offsets say, where they can be believed."""
    size = 0 if place.start is None or place.end is None else place.end - place.start
    return size if 0 < size <= _LONGEST_NOWHERE else 1
