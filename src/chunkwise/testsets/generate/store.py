"""Questions kept on disk as they come; what is there already stays, with what people did to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Fact, Passage, Query, Reference
from chunkwise.testsets.questions_file import QuestionRow, QuestionsFile, dropped_file, is_there

GENERATED = "generated"
"""The field that says who wrote a question, and by which prompt."""


class QuestionsStore:
    """Of a file, or of none: then nothing is written.

    A person may review the file while questions are added: it is read again before it is written.
    """

    def __init__(self, path: Path | None, documents: Sequence[Document]) -> None:
        self._documents = {document.id: document for document in documents}
        self.queries: list[Query] = []
        self._known: set[str] = set()
        self._file: QuestionsFile | None = None
        if path is None:
            return
        self._file = QuestionsFile.new(path)
        self._refresh(self._file)
        if is_there(gone := dropped_file(path)):
            self._known |= {str(row.get("query_id")) for row in QuestionsFile.read(gone).rows}

    def knows(self, id: str) -> bool:
        """Whether it is there, or was and a person dropped it."""
        return id in self._known

    def add(self, query: Query, made: Mapping[str, str]) -> None:
        """On disk when this returns."""
        if self._file is not None:
            self._refresh(self._file)
            self._file.rows.append(row_of(query, self._documents, made))
            self._file.write()
        self.queries.append(query)
        self._known.add(query.id)

    def _refresh(self, file: QuestionsFile) -> None:
        file.refresh()
        self.queries = list(_generated(file))
        self._known |= {query.id for query in self.queries}


def row_of(query: Query, documents: Mapping[str, Document], made: Mapping[str, str]) -> QuestionRow:
    """With the text at every place, by which it is found again when a document has changed."""
    row: QuestionRow = {"query_id": query.id, "query": query.text}
    if query.answer is not None:
        row["answer"] = query.answer
    row["references"] = [_reference(each, documents) for each in query.references]
    if query.facts:
        row["facts"] = [{"fact": fact.text} for fact in query.facts]
    row["types"] = list(query.types)
    row[GENERATED] = dict(made)
    return row


def query_of(row: Mapping[str, Any]) -> Query:
    """Of a row that `row_of` made; edited ones keep their places."""
    return Query(
        str(row["query_id"]),
        str(row["query"]),
        tuple(_place(each) for each in row.get("references", ())),
        row.get("answer"),
        tuple(Fact(str(each["fact"])) for each in row.get("facts", ())),
        tuple(map(str, row.get("types", ()))),
    )


def _reference(reference: Reference, documents: Mapping[str, Document]) -> QuestionRow:
    first, *others = (
        {**place._asdict(), "text": documents[place.doc_id].text[place.start : place.end]}
        for place in reference.places
    )
    return {**first, "alternatives": others} if others else first


def _place(row: Mapping[str, Any]) -> Reference:
    others = tuple(
        Passage(each["doc_id"], each["start"], each["end"]) for each in row.get("alternatives", ())
    )
    return Reference(row["doc_id"], row["start"], row["end"], others)


def _generated(file: QuestionsFile) -> Iterator[Query]:
    """An error for questions that were not made by us: they are not ours to add to."""
    for number, row in enumerate(file.rows, 1):
        if GENERATED not in row:
            raise ChunkwiseError(
                f"{file.path} is there, and its question {number} was not generated; name another file to write"
            )
        try:
            yield query_of(row)
        except (KeyError, TypeError, AttributeError) as error:
            raise ChunkwiseError(
                f"{file.path}, question {number} cannot be read ({error!r}); name another file to write"
            ) from error
