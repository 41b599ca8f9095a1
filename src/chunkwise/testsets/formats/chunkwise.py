"""Our own form: a JSON list with one question an entry. All but `query` may be left out.

    {"query_id": "a1", "query": "Who approves leave?", "answer": "The head of the station.",
     "references": [{"doc_id": "leave.md", "start": 120, "end": 171, "text": "Leave is approved by …",
                     "alternatives": [{"doc_id": "hours.md", "start": 40, "end": 91, "text": "…"}]}],
     "facts": [{"fact": "the head of the station", "aliases": ["the station's head"]}],
     "types": ["single-concept"], "split": "test",
     "labels": [{"doc_id": "leave.md", "start": 0, "end": 400, "relevant": 1, "text": "…"}]}

Offsets are half-open and count Unicode code points. `text` is what stood there when the file was written: by it a
place is found again after the document has changed. Read are JSON lines and an object with a list under "queries",
too; and what is quicker to write: {"query", "relevant_text"} with a passage or several, to be found in the documents,
and {"query", "answer", "expected": ["fact", ["fact", "alias"]]}.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from chunkwise.core import Document, Label, Passage, Query, Reference
from chunkwise.records.encoding import marked_encoding
from chunkwise.records.read import BrokenList, looks_like_json, shown_name
from chunkwise.records.write import write_json
from chunkwise.testsets.question_record import draft_of, question_rows
from chunkwise.testsets.testset import Draft, Quote, TestSet, Unreadable

_SUFFIXES = (".json", ".jsonl", ".ndjson")


class ChunkwiseFormat:
    """Questions with places in documents, and the short forms people write by hand."""

    name: ClassVar[str] = "chunkwise"
    about: ClassVar[str] = "our own: a JSON list of questions with places in documents"

    def accepts(self, path: Path, head: bytes) -> bool:
        if looks_like_json(head):
            return True
        is_ours = path.suffix.lower() in _SUFFIXES and not path.is_dir()
        return is_ours and (not head.strip() or marked_encoding(head) is not None)

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        return read_drafts(str(path))

    def write(
        self, testset: TestSet, documents: Sequence[Document] | None, path: Path
    ) -> list[str]:
        texts = {document.id: document.text for document in documents or ()}
        rows = []
        for query in testset.queries:
            row = _row(query, texts)
            if query.id in testset.unplaced:
                _add_texts(row, testset.unplaced[query.id])
            rows.append(row)
        write_json(path, rows, indent=2)
        return []


def read_drafts(name: str, *, plain: bool = False) -> Iterator[Draft | Unreadable]:
    """The questions of a file, `-` for standard input; what cannot be read stands among them with its reason."""
    shown = shown_name(name)
    try:
        for row in question_rows(name, plain=plain):
            where = f"{shown}, {row.where}"
            if row.problem:
                yield Unreadable(where, row.problem)
            else:
                yield draft_of(row.value, row.number, where)
    except BrokenList as error:
        yield Unreadable(shown, str(error).removeprefix(f"{shown} "))


def _row(query: Query, texts: Mapping[str, str]) -> dict[str, object]:
    """What is known of a question; what is not is left out."""
    row: dict[str, object] = {"query_id": query.id, "query": query.text}
    if query.answer is not None:
        row["answer"] = query.answer
    if query.references:
        row["references"] = [_reference(each, texts) for each in query.references]
    if query.facts:
        row["facts"] = [
            {"fact": fact.text, **({"aliases": list(fact.aliases)} if fact.aliases else {})}
            for fact in query.facts
        ]
    if query.types:
        row["types"] = list(query.types)
    if query.labels:
        row["labels"] = [_label(each, texts) for each in query.labels]
    if query.split:
        row["split"] = query.split
    return row


def _reference(reference: Reference, texts: Mapping[str, str]) -> dict[str, object]:
    place, *others = (_place(each, texts) for each in reference.places)
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
    return {**place, "relevant": int(label.relevant), **text}


def _add_texts(row: dict[str, object], draft: Draft) -> None:
    """What the file said of a question whose documents are not known: passages, and what stands at places."""
    references, labels = row.get("references"), row.get("labels")
    if isinstance(references, list):
        _say(references, draft.texts)
        for reference, texts in zip(references, draft.alternative_texts, strict=False):
            _say(reference.get("alternatives", []), texts)
    if isinstance(labels, list):
        _say(labels, draft.label_texts)
    if draft.labelled_quotes:
        judged = [
            {**_quoted(quote), "relevant": int(relevant)}
            for quote, relevant in draft.labelled_quotes
        ]
        row["labels"] = [*(labels if isinstance(labels, list) else []), *judged]
    if draft.quotes:
        given = [quote.text if not quote.document else _quoted(quote) for quote in draft.quotes]
        row["relevant_text"] = given[0] if len(given) == 1 else given


def _say(places: list[dict[str, object]], texts: Sequence[str]) -> None:
    for place, text in zip(places, texts, strict=False):
        if text:
            place["text"] = text


def _quoted(quote: Quote) -> dict[str, object]:
    return {"text": quote.text, **({"doc_id": quote.document} if quote.document else {})}
