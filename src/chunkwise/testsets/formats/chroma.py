"""The questions CSV of Chroma's chunking report: a corpus a question, references with their texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from chunkwise.core import Document, Query, Reference, Span
from chunkwise.records.fields import (
    WrongField,
    items,
    offset,
    optional_string,
    record_of,
    string,
)
from chunkwise.records.json import json_problem, parse_json
from chunkwise.records.read import csv_rows, read_text
from chunkwise.records.write import write_csv
from chunkwise.testsets.formats.registry import header, made_of
from chunkwise.testsets.testset import Draft, GivenPassage, TestSet, Unreadable

_COLUMNS = ("question", "references", "corpus_id")


class ChromaFormat:
    """`question,references,corpus_id`; references are JSON in a cell, their ends are exclusive."""

    name: ClassVar[str] = "chroma"
    title: ClassVar[str] = "Chroma's CSV"

    def accepts(self, path: Path, head: bytes) -> bool:
        return {"question", "references", "corpus_id"} <= header(head)

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        yield from made_of(path, csv_rows(read_text(str(path)), str(path)), _draft)

    def write(self, testset: TestSet, documents: Sequence[Document] | None, path: Path) -> None:
        texts = {document.id: document.text for document in documents or ()}
        rows = []
        for query in testset.queries:
            corpus = query.references[0].doc_id if query.references else ""
            references = [
                _reference(reference, texts.get(corpus))
                for reference in query.references
                if reference.doc_id == corpus
            ]
            cells = (query.text, json.dumps(references), corpus)
            rows.append(dict(zip(_COLUMNS, cells, strict=True)))
        write_csv(path, _COLUMNS, rows)


def _draft(where: str, row: Mapping[str, object], id: str) -> Draft:
    text = string(row, "question")
    corpus = (optional_string(row, "corpus_id") or "").strip()
    try:
        listed = parse_json(string(row, "references") or "[]")
    except WrongField:
        raise
    except (ValueError, RecursionError) as error:
        raise WrongField(f"its references aren't JSON: {json_problem(error)}") from None
    passages: list[GivenPassage] = []
    for number, value in enumerate(items(listed, "references"), 1):
        name = f"reference {number}"
        record = record_of(value, "a reference")
        content = optional_string(record, "content")
        if record.get("start_index") is None:
            content = string(record, "content")
            passages.append(GivenPassage("reference", name, corpus, text=content))
            continue
        start = offset(record["start_index"], "start_index")
        end = offset(record.get("end_index"), "end_index")
        passages.append(GivenPassage("reference", name, corpus, Span(start, end), content or ""))
    return Draft(where, Query(id, text), tuple(passages))


def _reference(reference: Reference, text: str | None) -> dict[str, object]:
    start, end = reference.start, reference.end
    return {"content": (text or "")[start:end], "start_index": start, "end_index": end}
