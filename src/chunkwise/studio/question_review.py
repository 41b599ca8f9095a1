"""Questions made, changed, tagged, accepted and dropped in the browser, and evidence found for those without gold."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted, thousands
from chunkwise.labels.pool import find_evidence
from chunkwise.records.json import json_text
from chunkwise.report.view import View
from chunkwise.studio.corpus import words_around
from chunkwise.studio.project import Project
from chunkwise.studio.read_request import ApiRequest, Conflict, NotFound
from chunkwise.studio.review_outlook import outlook_of
from chunkwise.testsets.formats.chunkwise import (
    QuestionRow,
    QuestionsFile,
    dropped_file,
    id_of_row,
    is_there,
    row_of,
)
from chunkwise.testsets.question_record import TYPES, as_list
from chunkwise.testsets.review import REVIEW, Review, answer_of, question_of, state_of

_AROUND = 400
_MOST_EVIDENCE = 12

Text = Annotated[str, Meta(max_length=4_000)]
Tag = Annotated[str, Meta(max_length=80)]


@dataclass(frozen=True, slots=True)
class GoldText:
    """A reference with the text around it."""

    doc_id: str
    document: int | None
    start: int
    end: int
    before: str
    text: str
    behind: str


@dataclass(frozen=True, slots=True)
class EditView(View):
    """A question as it stands in its file."""

    id: str
    """Empty: a new one."""
    text: str
    answer: str
    types: tuple[str, ...]
    state: str
    """accepted, edited or unreviewed."""
    revision: str
    """Of what stands in the file: sent back with a change, so that nobody's words are written over."""
    gold: tuple[GoldText, ...]
    file: str
    position: int
    """From 1; 0: it is new."""
    count: int
    following: str
    """The next question that nobody has reviewed; empty: there is none."""
    told: tuple[str, ...] = ()
    """What a change took with it."""


class EditRequest(ApiRequest, frozen=True):
    """Which question."""

    id: Annotated[str, Meta(description="question; empty: a new one")] = ""


def edit(project: Project, request: EditRequest) -> EditView:
    path = project.questions_file()
    if not request.id:
        count = len(QuestionsFile.read(path).rows) if path.is_file() else len(project.queries)
        return EditView("", "", "", (), "unreviewed", "", (), str(path), 0, count, "")
    return _view(project, path, str(request.id))


def _rows(project: Project, path: Path) -> list[QuestionRow]:
    """Those of the file; of a demonstration that nobody changed yet, those it came with."""
    if path.is_file():
        return QuestionsFile.read(path).rows
    return [_plain_row(project, id) for id in project.queries]


def _plain_row(project: Project, id: str) -> QuestionRow:
    query = project.queries[id]
    texts = {place.doc_id: "" for item in query.references for place in item.places}
    known = {name: item.text for name, item in project.document_texts(list(texts)).items()}
    return dict(row_of(query, known))


def _view(project: Project, path: Path, id: str, told: tuple[str, ...] = ()) -> EditView:
    rows = _rows(project, path)
    ids = [id_of_row(row) or str(at) for at, row in enumerate(rows, 1)]
    if id not in ids:
        raise NotFound(f"{path} has no question {id!r:.80}; it may have been dropped")
    at = ids.index(id)
    row = rows[at]
    others = [*range(at + 1, len(rows)), *range(at)]
    waiting = [ids[item] for item in others if state_of(rows[item]) == "unreviewed"]
    return EditView(
        id, question_of(row), answer_of(row), _types(row), state_of(row), revision(row), _gold(project, id),
        str(path), at + 1, len(rows), _following(project, id, waiting), told,
    )  # fmt: skip


def _following(project: Project, id: str, waiting: Sequence[str]) -> str:
    """Of a sweep's questions the one whose answer matters most, and none when more change nothing; else the next."""
    outlook = outlook_of(project)
    if outlook is not None:
        order = [] if outlook.is_settled else list(outlook.order)
        # Behind a question that is skipped comes the one after it.
        waiting = order[order.index(id) + 1 :] if id in order else order
    return next(iter(waiting), "")


