"""Our own form: a JSON list with one question an entry. All but `query` may be left out.

    {"query_id": "a1", "query": "Who approves leave?", "answer": "The head of the station.",
     "references": [{"doc_id": "leave.md", "start": 120, "end": 171, "text": "Leave is approved by …",
                     "alternatives": [{"doc_id": "hours.md", "start": 40, "end": 91, "text": "…"}]}],
     "facts": [{"fact": "the head of the station", "aliases": ["the station's head"]}],
     "types": ["single-concept"], "split": "test",
     "labels": [{"doc_id": "leave.md", "start": 0, "end": 400, "relevant": 1, "grade": 3, "text": "…"}]}

Offsets are half-open and count Unicode code points. `text` is what stood there when the file was written: by it a
place is found again after the document has changed. Read are JSON lines and an object with a list under "queries",
too; and what is quicker to write: {"query", "relevant_text"} with a passage or several, to be found in the documents,
and {"query", "answer", "expected": ["fact", ["fact", "alias"]]}.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Label, Passage, Query, Reference
from chunkwise.records.encoding import marked_encoding
from chunkwise.records.json import parse_json
from chunkwise.records.read import BrokenList, json_lines, looks_like_json, read_text, shown_name
from chunkwise.records.write import write_json, write_json_lines
from chunkwise.testsets.question_record import ID, TEXT, draft_of, question_rows
from chunkwise.testsets.testset import Draft, GivenPassage, TestSet, Unreadable

QuestionRow = dict[str, Any]

_CONVERT = "convert it: chunkwise testset convert FILE --to chunkwise -o NEW"
_LINES = (".jsonl", ".ndjson")
_LISTED = "queries"


def dropped_file(path: Path) -> Path:
    """Where questions go that a person has dropped: queries.json, queries.dropped.json."""
    return path.with_name(f"{path.stem}.dropped{path.suffix}")


def id_of_row(row: QuestionRow) -> str:
    """By which a question is known again; empty where it has none."""
    return next((str(row[name]) for name in ID if row.get(name) is not None), "")


class QuestionsFile:
    """Rows of a JSON list, of JSON lines, or of an object with a list under "queries"; written whole or not at all."""

    def __init__(
        self, path: Path, rows: Sequence[QuestionRow], form: str, around: Mapping[str, Any]
    ) -> None:
        self.path = path
        self.rows = list(rows)
        self._form = form
        self._around = around

    @classmethod
    def new(cls, path: Path) -> QuestionsFile:
        """No row yet, and nothing written."""
        return cls(path, (), "lines" if path.suffix.lower() in _LINES else "list", {})

    @classmethod
    def read(cls, path: Path) -> QuestionsFile:
        """What is there; an error where it is no file of questions of ours."""
        text = read_text(str(path))
        form, around, rows = _parsed(text, path)
        for number, row in enumerate(rows, 1):
            if not isinstance(row, dict):
                raise ChunkwiseError(
                    f"{path}, entry {number} is not a record but {type(row).__name__}; {_CONVERT}"
                )
        # Other formats are JSON as well: adding to their records would spoil the file.
        if rows and not any(name in row for row in rows for name in TEXT):
            raise ChunkwiseError(f"{path} has no questions; {_CONVERT}")
        return cls(path, rows, form, around)

    def refresh(self) -> None:
        """Takes in what others have written meanwhile; a file that is not there leaves the rows as they are."""
        if is_there(self.path):
            now = QuestionsFile.read(self.path)
            self.rows, self._form, self._around = now.rows, now._form, now._around

    def position(self, row: QuestionRow) -> int | None:
        """Where a row that was read before stands now: by its id, else as it was; None: nowhere."""
        name = id_of_row(row)
        result = (
            at
            for at, record in enumerate(self.rows)
            if (id_of_row(record) == name if name else record == row)
        )
        return next(result, None)

    def write(self) -> None:
        """At once: the file before, or the file with all rows, is there at any time."""
        if self._form == "lines":
            write_json_lines(self.path, self.rows)
            return
        value = {**self._around, _LISTED: self.rows} if self._form == "object" else self.rows
        write_json(self.path, value, indent=2)


def is_there(path: Path) -> bool:
    """Whether it is a file that holds something."""
    try:
        return path.is_file() and path.stat().st_size > 0
    except OSError:
        return False


def _parsed(text: str, path: Path) -> tuple[str, dict[str, Any], list[Any]]:
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        return "lines", {}, _lines(text, path)
    if isinstance(value, list):
        return "list", {}, value
    if isinstance(value, dict) and isinstance(value.get(_LISTED), list):
        return "object", value, value[_LISTED]
    if isinstance(value, dict):
        return "lines", {}, [value]
    raise ChunkwiseError(f"{path} has no list of questions; for details: chunkwise testset check")


def _lines(text: str, path: Path) -> list[Any]:
    result = []
    for row in json_lines(io.BytesIO(text.encode("utf-8"))):
        if row.problem:
            raise ChunkwiseError(
                f"{path}, {row.where}: {row.problem}; for details: chunkwise testset check "
                f"{path} DOCUMENTS"
            )
        result.append(row.value)
    return result


_SUFFIXES = (".json", ".jsonl", ".ndjson")


class ChunkwiseFormat:
    """Questions with places in documents, and the short forms people write by hand."""

    name: ClassVar[str] = "chunkwise"
    title: ClassVar[str] = "chunkwise"

    def accepts(self, path: Path, head: bytes) -> bool:
        if looks_like_json(head):
            return True
        is_ours = path.suffix.lower() in _SUFFIXES and not path.is_dir()
        return is_ours and (not head.strip() or marked_encoding(head) is not None)

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        return read_drafts(str(path))

    def write(self, testset: TestSet, documents: Sequence[Document] | None, path: Path) -> None:
        texts = {document.id: document.text for document in documents or ()}
        rows = []
        for query in testset.queries:
            unplaced = testset.unplaced.get(query.id)
            rows.append(row_of(query, texts) if unplaced is None else _row_of_draft(unplaced))
        write_json(path, rows, indent=2)


def read_drafts(name: str, *, question_alone: bool = False) -> Iterator[Draft | Unreadable]:
    """The questions of a file, `-` for standard input; what cannot be read stands among them with its reason.

    `question_alone` looks at nothing but text and id, and takes lines of text, too.
    """
    shown = shown_name(name)
    try:
        for row in question_rows(name, plain=question_alone):
            where = f"{shown}, {row.where}"
            if row.problem:
                yield Unreadable(where, row.problem)
            else:
                yield draft_of(row.value, row.number, where, question_alone=question_alone)
    except BrokenList as error:
        yield Unreadable(shown, str(error).removeprefix(f"{shown} "))


def row_of(query: Query, texts: Mapping[str, str]) -> dict[str, object]:
    """What is known of a question; what is not is left out."""
    row: dict[str, object] = {"query_id": query.id, "query": query.text}
    if query.answer is not None:
        row["answer"] = query.answer
    if query.references:
        row["references"] = [_reference(reference, texts) for reference in query.references]
    if query.facts:
        row["facts"] = [
            {"fact": fact.text, **({"aliases": list(fact.aliases)} if fact.aliases else {})}
            for fact in query.facts
        ]
    if query.types:
        row["types"] = list(query.types)
    if query.labels:
        row["labels"] = [_label(label, texts) for label in query.labels]
    if query.split:
        row["split"] = query.split
    return row


def _reference(reference: Reference, texts: Mapping[str, str]) -> dict[str, object]:
    place, *others = (_place(row, texts) for row in reference.places)
    return {**place, "alternatives": others} if others else place


def _place(passage: Passage, texts: Mapping[str, str]) -> dict[str, object]:
    row: dict[str, object] = {
        "doc_id": passage.doc_id,
        "start": passage.start,
        "end": passage.end,
    }
    if passage.doc_id in texts:
        row["text"] = texts[passage.doc_id][passage.start : passage.end]
    return row


def _label(label: Label, texts: Mapping[str, str]) -> dict[str, object]:
    place = _place(Passage(label.doc_id, label.start, label.end), texts)
    text = {"text": place.pop("text")} if "text" in place else {}
    grade = {} if label.grade is None else {"grade": label.grade}
    return {**place, "relevant": int(label.relevant), **grade, **text}


def _row_of_draft(draft: Draft) -> dict[str, object]:
    """A question whose documents are not known, as its file gave it."""
    references: list[dict[str, object]] = []
    quotes: list[dict[str, object]] = []
    labels: list[dict[str, object]] = []
    group: dict[str, Any] = {}
    for passage in draft.passages:
        given = _given(passage)
        if passage.role == "alternative":
            group.setdefault("alternatives", []).append(given)
        elif passage.role == "label":
            grade = {} if passage.grade is None else {"grade": passage.grade}
            labels.append({**given, "relevant": int(passage.relevant), **grade})
        else:
            group = given
            (quotes if passage.span is None else references).append(given)
    row = row_of(draft.question, {})
    if references:
        row["references"] = references
    if labels:
        row["labels"] = labels
    if quotes:
        texts = [quote["text"] if set(quote) == {"text"} else quote for quote in quotes]
        row["relevant_text"] = texts[0] if len(texts) == 1 else texts
    return row


def _given(passage: GivenPassage) -> dict[str, Any]:
    start, end = passage.span or (passage.start, None)
    said = {
        "doc_id": passage.document,
        "start": start,
        "end": end,
        "text": passage.text,
        "chunk_id": passage.chunk,
    }
    return {name: value for name, value in said.items() if value not in (None, "")}
