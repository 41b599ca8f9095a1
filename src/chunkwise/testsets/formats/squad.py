"""SQuAD 1.1 and 2.0: articles, their paragraphs, and the answers in them.

An article is one document, its paragraphs joined by an empty line: what is to be cut is the whole text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import thousands
from chunkwise.core import Document, Passage, Query
from chunkwise.documents.formats.squad import (
    BadSquadEntry,
    SquadParagraph,
    squad_documents,
    squad_paragraphs,
)
from chunkwise.records.fields import (
    WrongField,
    identifier,
    items,
    offset,
    record_of,
    string,
)
from chunkwise.records.read import read_json
from chunkwise.records.write import write_json
from chunkwise.testsets.formats.registry import JsonKeys
from chunkwise.testsets.testset import Draft, TestSet, Unreadable, given_references

UNANSWERABLE = "unanswerable"


class SquadFormat:
    """`{"data": [{"title", "paragraphs": [{"context", "qas": [{"question", "answers"}]}]}]}`."""

    name: ClassVar[str] = "squad"
    title: ClassVar[str] = "SQuAD"

    def accepts(self, path: Path, head: bytes) -> bool:
        return "paragraphs" in JsonKeys(head).at("data")

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        number = 0
        for paragraph in squad_paragraphs(_articles(path), str(path)):
            if isinstance(paragraph, BadSquadEntry):
                yield Unreadable(*paragraph)
                continue
            try:
                questions = items(paragraph.questions, "questions")
            except WrongField as error:
                yield Unreadable(paragraph.where, str(error))
                continue
            for at, value in enumerate(questions, 1):
                number += 1
                where = f"{paragraph.where}, question {at}"
                try:
                    yield _draft(where, paragraph, record_of(value, "the question"), number)
                except WrongField as error:
                    yield Unreadable(where, str(error))

    def documents(self, path: Path) -> Iterator[Document | Unreadable]:
        result = squad_documents(_articles(path), str(path))
        # What is bad is told where the questions are read.
        yield from (item for item in result if isinstance(item, Document))

    def write(self, testset: TestSet, documents: Sequence[Document] | None, path: Path) -> None:
        if documents is None:
            raise ChunkwiseError("SQuAD includes texts: give the documents with --documents")
        texts = {document.id: document.text for document in documents}
        asked: dict[str, list[object]] = {document.id: [] for document in documents}
        for query in testset.queries:
            home = _home(query, asked)
            if home is not None:
                asked[home].append(_question(query, home, texts[home]))
        data = [
            {"title": id, "paragraphs": [{"context": texts[id], "qas": questions}]}
            for id, questions in asked.items()
        ]
        write_json(path, {"version": "v2.0", "data": data})


def _articles(path: Path) -> list[object]:
    whole = read_json(str(path))
    articles = whole.get("data") if isinstance(whole, dict) else None
    if not isinstance(articles, list):
        raise ChunkwiseError(f"{path} has no list of articles under 'data', as SQuAD has")
    return articles


def _draft(
    where: str, paragraph: SquadParagraph, record: Mapping[str, object], number: int
) -> Draft:
    id = identifier(record, "id") or str(number)
    text = string(record, "question")
    if record.get("is_impossible") is True:
        return Draft(where, Query(id, text, types=(UNANSWERABLE,)))
    places: dict[Passage, str] = {}
    for value in items(record.get("answers"), "answers"):
        answer = record_of(value, "an answer")
        said = string(answer, "text")
        at = offset(answer.get("answer_start"), "answer_start")
        if said:
            start = paragraph.start + _start(paragraph.context, said, at)
            places.setdefault(Passage(paragraph.document, start, start + len(said)), said)
    if not places:
        return Draft(where, Query(id, text))
    answer_text = next(iter(places.values()))
    passages = given_references([[*places]], [answer_text])
    query = Query(id, text, answer=answer_text)
    return Draft(where, query, tuple(passages))


def _start(context: str, said: str, at: int) -> int:
    """Where an answer stands, in characters; some tools count bytes or the units of UTF-16."""
    if context.startswith(said, at):
        return at
    for encoding, width in (("utf-8", 1), ("utf-16-le", 2)):
        data = context.encode(encoding)
        if data.startswith(said.encode(encoding), at * width):
            return len(data[: at * width].decode(encoding, "ignore"))
    times = context.count(said)
    if times != 1:
        raise WrongField(
            f"its answer {said[:60]!r} isn't at {thousands(at)} of its paragraph, "
            f"{'but at several other offsets' if times else 'nor elsewhere'}"
        )
    return context.index(said)


def _home(query: Query, known: Mapping[str, object]) -> str | None:
    """The document a question is written under: that of its first reference."""
    for reference in query.references:
        for place in reference.places:
            if place.doc_id in known:
                return place.doc_id
    return None if query.references else next(iter(known), None)


def _question(query: Query, home: str, text: str) -> dict[str, object]:
    places = [place for reference in query.references for place in reference.places]
    here = [place for place in dict.fromkeys(places) if place.doc_id == home]
    answers = [{"text": text[p.start : p.end], "answer_start": p.start} for p in here]
    return {
        "id": query.id,
        "question": query.text,
        "answers": answers,
        "is_impossible": not answers,
    }