def revision(row: QuestionRow) -> str:
    """The same for the same content alone."""
    return hashlib.sha256(json_text(row).encode("utf-8")).hexdigest()[:16]


def _types(row: QuestionRow) -> tuple[str, ...]:
    given: object = next((row[name] for name in TYPES if row.get(name)), [])
    return tuple(str(item) for item in as_list(given))


def _gold(project: Project, id: str) -> tuple[GoldText, ...]:
    query = project.queries.get(id)
    result = []
    for reference in query.references if query else ():
        number = project.corpus.number_of(reference.doc_id)
        text = "" if number is None else project.corpus.document(number).text
        start, end = reference.start, reference.end
        before, after = words_around(text, start, end, _AROUND)
        result.append(
            GoldText(
                reference.doc_id, number, start, end, before, text[start:end], after
            )
        )  # fmt: skip
    return tuple(result)


@dataclass(frozen=True, slots=True)
class EditedPlace:
    """Where an answer stands."""

    doc_id: str
    start: int
    end: int


class SaveRequest(ApiRequest, frozen=True):
    """A change of one question, made to what had this revision."""

    id: Annotated[str, Meta(description="question; empty: a new one")] = ""
    action: Annotated[
        Literal["save", "accept", "drop", "undo"],
        Meta(description="what is done with it; undo: the last change of this question"),
    ] = "save"
    revision: Annotated[str, Meta(description="as it was read; empty: new")] = ""
    text: Annotated[Text, Meta(description="question")] = ""
    answer: Annotated[Text, Meta(description="answer")] = ""
    types: Annotated[tuple[Tag, ...], Meta(max_length=20, description="tags")] = ()
    gold: Annotated[
        tuple[EditedPlace, ...] | None, Meta(description="evidence; none: unchanged")
    ] = None


def save(project: Project, request: SaveRequest) -> EditView:
    """Under a lock that all studios of a project share; what somebody else changed meanwhile is not written over."""
    path = project.questions_file()
    _check(project, request)
    with project.labels().alone():
        begin_file(project, path)
        id = str(request.id)
        told: list[str] = []
        if not id:
            id = _add(project, path, request)
        elif request.action == "undo":
            _undo(project, path, id)
        else:
            review = Review(path)
            review.go_to(id)
            if review.row is None:
                raise NotFound(
                    f"the question {id!r:.80} was dropped from {path}; save yours as a new question"
                )
            if revision(review.row) != request.revision:
                raise Conflict(
                    "someone else changed this question while you edited it; nothing was overwritten. "
                    f"It now reads: {question_of(review.row)!r:.400} – {answer_of(review.row)!r:.400}"
                )
            position, row = review.at, dict(review.row)
            if request.action == "drop":
                review.drop()
            else:
                told = _change(project, path, review, request)
            project.changed_questions[id] = ChangedQuestion(position, row, _now(path, row))
        project.read_questions()
    if request.action == "drop":
        return edit(project, EditRequest())
    return _view(project, path, id, tuple(told))


@dataclass(frozen=True, slots=True)
class ChangedQuestion:
    """The row of a question before its last change, where it was, and the revision after it."""

    position: int
    row: QuestionRow
    after: str
    """Empty: it was dropped."""


def _now(path: Path, row: QuestionRow) -> str:
    file = QuestionsFile.read(path)
    position = file.position(row)
    return "" if position is None else revision(file.rows[position])


def _undo(project: Project, path: Path, id: str) -> None:
    change = project.changed_questions.pop(id, None)
    if change is None:
        raise NotFound("this question has no change to undo")
    if _now(path, change.row) != change.after:
        raise Conflict("someone else has changed this question since; nothing was undone")
    file = QuestionsFile.read(path)
    if change.after:
        file.rows[file.position(change.row) or 0] = change.row
    else:
        file.rows.insert(change.position, change.row)
    file.write()
    gone = dropped_file(path)
    if not change.after and is_there(gone):
        dropped = QuestionsFile.read(gone)
        dropped.rows = [row for row in dropped.rows if id_of_row(row) != id]
        dropped.write()


def _check(project: Project, request: SaveRequest) -> None:
    if request.action not in ("drop", "undo") and not request.text.strip():
        raise InvalidParameter("the question is empty; write one, or drop it")
    for place in request.gold or ():
        number = project.corpus.number_of(place.doc_id)
        if number is None:
            raise NotFound(
                f"there is no document {place.doc_id!r:.80} here; it may have been removed"
            )
        length = len(project.corpus.document(number).text)
        if not 0 <= place.start < place.end <= length:
            raise InvalidParameter(
                f"the place is {thousands(place.start)} to {thousands(place.end)}; "
                f"{place.doc_id!r:.80} has {counted(length, 'character')}"
            )


def begin_file(project: Project, path: Path) -> None:
    """A file with all questions, each with an id: by its number alone one would be another after the first drop."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = _rows(project, path)
    file = QuestionsFile.read(path) if path.is_file() else QuestionsFile.new(path)
    named = [
        row if id_of_row(row) else {"query_id": str(at), **row} for at, row in enumerate(rows, 1)
    ]
    if named != file.rows:
        file.rows = named
        file.write()


def _add(project: Project, path: Path, request: SaveRequest) -> str:
    file = (
        QuestionsFile.read(path)
        if path.is_file() and path.stat().st_size > 2
        else QuestionsFile.new(path)
    )
    taken = {id_of_row(row) for row in file.rows}
    id = next(
        name
        for number in range(len(taken) + 1, 2 * len(taken) + 3)
        if (name := f"q{number}") not in taken
    )
    row: QuestionRow = {"query_id": id, "query": request.text.strip()}
    if request.answer.strip():
        row["answer"] = request.answer.strip()
    _put(row, request, project)
    row[REVIEW] = "edited"
    file.rows.append(row)
    file.write()
    return id


def _change(project: Project, path: Path, review: Review, request: SaveRequest) -> list[str]:
    assert review.row is not None
    told: list[str] = []
    if request.text.strip() != question_of(review.row):
        told += review.edit_question(request.text)
    if request.answer.strip() != answer_of(review.row):
        told += review.edit_answer(request.answer)
    row = dict(review.row)
    before = json_text(row)
    _put(row, request, project)
    if json_text(row) != before:
        file = QuestionsFile.read(path)
        position = file.position(row)
        if position is not None:
            file.rows[position] = {**row, REVIEW: "edited"}
            file.write()
    if request.action == "accept":
        again = Review(path)
        again.go_to(str(request.id))
        again.accept()
    return told


def _put(row: QuestionRow, request: SaveRequest, project: Project) -> None:
    types = [item.strip() for item in request.types if item.strip()]
    if tuple(types) != _types(row):
        for name in TYPES:
            row.pop(name, None)
        row["types"] = types
    if request.gold is not None:
        row.pop("relevant_text", None)
        texts = project.document_texts([place.doc_id for place in request.gold])
        row["references"] = [
            {**asdict(place), "text": texts[place.doc_id].text[place.start : place.end]}
            for place in request.gold
        ]


class EvidenceRequest(ApiRequest, frozen=True):
    """For which question."""

    q: Annotated[Text, Meta(description="question")] = ""


@dataclass(frozen=True, slots=True)
class EvidencePlace:
    """A place that may answer it."""

    doc_id: str
    title: str
    document: int
    start: int
    end: int
    text: str
    words: int
    """Different words of the question in it."""


@dataclass(frozen=True, slots=True)
class EvidenceView(View):
    """Places with words of the question near each other; found without any retriever that may be judged."""

    question: str
    places: tuple[EvidencePlace, ...]


def evidence(project: Project, request: EvidenceRequest) -> EvidenceView:
    corpus = project.corpus
    analyzed = (corpus.analyzed(number) for number in range(len(corpus)))
    places = []
    for item in find_evidence(str(request.q), analyzed, _MOST_EVIDENCE):
        number = corpus.number_of(item.place.doc_id)
        if number is not None:
            title = corpus.document(number).title or item.place.doc_id
            place = item.place
            places.append(
                EvidencePlace(
                    place.doc_id, title, number, place.start, place.end, item.text, item.words
                )
            )
    return EvidenceView(str(request.q), tuple(places))
